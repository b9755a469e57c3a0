// Functions of kernel_periodic.h: periodic kernel: variance * exp(-2 sum_c sin^2(pi (x_c - y_c) / p_c) / l_c^2).
#include "kernels/kernel_periodic.h"

#include <algorithm>
#include <cmath>

namespace gpb {

Periodic::Periodic(Scaling scaling, VectorXd period, bool one_period, double variance)
    : scaling_(std::move(scaling)), period_(std::move(period)), one_period_(one_period),
      variance_(variance) {
  if (period_.size() != scaling_.size()) {
    throw_invalid("a periodic kernel needs one period for each of its inputs");
  }
  for (Index c = 0; c < period_.size(); ++c) check_positive(period_[c], "period");
  check_positive(variance, "variance");
}

// pi (x_c - y_c) / p_c.
void Periodic::angle(Index c, const VectorXd& x, const Points& Y, Index start, ArrayRef out) const {
  const Index column = scaling_.dims[c];
  out = (x[column] - Y.col(column).segment(start, out.size()).array()) * (kPi / period_[c]);
}

void Periodic::correlation(const VectorXd& x, const Points& Y, Index start, ArrayRef out) const {
  out.setZero();
  Block u(out.size());
  for (Index c = 0; c < scaling_.size(); ++c) {
    angle(c, x, Y, start, u);
    out += (u.sin() / scaling_.lengthscale[c]).square();
  }
  out = (-2.0 * out).exp();
}

void Periodic::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    const Index count = std::min(kBlock, Y.rows() - start);
    Eigen::Map<Eigen::ArrayXd> block(out.data() + start, count);
    correlation(x, Y, start, block);
    block *= variance_;
  }
}

void Periodic::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

// dk/dx_c = -k 2 pi sin(2 u_c) / (p_c l_c^2), u_c the angle.
void Periodic::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    Block k(std::min(kBlock, Y.rows() - start));
    correlation(x, Y, start, k);
    k *= variance_;
    Block u(k.size());
    for (Index c = 0; c < scaling_.size(); ++c) {
      angle(c, x, Y, start, u);
      const double factor = -2.0 * kPi / (period_[c] * std::pow(scaling_.lengthscale[c], 2));
      out.col(scaling_.dims[c]).segment(start, k.size()).array() = factor * k * (2.0 * u).sin();
    }
  }
}

Index Periodic::parameter_count() const {
  return period_count() + scaling_.parameter_count() + 1;
}

VectorXd Periodic::log_parameters() const {
  return joined(joined(log_shared(period_, one_period_), scaling_.log_parameters()), std::log(variance_));
}

void Periodic::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  period_ = exp_shared(segment_of(theta, 0, period_count()), scaling_.size());
  scaling_.set_log_parameters(segment_of(theta, period_count(), scaling_.parameter_count()));
  variance_ = exp_parameter(theta[theta.size() - 1]);
}

VectorXd Periodic::parameter_gradient(const Points& X, const MatrixXd& W) const {
  return sum_over_pairs(X, W, parameter_count(), variance_,
                        [&](const VectorXd& x, Index start, const Block& weight, VectorXd& sums) {
                          add_gradient(x, X, start, weight, sums);
                        });
}

// d log k / d log p_c = 2 u_c sin(2 u_c) / l_c^2, d log k / d log l_c = 4 sin^2(u_c) / l_c^2.
void Periodic::add_gradient(const VectorXd& x, const Points& Y, Index start, Block weight,
                            VectorXd& gradient) const {
  Block u(weight.size());
  correlation(x, Y, start, u);
  weight *= u;
  gradient[gradient.size() - 1] += weight.sum();
  for (Index c = 0; c < scaling_.size(); ++c) {
    angle(c, x, Y, start, u);
    const double precision = 1.0 / std::pow(scaling_.lengthscale[c], 2);
    const Index period = one_period_ ? 0 : c;
    const Index lengthscale = period_count() + (scaling_.isotropic ? 0 : c);
    gradient[period] += 2.0 * precision * (weight * u * (2.0 * u).sin()).sum();
    gradient[lengthscale] += 4.0 * precision * (weight * u.sin().square()).sum();
  }
}

// exp(-2 sin^2(u) / l^2) = exp(a cos(2u) - a), a = 1 / l^2: a Fourier series in each input.
void Periodic::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  for (Index c = 0; c < scaling_.size(); ++c) {
    const double harmonic = draw_harmonic(rng, 1.0 / std::pow(scaling_.lengthscale[c], 2));
    feature.frequency[scaling_.dims[c]] += 2.0 * kPi * harmonic / period_[c];
  }
}

std::unique_ptr<Kernel> Periodic::clone() const { return std::make_unique<Periodic>(*this); }

}  // namespace gpb
