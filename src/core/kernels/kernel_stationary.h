// Kernels of the scaled distance: variance * rho(s), s = sum_c ((x_c - y_c) / l_c)^2. Uses kernels/ and linalg/.
#ifndef GPB_KERNEL_STATIONARY_H
#define GPB_KERNEL_STATIONARY_H

#include "kernels/bessel_correlation.h"
#include "kernels/kernel.h"
#include "kernels/kernel_scaling.h"

namespace gpb {

// Parameters, as logarithms: shape (if there is one), lengthscale(s), variance.
class StationaryKernel : public Kernel {
 public:
  StationaryKernel(Scaling scaling, double variance);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override;
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  const Scaling& scaling() const { return scaling_; }

 protected:
  // Each function overwrites the squared scaled distances s with a function of them.
  virtual void correlation(ArrayRef s) const = 0;           // rho(s)
  virtual void slope(ArrayRef s) const = 0;                 // rho'(s); 0 if it does not exist
  // Both at once: `rho` holds s at first and rho(s) at the end; `slope_out` becomes rho'(s).
  virtual void correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const;
  virtual void shape_slope(ArrayRef s) const { s.setZero(); }  // d rho / d log(shape)
  // Frequencies of the spectral density are draw_scale() * normal / lengthscale.
  virtual double draw_scale(Rng&) const { return 1.0; }

  Scaling scaling_;
  double variance_;
  VectorXd shape_;  // none or one

 private:
  struct Columns;
  void squared_distance(const VectorXd& x, const Points& Y, Index start, ArrayRef s) const;
  void add_gradient(const VectorXd& x, const Points& Y, Index start, const Block& weight,
                    VectorXd& gradient) const;
};

// rho = exp(-s / 2).
class SquaredExponential final : public StationaryKernel {
 public:
  using StationaryKernel::StationaryKernel;
  std::unique_ptr<Kernel> clone() const override;

 protected:
  void correlation(ArrayRef s) const override;
  void slope(ArrayRef s) const override;
  void correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const override;
};

// rho = (1 + s / (2 alpha))^-alpha; the shape is alpha.
class RationalQuadratic final : public StationaryKernel {
 public:
  RationalQuadratic(Scaling scaling, double variance, double alpha);
  std::unique_ptr<Kernel> clone() const override;

 protected:
  void correlation(ArrayRef s) const override;
  void slope(ArrayRef s) const override;
  void shape_slope(ArrayRef s) const override;
  double draw_scale(Rng& rng) const override;
};

// rho = 2^(1-nu) / Gamma(nu) r^nu K_nu(r), r = sqrt(2 nu s); nu is fixed.
class Matern final : public StationaryKernel {
 public:
  Matern(Scaling scaling, double variance, double nu, BesselK bessel_k);
  std::unique_ptr<Kernel> clone() const override;

 protected:
  void correlation(ArrayRef s) const override;
  void slope(ArrayRef s) const override;
  void correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const override;
  double draw_scale(Rng& rng) const override;

 private:
  int order() const;

  double nu_;
  BesselK bessel_k_;
};

}  // namespace gpb

#endif
