#include "fitting/latent_evidence.h"

#include "linalg/products.h"

namespace gpb {

LatentEvidence::LatentEvidence(const Kernel& kernel, LatentReadings readings, LikelihoodPtr likelihood, bool fit_mean)
    : kernel_(kernel.clone()), readings_(std::move(readings)), likelihood_(std::move(likelihood)), fit_mean_(fit_mean) {
  constant_ = VectorXd::Ones(size());
  for (Index i = 0; i < size(); ++i) {
    if (readings_.other[static_cast<std::size_t>(i)] >= 0) constant_[i] = 0.0;
  }
}

// H A, where the functionals are H f.
MatrixXd LatentEvidence::differences(MatrixXd by_place) const {
  MatrixXd out(size(), by_place.cols());
  for (Index i = 0; i < size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    out.row(i) = by_place.row(readings_.place[k]);
    if (readings_.other[k] >= 0) out.row(i) -= by_place.row(readings_.other[k]);
  }
  return out;
}

// H'M H.
MatrixXd LatentEvidence::by_places(const MatrixXd& M) const {
  MatrixXd out = MatrixXd::Zero(readings_.X.rows(), readings_.X.rows());
  for (Index j = 0; j < size(); ++j) {
    const auto b = static_cast<std::size_t>(j);
    for (Index i = 0; i < size(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const Index from = readings_.other[a], less = readings_.other[b];
      out(readings_.place[a], readings_.place[b]) += M(i, j);
      if (from >= 0) out(from, readings_.place[b]) -= M(i, j);
      if (less >= 0) out(readings_.place[a], less) -= M(i, j);
      if (from >= 0 && less >= 0) out(from, less) += M(i, j);
    }
  }
  return out;
}

// With R = (K + W^-1)^-1, v the functionals' posterior variances, s = -sum_j v_j dW_j/df / 2 and w = (I + W K)^-1 s,
// by which the mode moves log det: dlog Z = sum_ij M_ij dK_ij, M = (alpha alpha' - R + w alpha' + alpha w') / 2;
// by a mean (alpha + w)'dm; by the likelihood's own sum dl - v'dW / 2 + (K w)'dl'.
void LatentEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  gradient_ = VectorXd::Zero(parameters.size());
  if (size() == 0) return;  // what was compared with itself says nothing
  const Index kernels = kernel_->parameter_count(), means = fit_mean_ ? 1 : 0;
  const Index own = likelihood_->parameters().size();
  kernel_->set_log_parameters(parameters.head(kernels));
  const LikelihoodPtr likelihood =
      own > 0 ? likelihood_->with(parameters.segment(kernels + means, own)) : likelihood_;
  VectorXd mean = readings_.mean;
  if (fit_mean_) mean = parameters[kernels] * constant_;
  const MatrixXd gram = differences(differences(kernel_->gram(readings_.X)).transpose());
  SiteSystem system({mean, MatrixXd(), gram});
  std::unique_ptr<SiteTerms> terms;
  if (likelihood->ranks()) terms = std::make_unique<RankingTerms>(readings_.rankings);
  else terms = std::make_unique<PooledTerms>(*likelihood, readings_.data);
  const SiteFit fit = fit_sites(system, *terms);
  value_ = fit.log_evidence;
  if (!want_gradient) return;
  const VectorXd v = system.variances();
  const VectorXd s = -0.5 * terms->weight_slope(fit.f, v);
  MatrixXd M = system.precision();
  const VectorXd w = s - multiply(M, multiply(gram, s));
  for (Index j = 0; j < size(); ++j) {
    M.col(j) = 0.5 * (fit.alpha[j] * (fit.alpha + w) + w[j] * fit.alpha - M.col(j));
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(readings_.X, by_places(M));
  if (fit_mean_) gradient_[kernels] = (fit.alpha + w).dot(constant_);
  if (own == 0) return;
  const VectorXd moved = multiply(gram, w);
  for (Index i = 0; i < size(); ++i) {
    const MatrixXd slopes = likelihood->parameter_slopes(fit.f[i], readings_.data[static_cast<std::size_t>(i)]);
    gradient_.segment(kernels + means, own) +=
        (slopes.row(0) + moved[i] * slopes.row(1) - 0.5 * v[i] * slopes.row(2)).transpose();
  }
}

}  // namespace gpb
