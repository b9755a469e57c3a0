// Functions of latent_evidence.h: Laplace's log marginal likelihood for rewards with a likelihood, and its gradient.
// Uses linalg/ and likelihoods/.
#include "fitting/latent_evidence.h"

#include "linalg/products.h"

namespace gpb {

LatentEvidence::LatentEvidence(const Kernel& kernel, LatentMeasurements measurements, LikelihoodPtr likelihood,
                               bool fit_mean)
    : kernel_(kernel.clone()), measurements_(std::move(measurements)), likelihood_(std::move(likelihood)),
      fit_mean_(fit_mean) {
  constant_ = VectorXd::Ones(size());
  for (Index i = 0; i < size(); ++i) {
    if (measurements_.other[static_cast<std::size_t>(i)] >= 0) constant_[i] = 0.0;
  }
}

// H A, for functionals H f.
MatrixXd LatentEvidence::differences(MatrixXd by_point) const {
  MatrixXd out(size(), by_point.cols());
  for (Index i = 0; i < size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    copy_row(out, i, by_point, measurements_.point[k]);
    for (Index c = 0; measurements_.other[k] >= 0 && c < out.cols(); ++c) out(i, c) -= by_point(measurements_.other[k],
                                                                                                c);
  }
  return out;
}

// H'M H.
MatrixXd LatentEvidence::by_points(const MatrixXd& M) const {
  MatrixXd out = MatrixXd::Zero(measurements_.X.rows(), measurements_.X.rows());
  for (Index j = 0; j < size(); ++j) {
    const auto b = static_cast<std::size_t>(j);
    for (Index i = 0; i < size(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const Index from = measurements_.other[a], less = measurements_.other[b];
      out(measurements_.point[a], measurements_.point[b]) += M(i, j);
      if (from >= 0) out(from, measurements_.point[b]) -= M(i, j);
      if (less >= 0) out(measurements_.point[a], less) -= M(i, j);
      if (from >= 0 && less >= 0) out(from, less) += M(i, j);
    }
  }
  return out;
}

// Let R = (K + W^-1)^-1, v the functionals' posterior variances, and s = -sum_j v_j dW_j/df / 2. The mode changes log
// det, which enters by w = (I + W K)^-1 s. The gradient is
//   by the kernel: sum_ij M_ij dK_ij, M = (alpha alpha' - R + w alpha' + alpha w') / 2;
//   by a mean: (alpha + w)'dm;
//   by the likelihood's parameters: sum dl - v'dW / 2 + (K w)'dl'.
void LatentEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  gradient_ = VectorXd::Zero(parameters.size());
  if (size() == 0) return;  // only comparisons of points with themselves
  const Index kernels = kernel_->parameter_count(), means = fit_mean_ ? 1 : 0;
  const Index own = likelihood_->parameters().size();
  kernel_->set_log_parameters(segment_of(parameters, 0, kernels));
  const LikelihoodPtr likelihood =
      own > 0 ? likelihood_->with(segment_of(parameters, kernels + means, own)) : likelihood_;
  VectorXd mean = measurements_.mean;
  if (fit_mean_) mean = parameters[kernels] * constant_;
  const MatrixXd gram = differences(differences(kernel_->gram(measurements_.X)).transpose());
  SiteSystem system({mean, MatrixXd(), gram, VectorXd()});
  std::unique_ptr<SiteTerms> terms;
  if (likelihood->ranks()) terms = std::make_unique<RankingTerms>(measurements_.rankings);
  else terms = std::make_unique<PooledTerms>(*likelihood, measurements_.data);
  const SiteFit fit = fit_sites(system, *terms);
  value_ = fit.log_evidence;
  if (!want_gradient) return;
  const VectorXd v = system.variances();
  const VectorXd s = -0.5 * terms->weight_slope(fit.f, v);
  MatrixXd M = system.precision();
  const VectorXd w = s - multiply(M, multiply(gram, s));
  for (Index j = 0; j < size(); ++j) {
    for (Index i = 0; i < size(); ++i) {
      M(i, j) = 0.5 * (fit.alpha[j] * (fit.alpha[i] + w[i]) + w[j] * fit.alpha[i] - M(i, j));
    }
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(measurements_.X, by_points(M));
  if (fit_mean_) gradient_[kernels] = (fit.alpha + w).dot(constant_);
  if (own == 0) return;
  const VectorXd moved = multiply(gram, w);
  for (Index i = 0; i < size(); ++i) {
    const MatrixXd slopes = likelihood->parameter_slopes(fit.f[i], measurements_.data[static_cast<std::size_t>(i)]);
    for (Index p = 0; p < own; ++p) {
      gradient_[kernels + means + p] += slopes(0, p) + moved[i] * slopes(1, p) - 0.5 * v[i] * slopes(2, p);
    }
  }
}

}  // namespace gpb
