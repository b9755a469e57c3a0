// Tests for changes by rewards with a likelihood. Uses kernels/ and likelihoods/.
#include "events/change_evidence.h"

#include "base/log_sums.h"
#include "likelihoods/predictive.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gpb {

namespace {

constexpr double kShifts[] = {-2.0, -1.0, -0.5, 0.5, 1.0, 2.0};  // in prior sd of f
constexpr std::size_t kShiftCount = sizeof(kShifts) / sizeof(kShifts[0]);

}  // namespace

double ShiftTest::add(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd,
                      double scale) {
  t_ += 1.0;
  const double log_weight = std::log(1.0 / std::log2(t_ + 1.0) - 1.0 / std::log2(t_ + 2.0));
  const double now = log_predictive(likelihood, data, mean, sd);
  log_sums_.resize(kShiftCount, -kInf);
  double total = -kInf;
  for (std::size_t k = 0; k < kShiftCount; ++k) {
    const double shifted = log_predictive(likelihood, data, mean + kShifts[k] * scale, sd);
    log_sums_[k] = log_sum(log_sums_[k], log_weight) + shifted - now;
    total = log_sum(total, log_sums_[k]);
  }
  return total - std::log(static_cast<double>(kShiftCount));
}

void ShiftTest::clear() {
  t_ = 0.0;
  log_sums_.clear();
}

// Rewards at equal points are pooled. (Data are sums for all log-concave likelihoods.)
double EvidenceSweep::evidence(const Likelihood& likelihood, std::size_t length) const {
  std::map<std::vector<double>, std::size_t> where;
  std::vector<Likelihood::Data> data;
  std::vector<VectorXd> points;
  std::vector<double> means;
  for (std::size_t k = x_.size() - length; k < x_.size(); ++k) {
    const VectorXd& x = x_[k];
    const auto found = where.emplace(std::vector<double>(x.data(), x.data() + x.size()), points.size());
    if (found.second) {
      points.push_back(x);
      data.push_back(data_[k]);
      means.push_back(prior_mean_[k]);
      continue;
    }
    Likelihood::Data& sums = data[found.first->second];
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += data_[k][j];
  }
  const auto count = static_cast<Index>(points.size());
  Points X(count, points[0].size());
  for (Index i = 0; i < count; ++i) set_row(X, i, points[static_cast<std::size_t>(i)]);
  return laplace_evidence(likelihood, data, Eigen::Map<const VectorXd>(means.data(), count), kernel_->gram(X));
}

bool EvidenceSweep::add(const Likelihood& likelihood, const VectorXd& x, const Likelihood::Data& data,
                        double prior_mean) {
  x_.push_back(x);
  data_.push_back(data);
  prior_mean_.push_back(prior_mean);
  past_.emplace_back();
  for (std::size_t length = 1; length <= x_.size(); ++length) {
    if (uses(length)) past_[length - 1].push_back(evidence(likelihood, length));
  }
  bool alarm = false;
  for (std::size_t q = 1; 2 * q <= x_.size(); ++q) {
    if (!uses(q)) continue;
    std::deque<double>& halves = past_[q - 1];
    if (halves.size() <= q) continue;
    const double gain = halves[halves.size() - 1 - q] + halves.back() - past_[2 * q - 1].back();
    alarm = alarm || gain > threshold_(static_cast<double>(q));
    if (halves.size() > q + 1) halves.pop_front();
  }
  return alarm;
}

void EvidenceSweep::clear() {
  x_.clear();
  data_.clear();
  prior_mean_.clear();
  past_.clear();
}

}  // namespace gpb
