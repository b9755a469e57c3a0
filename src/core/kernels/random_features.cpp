// Functions of random_features.h: random functions with a kernel's covariance, for Thompson sampling on a box. Uses
// base/ and linalg/.
#include "kernels/random_features.h"

#include "base/ordering.h"
#include "base/split_mix.h"
#include "linalg/decompositions.h"
#include "linalg/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gpb {

namespace {

constexpr double kTwoPi = 6.28318530717958647693;
constexpr Index kRows = 64;  // points evaluated together, which limits the work space

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

double RandomSign::of(double value) const {
  if (of_level) return (*of_level)[static_cast<Index>(std::llround(value)) - 1];
  const std::uint64_t bits = scramble(bits_of(seed) ^ scramble(bits_of(value + 0.0)));
  return (bits & 1) ? 1.0 : -1.0;
}

PriorPath PriorPath::waves(std::vector<Feature> features, Rng& rng) {
  const auto fewer = [](const Feature& a, const Feature& b) {
    return a.directions.size() < b.directions.size();
  };
  put_in_order(features, fewer);
  PriorPath path;
  auto first = features.cbegin();
  while (first != features.cend()) {
    const auto last = std::upper_bound(first, features.cend(), *first, fewer);
    path.groups_.push_back(group_of(first, last, static_cast<Index>(features.size()), rng));
    first = last;
  }
  return path;
}

// A cos + B sin with standard normal A, B is a Rayleigh amplitude and a uniform phase.
PriorPath::Group PriorPath::group_of(std::vector<Feature>::const_iterator first,
                                     std::vector<Feature>::const_iterator last, Index total,
                                     Rng& rng) {
  const Index inputs = first->frequency.size();
  const Index count = static_cast<Index>(last - first);
  Group group{MatrixXd(inputs, count),
              std::vector<MatrixXd>(first->directions.size(), MatrixXd(inputs, count)),
              VectorXd(count), VectorXd(count), MatrixXd(), -1, {}};
  const auto tabled = std::find_if(first, first + count,
                                   [](const Feature& f) { return f.by_arm.size() > 0; });
  if (tabled != first + count) {
    group.by_arm = MatrixXd::Ones(tabled->by_arm.size(), count);
    group.arm_column = tabled->arm_column;
  }
  if (std::any_of(first, first + count, [](const Feature& f) { return !f.signs.empty(); })) {
    for (auto f = first; f != first + count; ++f) group.signs.push_back(f->signs);
  }
  for (Index m = 0; m < count; ++m, ++first) {
    group.frequency.col(m) = first->frequency;
    if (first->by_arm.size() > 0) group.by_arm.col(m) = first->by_arm;
    for (std::size_t j = 0; j < group.directions.size(); ++j) {
      group.directions[j].col(m) = first->directions[j];
    }
    group.phase[m] = kTwoPi * rng.uniform();
    const double rayleigh = std::sqrt(-2.0 * std::log(rng.uniform()));
    group.weight[m] = first->amplitude * rayleigh / std::sqrt(static_cast<double>(total));
  }
  return group;
}

Index PriorPath::Group::arm_of(double number) const {
  const Index arm = static_cast<Index>(std::llround(number));
  if (arm < 0 || arm >= by_arm.rows()) throw_invalid("this point is not an arm");
  return arm;
}

double PriorPath::Group::sign(std::size_t feature, const Eigen::Ref<const VectorXd>& x) const {
  double out = 1.0;
  for (const RandomSign& one : signs[feature]) out *= one.of(x[one.input]);
  return out;
}

PriorPath PriorPath::line(VectorXd slope) {
  PriorPath path;
  path.slope_ = std::move(slope);
  return path;
}

void PriorPath::add(const PriorPath& other) {
  groups_.insert(groups_.end(), other.groups_.begin(), other.groups_.end());
  if (slope_.size() == 0) {
    slope_ = other.slope_;
  } else if (other.slope_.size() > 0) {
    slope_ += other.slope_;
  }
}

double PriorPath::value(const VectorXd& x) const {
  VectorXd out(1);
  values(as_rows(x), out);
  return out[0];
}

void PriorPath::values(const Points& X, Eigen::Ref<VectorXd> out) const {
  out.setZero();
  if (slope_.size()) out = multiply(X, slope_);
  for (const Group& group : groups_) add_values(group, X, out);
}

void PriorPath::add_values(const Group& group, const Points& X, Eigen::Ref<VectorXd> out) {
  for (Index start = 0; start < X.rows(); start += kRows) {
    const Index count = std::min(kRows, X.rows() - start);
    const MatrixXd points = X.middleRows(start, count);
    MatrixXd wave = product(points, group.frequency);
    for (Index m = 0; m < wave.cols(); ++m) {
      for (Index i = 0; i < count; ++i) wave(i, m) += group.phase[m];
    }
    for (Index m = 0; m < wave.cols(); ++m) cosines(count, wave.col(m).data());
    for (const MatrixXd& direction : group.directions) {
      wave.array() *= product(points, direction).array();
    }
    for (Index i = 0; group.by_arm.size() > 0 && i < count; ++i) {
      const Index arm = group.arm_of(points(i, group.arm_column));
      for (Index m = 0; m < wave.cols(); ++m) wave(i, m) *= group.by_arm(arm, m);
    }
    for (std::size_t m = 0; m < group.signs.size(); ++m) {
      for (const RandomSign& one : group.signs[m]) {
        for (Index i = 0; i < count; ++i) wave(i, static_cast<Index>(m)) *= one.of(points(i, one.input));
      }
    }
    add_multiple(out.segment(start, count), 1.0, wave, group.weight);
  }
}

double PriorPath::value_and_gradient(const VectorXd& x, VectorXd& gradient) const {
  gradient.setZero(x.size());
  double value = 0.0;
  if (slope_.size()) {
    value = slope_.dot(x);
    gradient = slope_;
  }
  for (const Group& group : groups_) value += add_gradient(group, x, gradient);
  return value;
}

double PriorPath::add_gradient(const Group& group, const VectorXd& x, VectorXd& gradient) {
  const Eigen::ArrayXd angle = (multiply_transposed(group.frequency, x) + group.phase).array();
  Eigen::ArrayXd weight = group.weight.array();
  if (group.by_arm.size() > 0) {
    weight *= row_of(group.by_arm, group.arm_of(x[group.arm_column])).array();
  }
  for (std::size_t m = 0; m < group.signs.size(); ++m) {
    weight[static_cast<Index>(m)] *= group.sign(m, x);
  }
  Eigen::ArrayXd wave = angle;
  cosines(wave.size(), wave.data());
  wave *= weight;
  std::vector<Eigen::ArrayXd> factors;
  Eigen::ArrayXd all = Eigen::ArrayXd::Ones(angle.size());
  for (const MatrixXd& direction : group.directions) {
    factors.push_back(multiply_transposed(direction, x).array());
    all *= factors.back();
  }
  add_multiple(gradient, -1.0, group.frequency, (angle.sin() * weight * all).matrix());
  for (std::size_t j = 0; j < factors.size(); ++j) {
    Eigen::ArrayXd others = wave;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (i != j) others *= factors[i];
    }
    add_multiple(gradient, 1.0, group.directions[j], others.matrix());
  }
  return (wave * all).sum();
}

