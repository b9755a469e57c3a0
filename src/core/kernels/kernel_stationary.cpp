// Functions of kernel_stationary.h: kernels of the scaled distance: variance * rho(s), s = sum_c ((x_c - y_c) / l_c)^2.
#include "kernels/kernel_stationary.h"

#include "linalg/elementwise.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// Every correlation is 0 beyond this distance, whose square is still finite.
constexpr double kFarthest = 1e300;

}  // namespace

StationaryKernel::StationaryKernel(Scaling scaling, double variance)
    : scaling_(std::move(scaling)), variance_(variance) {
  check_positive(variance, "variance");
}

// Some columns of a point and of a block of points. (Distances are sums of squares of differences: ||x||^2 + ||y||^2 -
// 2x'y would cancel.)
struct StationaryKernel::Columns {
  static constexpr Index kMost = 16;
  const double* y[kMost];
  double x[kMost], inverse[kMost];
  Index count;

  Columns(const Scaling& scaling, Index first, const VectorXd& at, const Points& Y, Index start)
      : count(std::min(kMost, scaling.size() - first)) {
    for (Index c = 0; c < count; ++c) {
      const Index column = scaling.dims[static_cast<std::size_t>(first + c)];
      y[c] = Y.data() + column * Y.rows() + start;
      x[c] = at[column];
      inverse[c] = 1.0 / scaling.lengthscale[first + c];
    }
  }
};

void StationaryKernel::squared_distance(const VectorXd& x, const Points& Y, Index start, ArrayRef s) const {
  s.setZero();
  for (Index first = 0; first < scaling_.size(); first += Columns::kMost) {
    const Columns some(scaling_, first, x, Y, start);
    add_squared_distances(some.y, some.x, some.inverse, some.count, kFarthest, s.size(), s.data());
  }
}

void StationaryKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    const Index count = std::min(kBlock, Y.rows() - start);
    Eigen::Map<Eigen::ArrayXd> s(out.data() + start, count);
    squared_distance(x, Y, start, s);
    correlation(s);
    s *= variance_;
  }
}

void StationaryKernel::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

// dk/dx_c = variance rho'(s) 2 (x_c - y_c) / l_c^2.
void StationaryKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    Block s(std::min(kBlock, Y.rows() - start));
    squared_distance(x, Y, start, s);
    slope(s);
    s *= 2.0 * variance_;
    for (Index c = 0; c < scaling_.size(); ++c) {
      const Index column = scaling_.dims[c];
      const double l = scaling_.lengthscale[c];
      out.col(column).segment(start, s.size()).array() =
          s * ((x[column] - Y.col(column).segment(start, s.size()).array()) / l) / l;
    }
  }
}

Index StationaryKernel::parameter_count() const {
  return shape_.size() + scaling_.parameter_count() + 1;
}

VectorXd StationaryKernel::log_parameters() const {
  return joined(joined(logarithms(shape_), scaling_.log_parameters()), std::log(variance_));
}

void StationaryKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  if (shape_.size()) shape_[0] = exp_parameter(theta[0]);
  scaling_.set_log_parameters(segment_of(theta, shape_.size(), scaling_.parameter_count()));
  variance_ = exp_parameter(theta[theta.size() - 1]);
}

VectorXd StationaryKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  return sum_over_pairs(X, W, parameter_count(), variance_,
                        [&](const VectorXd& x, Index start, const Block& weight, VectorXd& sums) {
                          add_gradient(x, X, start, weight, sums);
                        });
}

// With z_c = (x_c - y_c) / l_c: d rho / d log l_c = -2 rho'(s) z_c^2.
void StationaryKernel::add_gradient(const VectorXd& x, const Points& Y, Index start,
                                    const Block& weight, VectorXd& gradient) const {
  Block s(weight.size());
  squared_distance(x, Y, start, s);
  Block rho = s, t(s.size());
  correlation_and_slope(rho, t);
  gradient[gradient.size() - 1] += (weight * rho).sum();
  t *= -2.0 * weight;
  if (shape_.size()) {
    rho = s;
    shape_slope(rho);
    gradient[0] += (weight * rho).sum();
  }
  const Index first = shape_.size();
  if (scaling_.isotropic) {
    gradient[first] += (t * s).sum();
    return;
  }
  for (Index c = 0; c < scaling_.size(); c += Columns::kMost) {
    const Columns some(scaling_, c, x, Y, start);
    add_weighted_squares(some.y, some.x, some.inverse, some.count, t.data(), t.size(), gradient.data() + first + c);
  }
}

