// A score averaged over the models of a mixture. Unlike the two moments of the mixture, it is correct if the mixture is
// far from normal.
#ifndef GPB_AVERAGED_H
#define GPB_AVERAGED_H

#include <algorithm>
#include <cmath>

#include "base/log_sums.h"
#include "base/ordering.h"
#include "scores/score.h"

namespace gpb {

// For logarithmic scores: the logarithm of the average.
class AveragedScore final : public Score {
 public:
  struct Part {
    std::unique_ptr<Score> score;
    double log_weight;
  };
  explicit AveragedScore(std::vector<Part> parts) : parts_(std::move(parts)) {}

  void values(const Candidates& candidates, VectorXd& out) const override {
    out = average([&candidates](const Score& score) {
      VectorXd own;
      score.values(candidates, own);
      return own;
    });
  }
  // By every fourth model first, then by all models at the best candidates.
  void screen(const Candidates& candidates, VectorXd& out) const override {
    const Index count = candidates.X.rows();
    if (parts_.size() < 2 * kEach || count < 2 * kShortlist) return values(candidates, out);
    const auto is_first = [](std::size_t k) { return k % kEach == 0; };
    out = average([&candidates](const Score& score) {
      VectorXd own;
      score.values(candidates, own);
      return own;
    }, is_first);
    std::vector<Index> order = stable_order(count, [&out](Index a, Index b) { return out[a] > out[b]; });
    Points best(kShortlist, candidates.X.cols());
    for (Index i = 0; i < kShortlist; ++i) copy_row(best, i, candidates.X, order[static_cast<std::size_t>(i)]);
    const VectorXd rest = average([&best](const Score& score) { return score.at(best); },
                                  [&is_first](std::size_t k) { return !is_first(k); });
    for (Index i = 0; i < kShortlist; ++i) {
      double& value = out[order[static_cast<std::size_t>(i)]];
      value = log_sum(value, rest[i]);
    }
  }
  VectorXd at(const Points& X) const override {
    return average([&X](const Score& score) { return score.at(X); });
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    return local(x, gradient, &Score::at);
  }
  bool can_sketch() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.score->can_sketch(); });
  }
  double sketch(const VectorXd& x, VectorXd* gradient) const override {
    return local(x, gradient, &Score::sketch);
  }
  VectorXd sketches(const Points& X) const override {
    return average([&X](const Score& score) { return score.sketches(X); });
  }
  double unit() const override { return parts_[0].score->unit(); }
  bool logarithmic() const override { return true; }

 private:
  static constexpr std::size_t kEach = 4;  // models by which candidates are screened: one of this number,
  static constexpr Index kShortlist = 128;  // and the number of candidates for the others

  template <class Values>
  VectorXd average(Values values_of) const {
    return average(values_of, [](std::size_t) { return true; });
  }
  // Log-sum-exp over the models that `counts`, scaled by the largest term.
  template <class Values, class Counts>
  VectorXd average(Values values_of, Counts counts) const {
    std::vector<VectorXd> own;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (!counts(k)) continue;
      own.push_back(values_of(*parts_[k].score));
      for (Index i = 0; i < own.back().size(); ++i) own.back()[i] += parts_[k].log_weight;
    }
    VectorXd top = own[0];
    for (const VectorXd& values : own) {
      for (Index i = 0; i < top.size(); ++i) top[i] = std::max(top[i], values[i]);
    }
    VectorXd sum = VectorXd::Zero(top.size());
    for (const VectorXd& values : own) {
      for (Index i = 0; i < top.size(); ++i) {
        if (values[i] > -kInf) sum[i] += std::exp(values[i] - top[i]);
      }
    }
    for (Index i = 0; i < top.size(); ++i) {
      if (sum[i] > 0.0) top[i] += std::log(sum[i]);
    }
    return top;
  }

  using Height = double (Score::*)(const VectorXd& x, VectorXd* gradient) const;
  double local(const VectorXd& x, VectorXd* gradient, Height height) const {
    if (!gradient) return at(as_rows(x))[0];
    std::vector<VectorXd> slopes(parts_.size());
    VectorXd values(static_cast<Index>(parts_.size()));
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const double own = (parts_[k].score.get()->*height)(x, &slopes[k]);
      values[static_cast<Index>(k)] = own + parts_[k].log_weight;
    }
    const double top = values.maxCoeff();
    gradient->setZero(x.size());
    if (!(top > -kInf)) return top;
    const VectorXd share = (values.array() - top).exp();
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const double weight = share[static_cast<Index>(k)] / share.sum();
      if (weight > 0.0) *gradient += weight * slopes[k];
    }
    return top + std::log(share.sum());
  }

  std::vector<Part> parts_;
};

// `make`: returns the score of a round that has one model only.
template <class Make>
std::unique_ptr<Score> averaged_over_models(const Round& round, Make make) {
  const Index models = round.mean->models();
  if (models == 1) return make(round);
  std::vector<AveragedScore::Part> parts;
  for (Index k = 0; k < models; ++k) {
    Round one = round;
    one.mean = &round.mean->model(k);
    one.variance = &round.variance->model(k);
    one.model_weight = round.mean->model_weight(k);
    parts.push_back({make(one), std::log(one.model_weight)});
  }
  return std::make_unique<AveragedScore>(std::move(parts));
}

}  // namespace gpb

#endif
