// Only tests call what is exported here.
#include <RcppEigen.h>

#include <cmath>

namespace {

using Extended = long double;
using Matrix = Eigen::Matrix<Extended, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Extended, Eigen::Dynamic, 1>;

// One input, variance 1.
Extended kernel_of(const std::string& name, Extended lengthscale, double x, double y) {
  const Extended s = (static_cast<Extended>(x) - y) / lengthscale;
  if (name == "se") return std::exp(-s * s / 2);
  if (name == "linear") return static_cast<Extended>(x) * y;
  const Extended r = std::sqrt(static_cast<Extended>(5)) * std::abs(s);
  return (1 + r + r * r / 3) * std::exp(-r);
}

Matrix gram(const std::string& name, double lengthscale, const Eigen::VectorXd& x,
            const Eigen::VectorXd& y) {
  Matrix out(x.size(), y.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    for (Eigen::Index j = 0; j < y.size(); ++j) {
      out(i, j) = kernel_of(name, lengthscale, x[i], y[j]);
    }
  }
  return out;
}

}  // namespace

// Digits of the extended precision: 64 bits on x86, where tests can use what follows.
// [[Rcpp::export(rng = false)]]
int cpp_testing_digits() { return std::numeric_limits<Extended>::digits; }

// Posterior mean and sd at `at` by the textbook formula in extended precision: kernel "se",
// "matern52" or "linear"; noise: one variance per observation. `correlation` multiplies the
// covariance among the observations, `present` theirs with `at`.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_posterior(const std::string& kernel, double lengthscale,
                                 const Eigen::VectorXd& x, const Eigen::VectorXd& y,
                                 const Eigen::VectorXd& noise, const Eigen::VectorXd& at,
                                 const Eigen::MatrixXd& correlation,
                                 const Eigen::VectorXd& present) {
  Matrix K = gram(kernel, lengthscale, x, x).cwiseProduct(correlation.cast<Extended>());
  K.diagonal() += noise.cast<Extended>();
  const Eigen::LLT<Matrix> factor(K);
  if (factor.info() != Eigen::Success) throw std::runtime_error("not positive definite");
  const Matrix cross = present.cast<Extended>().asDiagonal() * gram(kernel, lengthscale, x, at);
  const Matrix half = factor.matrixL().solve(cross);
  const Vector white = factor.matrixL().solve(y.cast<Extended>());
  const Vector mean = half.transpose() * white;
  Vector sd(at.size());
  for (Eigen::Index j = 0; j < at.size(); ++j) {
    const Extended left = kernel_of(kernel, lengthscale, at[j], at[j]) - half.col(j).squaredNorm();
    sd[j] = std::sqrt(std::max<Extended>(left, 0));
  }
  return Rcpp::List::create(Rcpp::Named("mean") = mean.cast<double>().eval(),
                            Rcpp::Named("sd") = sd.cast<double>().eval());
}
