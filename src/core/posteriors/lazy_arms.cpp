#include "posteriors/lazy_arms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

namespace {

constexpr Index kBlockArms = 64;
constexpr Index kRecent = 64;         // choices after which a block's coordinates are dropped
constexpr double kKeptNumbers = 1e7;  // coordinates kept (80 MB)
constexpr double kSteps[3] = {0.0, 3.0, 30.0};  // at which Block::rise is known

}  // namespace

LazyArms::LazyArms(const Kernel& kernel, const Points& arms, VectorXd prior_mean) {
  const Index n = arms.rows();
  if (n == 0) throw std::invalid_argument("there are no arms");
  if (prior_mean.size() != 1 && prior_mean.size() != n) {
    throw std::invalid_argument("the prior mean has one value, or one per arm");
  }
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index(0));
  divide(arms, 0, n);
  points_.resize(n, arms.cols());
  for (Index c = 0; c < arms.cols(); ++c) {
    for (Index i = 0; i < n; ++i) points_(i, c) = arms(order_[static_cast<std::size_t>(i)], c);
  }
  prior_mean_ = prior_mean;
  for (Index i = 0; i < n && prior_mean.size() > 1; ++i) {
    prior_mean_[i] = prior_mean[order_[static_cast<std::size_t>(i)]];
  }
  Points centres(static_cast<Index>(blocks_.size()), arms.cols());
  Index number = 0;
  const LowRankPosterior nothing(kernel.clone(), 1.0);
  for (Block& block : blocks_) {
    centres.row(number++) = points_.row(block.centre);
    remember(block, view(block, nothing));
    block.last_look = -1;
  }
  centres_ = std::make_unique<LowRankCandidates>(std::move(centres));
}

// Halves at the median of the widest input until a block is left: a k-d tree's leaves.
void LazyArms::divide(const Points& arms, Index first, Index count) {
  if (count <= kBlockArms) {
    add_block(arms, first, count);
    return;
  }
  const auto begin = order_.begin() + first;
  Index widest = 0;
  double side = -1.0;
  for (Index c = 0; c < arms.cols(); ++c) {
    double low = kInf, high = -kInf;
    for (Index i = 0; i < count; ++i) {
      low = std::min(low, arms(begin[i], c));
      high = std::max(high, arms(begin[i], c));
    }
    if (high - low > side) {
      side = high - low;
      widest = c;
    }
  }
  const double* input = arms.col(widest).data();
  std::nth_element(begin, begin + count / 2, begin + count,
                   [input](Index i, Index j) { return input[i] < input[j]; });
  divide(arms, first, count / 2);
  divide(arms, first + count / 2, count - count / 2);
}

// The centre is the arm nearest to the middle.
void LazyArms::add_block(const Points& arms, Index first, Index count) {
  Block block;
  block.first = first;
  block.count = count;
  VectorXd middle = VectorXd::Zero(arms.cols());
  for (Index i = first; i < first + count; ++i) {
    middle += arms.row(order_[static_cast<std::size_t>(i)]).transpose();
  }
  middle /= static_cast<double>(count);
  double nearest = kInf;
  for (Index i = first; i < first + count; ++i) {
    const double gap =
        (arms.row(order_[static_cast<std::size_t>(i)]).transpose() - middle).squaredNorm();
    if (!(gap < nearest)) continue;
    nearest = gap;
    block.centre = i;
  }
  if (nearest == kInf) block.centre = first;
  blocks_.push_back(std::move(block));
}

// Convex in `moved`: below the chords, and beyond the last step below the steepest line.
double LazyArms::Block::rise_at(double moved) const {
  if (!(moved < kSteps[2])) return rise[2] + apart * (moved - kSteps[2]);
  const int left = moved < kSteps[1] ? 0 : 1;
  const double part = (moved - kSteps[left]) / (kSteps[left + 1] - kSteps[left]);
  return rise[left] + part * (rise[left + 1] - rise[left]);
}

void LazyArms::remember(Block& block, const View& view) const {
  const double centre = view.mean[block.centre - block.first];
  for (int k = 0; k < 3; ++k) {
    block.rise[k] = (view.mean + kSteps[k] * view.apart).maxCoeff() - centre;
  }
  block.sd = view.sd.maxCoeff();
  block.apart = view.apart.maxCoeff();
}

