// The knowledge gradient (Frazier, Powell and Dayanik 2009): the expected increase of the largest posterior mean over
// the candidates by one observation.
#ifndef GPB_KNOWLEDGE_H
#define GPB_KNOWLEDGE_H

#include <algorithm>
#include <numeric>

#include "base/ordering.h"
#include "scores/candidate_score.h"
#include "scores/improvement.h"

namespace gpb {

// E max_j (a_j + b_j Z) - max_j a_j, with Z standard normal. It is a sum over the breakpoints z of the upper envelope
// of the lines: the step of the slope times (phi(z) - |z| Phi(-|z|)).
inline double expected_envelope_gain(const VectorXd& a, const VectorXd& b) {
  std::vector<Index> order(static_cast<std::size_t>(a.size()));
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index i, Index j) {
    return b[i] != b[j] ? b[i] < b[j] : a[i] != a[j] ? a[i] < a[j] : i < j;
  });
  std::vector<Index> line;    // lines of the envelope, by slope
  std::vector<double> from;   // start of each line
  for (const Index j : order) {
    double z = -kInf;
    while (!line.empty()) {
      const Index k = line.back();
      z = b[j] > b[k] ? (a[k] - a[j]) / (b[j] - b[k]) : -kInf;  // for parallel lines the higher one stays
      if (b[j] > b[k] && z > from.back()) break;
      line.pop_back();
      from.pop_back();
      z = -kInf;
    }
    line.push_back(j);
    from.push_back(z);
  }
  double sum = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k) {
    sum += (b[line[k]] - b[line[k - 1]]) * expected_improvement(-std::abs(from[k]), 1.0, 0.0);
  }
  return sum;
}

class KnowledgeGradientPolicy final : public Policy {
 public:
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const CandidateMoments now(round);
    const std::vector<Index> some = promising(now);
    const MatrixXd covariance = round.variance->covariance(*round.candidates, some);
    const auto m = static_cast<Index>(some.size());
    VectorXd mean(m), response;
    for (Index i = 0; i < m; ++i) mean[i] = now.mean[some[static_cast<std::size_t>(i)]];
    VectorXd gain = VectorXd::Constant(now.mean.size(), -kInf);
    for (Index k = 0; k < m; ++k) {
      const Index x = some[static_cast<std::size_t>(k)];
      response = covariance.col(k) / std::sqrt(round.noise_var + now.sd[x] * now.sd[x]);
      gain[x] = expected_envelope_gain(mean, response);
    }
    return std::make_unique<CandidateScore>(round, std::move(gain));
  }

 private:
  static constexpr Index kMost = 500;

  // All candidates, or those with the largest mean + 2 sd, because the cost is n^2 log n.
  static std::vector<Index> promising(const CandidateMoments& now) {
    if (now.mean.size() <= kMost) {
      std::vector<Index> all(static_cast<std::size_t>(now.mean.size()));
      std::iota(all.begin(), all.end(), Index(0));
      return all;
    }
    const VectorXd bound = now.mean + 2.0 * now.sd;
    auto order = stable_order(bound.size(), [&](Index i, Index j) { return bound[i] > bound[j]; });
    order.resize(kMost);
    sort_increasing(order);
    return order;
  }
};

}  // namespace gpb

#endif