// Marsaglia and Tsang (2000); below shape 1 by G(shape) = G(shape + 1) U^(1/shape).
double draw_gamma(Rng& rng, double shape) {
  if (shape < 1.0) {
    const double boosted = draw_gamma(rng, shape + 1.0);
    return std::max(boosted * std::pow(rng.uniform(), 1.0 / shape), 1e-300);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = rng.normal();
    const double root = 1.0 + c * z;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    if (std::log(rng.uniform()) < 0.5 * z * z + d * (1.0 - v + std::log(v))) return d * v;
  }
}

// Ratios by I_j / I_{j-1} = 1 / (2j/a + I_{j+1} / I_j), from the highest j down; then inversion of the distribution.
double draw_harmonic(Rng& rng, double a) {
  const Index highest = 20 + static_cast<Index>(10.0 * std::sqrt(a));  // ten standard deviations
  VectorXd weight(highest + 1);
  double ratio = 0.0;
  for (Index j = highest; j > 0; --j) {
    ratio = 1.0 / (2.0 * static_cast<double>(j) / a + ratio);
    weight[j] = ratio;
  }
  weight[0] = 0.5;  // j and -j count together, 0 once
  double previous = 1.0;
  for (Index j = 1; j <= highest; ++j) previous = weight[j] *= previous;
  double left = rng.uniform() * weight.sum();
  Index j = 0;
  while (j < highest && left > weight[j]) left -= weight[j++];
  return rng.uniform() < 0.5 ? -static_cast<double>(j) : static_cast<double>(j);
}

}  // namespace gpb
