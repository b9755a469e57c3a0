// Covariance functions, independent of arms, policies and noise. Uses base/ and kernels/random_features.h.
#ifndef GPB_KERNEL_H
#define GPB_KERNEL_H

#include "kernels/random_features.h"

namespace gpb {

class Kernel {
 public:
  virtual ~Kernel() = default;

  // out[j] = k(x, Y_j) for every row j of Y. The function that is called most; vectorised over j.
  virtual void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const = 0;

  // out[j] = k(X_j, X_j).
  virtual void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const = 0;

  // out(j, c) = d k(x, Y_j) / d x_c, an (rows of Y) x (length of x) matrix.
  virtual void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const = 0;

  // Hyperparameters, as logarithms, in the order of the parameter names in R.
  virtual Index parameter_count() const = 0;
  virtual VectorXd log_parameters() const = 0;
  virtual void set_log_parameters(const VectorXd& theta) = 0;

  // g[p] = sum_ij W_ij dK_ij / d theta_p over the Gram matrix of X (W symmetric).
  virtual VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const = 0;

  // Multiplies `feature` by a random feature of this kernel.
  virtual void draw_feature(Rng& rng, Feature& feature) const = 0;

  // An approximate draw of a function from GP(0, k). Its covariance is k on average over the draws, and nearly k in
  // each draw if there are many features.
  virtual PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const;

  virtual std::unique_ptr<Kernel> clone() const = 0;

  // Gradient of x -> k(x, x): by symmetry twice the one in the first argument.
  VectorXd diagonal_gradient(const VectorXd& x) const;

  double value(const VectorXd& x, const VectorXd& y) const;
  MatrixXd gram(const Points& X, const Points& Y) const;
  MatrixXd gram(const Points& X) const;  // exactly symmetric
};

using KernelPtr = std::shared_ptr<Kernel>;

}  // namespace gpb

#endif
