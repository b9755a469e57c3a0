// Functions of chart.h: charts: the map between the coordinates of a search and the kernel's inputs. Uses base/.
#include "spaces/chart.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- boxes and products -------------------------------------------------------------------------

VectorXd Box::snap(VectorXd x) const {
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (integer[k]) x[c] = logarithmic[k] ? std::log(std::round(std::exp(x[c]))) : std::round(x[c]);
    x[c] = std::min(std::max(x[c], lower[c]), upper[c]);
  }
  return x;
}

double Box::quantile(Index input, double u) const {
  const auto k = static_cast<std::size_t>(input);
  const double low = lower[input], high = upper[input];
  if (!integer[k] || !moves(input)) return low + u * (high - low);
  if (!logarithmic[k]) return std::min(std::floor(low + u * (high - low + 1.0)), high);
  const double first = std::round(std::exp(low)), last = std::round(std::exp(high));
  return std::min(std::max(std::log(std::floor(first * std::pow((last + 1.0) / first, u))), low), high);
}

VectorXd Box::uniform(Rng& rng) const {
  VectorXd x(inputs());
  for (Index c = 0; c < inputs(); ++c) x[c] = quantile(c, rng.uniform());
  return x;
}

MatrixXd Box::points(double most) const {
  std::vector<std::vector<double>> values;
  double count = 1.0;
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    const auto bound = [&](double at) { return logarithmic[k] ? std::round(std::exp(at)) : at; };
    if (moves(c) && (!integer[k] || bound(upper[c]) - bound(lower[c]) >= most)) return MatrixXd(0, inputs());
    values.emplace_back();
    for (double at = bound(lower[c]); at <= bound(upper[c]); ++at) {
      values.back().push_back(logarithmic[k] ? std::log(at) : at);
    }
    if (!moves(c)) values.back() = {lower[c]};
    count *= static_cast<double>(values.back().size());
    if (count > most) return MatrixXd(0, inputs());
  }
  MatrixXd out(static_cast<Index>(count), inputs());
  Index each = 1;
  for (Index c = 0; c < inputs(); ++c) {
    const std::vector<double>& of_input = values[static_cast<std::size_t>(c)];
    const auto size = static_cast<Index>(of_input.size());
    for (Index i = 0; i < out.rows(); ++i) out(i, c) = of_input[static_cast<std::size_t>(i / each % size)];
    each *= size;
  }
  return out;
}

Box Box::slice(const Fixed& fixed, Index first) const {
  Box out = *this;
  for (std::size_t k = 0; k < fixed.at.size(); ++k) {
    const Index c = fixed.at[k] - first;
    if (c < 0 || c >= inputs()) throw_invalid("an input cannot be fixed here");
    out.lower[c] = out.upper[c] = fixed.values[static_cast<Index>(k)];
  }
  return out;
}

// ---- charts -----------------------------------------------------------------

Chart::Chart(Box box) : box_(std::move(box)) {
  for (Index c = 0; c < box_.inputs(); ++c) {
    if (box_.moves(c)) moving_.push_back(c);
  }
}

VectorXd Chart::inputs(const VectorXd& u) const {
  VectorXd x = box_.lower;
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    x[c] = box_.lower[c] + u[static_cast<Index>(k)] * (box_.upper[c] - box_.lower[c]);
  }
  return x;
}

VectorXd Chart::quantiles(const VectorXd& u) const {
  VectorXd x = box_.lower;
  for (std::size_t k = 0; k < moving_.size(); ++k) x[moving_[k]] = box_.quantile(moving_[k], u[static_cast<Index>(k)]);
  return x;
}

VectorXd Chart::coordinates_of(const VectorXd& x) const {
  VectorXd u(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    const double share = (x[c] - box_.lower[c]) / (box_.upper[c] - box_.lower[c]);
    u[static_cast<Index>(k)] = std::min(std::max(share, 0.0), 1.0);
  }
  return u;
}

VectorXd Chart::slope(const VectorXd& by_inputs) const {
  VectorXd out(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    out[static_cast<Index>(k)] = by_inputs[c] * (box_.upper[c] - box_.lower[c]);
  }
  return out;
}

double Chart::distance(const VectorXd& x, const VectorXd& y) const {
  VectorXd gap(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    gap[static_cast<Index>(k)] = (x[c] - y[c]) / (box_.upper[c] - box_.lower[c]);
  }
  return gap.norm();
}

}  // namespace gpb