void StationaryKernel::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  slope_out = rho;
  slope(slope_out);
  correlation(rho);
}

void StationaryKernel::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  const double scale = draw_scale(rng);
  for (Index c = 0; c < scaling_.size(); ++c) {
    feature.frequency[scaling_.dims[c]] += scale * rng.normal() / scaling_.lengthscale[c];
  }
}

std::unique_ptr<Kernel> SquaredExponential::clone() const {
  return std::make_unique<SquaredExponential>(*this);
}

void SquaredExponential::correlation(ArrayRef s) const { gaussian_correlations(s.size(), s.data()); }

void SquaredExponential::slope(ArrayRef s) const {
  correlation(s);
  s *= -0.5;
}

void SquaredExponential::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  correlation(rho);
  slope_out = -0.5 * rho;
}

RationalQuadratic::RationalQuadratic(Scaling scaling, double variance, double alpha)
    : StationaryKernel(std::move(scaling), variance) {
  check_positive(alpha, "alpha");
  shape_ = VectorXd::Constant(1, alpha);
}

std::unique_ptr<Kernel> RationalQuadratic::clone() const {
  return std::make_unique<RationalQuadratic>(*this);
}

void RationalQuadratic::correlation(ArrayRef s) const {
  const double alpha = shape_[0];
  s = (-alpha * (s / (2.0 * alpha)).log1p()).exp();
}

void RationalQuadratic::slope(ArrayRef s) const {
  const double alpha = shape_[0];
  s = -0.5 * (-(alpha + 1.0) * (s / (2.0 * alpha)).log1p()).exp();
}

// With u = s / (2 alpha): alpha d rho / d alpha = alpha rho (u / (1 + u) - log(1 + u)).
void RationalQuadratic::shape_slope(ArrayRef s) const {
  const double alpha = shape_[0];
  for (Index j = 0; j < s.size(); ++j) {
    const double u = s[j] / (2.0 * alpha);
    const double log_base = std::log1p(u);
    s[j] = alpha * std::exp(-alpha * log_base) * (u / (1.0 + u) - log_base);
  }
}

// A mixture of squared exponentials whose precision is gamma with mean 1.
double RationalQuadratic::draw_scale(Rng& rng) const {
  return std::sqrt(draw_gamma(rng, shape_[0]) / shape_[0]);
}

Matern::Matern(Scaling scaling, double variance, double nu, BesselK bessel_k)
    : StationaryKernel(std::move(scaling), variance), nu_(nu), bessel_k_(bessel_k) {
  check_positive(nu, "nu");
}

std::unique_ptr<Kernel> Matern::clone() const { return std::make_unique<Matern>(*this); }

// 2 nu, if it is one of the orders without Bessel functions; otherwise 0.
int Matern::order() const { return nu_ == 0.5 || nu_ == 1.5 || nu_ == 2.5 ? static_cast<int>(2.0 * nu_) : 0; }

void Matern::correlation(ArrayRef s) const {
  if (order() > 0) return matern_correlations(order(), s.size(), s.data(), nullptr);
  s = std::sqrt(2.0) * std::sqrt(nu_) * s.sqrt();
  for (Index j = 0; j < s.size(); ++j) s[j] = bessel_correlation(nu_, s[j], bessel_k_);
}

// d rho / ds = (nu / r) d rho / dr.
void Matern::slope(ArrayRef s) const {
  if (order() > 0) {
    Block rho = s;
    return matern_correlations(order(), s.size(), rho.data(), s.data());
  }
  s = std::sqrt(2.0) * std::sqrt(nu_) * s.sqrt();
  for (Index j = 0; j < s.size(); ++j) s[j] = nu_ * bessel_slope(nu_, s[j], bessel_k_);
}

void Matern::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  if (order() > 0) matern_correlations(order(), rho.size(), rho.data(), slope_out.data());
  else StationaryKernel::correlation_and_slope(rho, slope_out);
}

// A multivariate t with 2 nu degrees of freedom.
double Matern::draw_scale(Rng& rng) const { return std::sqrt(nu_ / draw_gamma(rng, nu_)); }

}  // namespace gpb