LazyArms::View LazyArms::view(Block& block, const LowRankPosterior& posterior) {
  const bool again = block.last_look >= 0 && call_ - block.last_look <= kRecent;
  block.last_look = call_;
  View out;
  VectorXd variance;
  if (block.kept) {
    const double before = static_cast<double>(block.kept->features().size());
    block.kept->follow(posterior);
    kept_numbers_ += static_cast<double>(block.kept->features().size()) - before;
    out.mean = block.kept->mean();
    variance = block.kept->variance();
    out.apart = block.kept_apart;
  } else {
    VectorXd apart;
    posterior.predict_beside(rows_of(block), points_.row(block.centre).transpose(), out.mean,
                             variance, apart);
    out.apart = apart.cwiseSqrt();
    if (again && kept_numbers_ < kKeptNumbers) {
      block.kept = std::make_unique<LowRankCandidates>(rows_of(block));
      block.kept_apart = out.apart;
    }
  }
  for (Index j = 0; j < block.count; ++j) out.mean[j] += prior_mean(block.first + j);
  out.sd = variance.cwiseSqrt();
  return out;
}

// No arm of the block scores higher now.
double LazyArms::bound(Index number, const RisingScore& score, const Motion& now) const {
  const Block& block = blocks_[static_cast<std::size_t>(number)];
  const bool since_prior = block.last_look < 0 && now.from_prior;
  if (!since_prior && block.seen.era != now.era) return kInf;
  const double moved = std::sqrt(std::max(0.0, now.innovations - block.seen.innovations)) +
                       now.changes - block.seen.changes;
  const double centre_sd = std::sqrt(centres_->variance()[number]);
  const double sd = (1.0 + slack_) * std::min(block.sd, centre_sd + block.apart);
  const double mean = centres_->mean()[number] + prior_mean(block.centre) +
                      block.rise_at(moved + slack_) + slack_ * (centre_sd + block.sd);
  return score.of(mean, sd);
}

LazyArms::Looked LazyArms::look(Index number, const RisingScore& score,
                                const LowRankPosterior& posterior) {
  Block& block = blocks_[static_cast<std::size_t>(number)];
  const View now = view(block, posterior);
  block.seen = posterior.motion();
  remember(block, now);
  Looked out{number, VectorXd(block.count)};
  for (Index j = 0; j < block.count; ++j) out.score[j] = score.of(now.mean[j], now.sd[j]);
  looked_at_ += block.count;
  return out;
}

void LazyArms::drop_stale() {
  for (Block& block : blocks_) {
    if (!block.kept || call_ - block.last_look <= kRecent) continue;
    kept_numbers_ -= static_cast<double>(block.kept->features().size());
    block.kept.reset();
  }
}

Index LazyArms::first_tied(const std::vector<Looked>& looked, double least) const {
  Index first = size();
  for (const Looked& part : looked) {
    const Block& block = blocks_[static_cast<std::size_t>(part.block)];
    for (Index j = 0; j < block.count; ++j) {
      if (part.score[j] < least) continue;
      first = std::min(first, order_[static_cast<std::size_t>(block.first + j)]);
    }
  }
  return first;
}

Index LazyArms::choose(const RisingScore& score, const LowRankPosterior& posterior) {
  ++call_;
  looked_at_ = 0;
  if (call_ % kRecent == 0) drop_stale();
  centres_->follow(posterior);
  slack_ = 2.0 * posterior.certificate().largest();
  const Motion now = posterior.motion();
  std::vector<std::pair<double, Index>> heap;
  heap.reserve(blocks_.size());
  for (Index number = 0; number < static_cast<Index>(blocks_.size()); ++number) {
    heap.emplace_back(bound(number, score, now), number);
  }
  std::make_heap(heap.begin(), heap.end());
  double best = -kInf;
  std::vector<Looked> looked;
  // (Twice the tolerance: bounds are rounded too.)
  while (!heap.empty() && !(heap.front().first < best - 2.0 * score.tie)) {
    looked.push_back(look(heap.front().second, score, posterior));
    best = std::max(best, looked.back().score.maxCoeff());
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }
  return first_tied(looked, best - score.tie);
}

}  // namespace gpb
