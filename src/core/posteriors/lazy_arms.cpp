#include "posteriors/lazy_arms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

namespace {

constexpr Index kBlockArms = 64;
constexpr Index kMostBlocks = 32768;  // beyond, blocks become larger
constexpr Index kRecent = 64;         // choices after which a block's coordinates are dropped
constexpr double kKeptNumbers = 2e8;  // coordinates kept (1.6 GB, where nothing can be skipped)
constexpr double kSteps[5] = {0.0, 0.1, 0.5, 2.0, 8.0};  // steps at which a Rise is known
constexpr Index kGroupBlocks = 64;

}  // namespace

// ---- blocks ---------------------------------------------------------------------------------

LazyArms::LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean) {
  const Index n = arms.rows();
  if (n == 0) throw std::invalid_argument("there are no arms");
  if (prior_mean.size() != 1 && prior_mean.size() != n) {
    throw std::invalid_argument("the prior mean has one value, or one per arm");
  }
  block_arms_ = std::max(kBlockArms, n / kMostBlocks + 1);
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index(0));
  divide(arms, inputs, 0, n);
  points_.resize(n, arms.cols());
  for (Index c = 0; c < arms.cols(); ++c) {
    for (Index i = 0; i < n; ++i) points_(i, c) = arms(arm_of(i), c);
  }
  prior_mean_ = prior_mean;
  for (Index i = 0; i < n && prior_mean.size() > 1; ++i) prior_mean_[i] = prior_mean[arm_of(i)];
  const LowRankPosterior nothing(kernel.clone(), 1.0);
  for (Block& block : blocks_) {
    remember(block, view(block, nothing), Motion(), 0.0);
    block.last_look = -1;
  }
  const auto blocks = static_cast<Index>(blocks_.size());
  for (Index first = 0; first < blocks; first += kGroupBlocks) {
    Group group;
    group.first = first;
    group.count = std::min(kGroupBlocks, blocks - first);
    groups_.push_back(group);
  }
}

// Halves at the median of the widest input until a block is left: a k-d tree's leaves.
void LazyArms::divide(const Points& arms, Index inputs, Index first, Index count) {
  if (count <= block_arms_) {
    add_block(arms, inputs, first, count);
    return;
  }
  const auto begin = order_.begin() + first;
  Index widest = 0;
  double side = -1.0;
  for (Index c = 0; c < inputs; ++c) {
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
  divide(arms, inputs, first, count / 2);
  divide(arms, inputs, first + count / 2, count - count / 2);
}

// The centre is the arm nearest to the middle.
void LazyArms::add_block(const Points& arms, Index inputs, Index first, Index count) {
  Block block;
  block.first = first;
  block.count = count;
  VectorXd middle = VectorXd::Zero(inputs);
  for (Index i = first; i < first + count; ++i) {
    middle += arms.row(arm_of(i)).head(inputs).transpose();
  }
  middle /= static_cast<double>(count);
  double nearest = kInf;
  for (Index i = first; i < first + count; ++i) {
    const double gap = (arms.row(arm_of(i)).head(inputs).transpose() - middle).squaredNorm();
    if (!(gap < nearest)) continue;
    nearest = gap;
    block.centre = i;
  }
  if (nearest == kInf) block.centre = first;
  const auto begin = order_.begin() + first;
  block.first_arm = *std::min_element(begin, begin + count);
  blocks_.push_back(std::move(block));
}

// ---- what is known of a block ---------------------------------------------------------------

void LazyArms::Rise::know(const VectorXd& m, const VectorXd& d, double first) {
  from = first;
  for (int k = 0; k < kKnots; ++k) at_knot[k] = (m + (from + kSteps[k]) * d).maxCoeff();
  steepest = d.maxCoeff();
}

// Rising and convex: below the chords, and beyond the last knot below the steepest line.
double LazyArms::Rise::at(double step) const {
  const double beyond = step - from;
  if (!(beyond > 0.0)) return at_knot[0];
  const int last = kKnots - 1;
  if (!(beyond < kSteps[last])) return at_knot[last] + steepest * (beyond - kSteps[last]);
  int left = 0;
  while (beyond >= kSteps[left + 1]) ++left;
  const double part = (beyond - kSteps[left]) / (kSteps[left + 1] - kSteps[left]);
  return at_knot[left] + part * (at_knot[left + 1] - at_knot[left]);
}

void LazyArms::remember(Block& block, const View& view, const Motion& now, double weight) const {
  const Index centre = block.centre - block.first;
  block.centre_mean = view.mean[centre];
  block.centre_sd = view.sd[centre];
  block.weight = weight;
  const VectorXd beside = view.mean.array() - block.centre_mean;
  block.own.know(view.mean, view.sd, weight);
  block.apart.know(beside, view.apart, weight);
  block.level.know(beside + weight * view.sd, view.apart, 0.0);
  block.sd = view.sd.maxCoeff();
  block.seen = block.centre_seen = now;
}

LazyArms::View LazyArms::view(Block& block, const LowRankPosterior& posterior) {
  const bool again = block.last_look >= 0 && call_ - block.last_look <= kRecent;
  block.last_look = call_;
  View out;
  VectorXd variance;
  // (Sds of the differences fall within an era only.)
  if (block.kept && block.seen.era != posterior.motion().era) forget_kept(block);
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

void LazyArms::forget_kept(Block& block) {
  kept_numbers_ -= static_cast<double>(block.kept->features().size());
  block.kept.reset();
}

void LazyArms::see_centre(Block& block, const LowRankPosterior& posterior,
                          const Motion& now) const {
  if (!block.centre_kept) {
    block.centre_kept = std::make_unique<LowRankCandidates>(points_.row(block.centre));
  }
  block.centre_kept->follow(posterior);
  block.centre_mean = block.centre_kept->mean()[0] + prior_mean(block.centre);
  block.centre_sd = std::sqrt(block.centre_kept->variance()[0]);
  block.centre_seen = now;
}

// By how many of its sds of then a mean has moved since; infinite where nothing is known.
double LazyArms::moved(const Motion& then, const Motion& now) const {
  const bool since_prior = !then.era && now.from_prior;
  if (!since_prior && then.era != now.era) return kInf;
  if (now.changes == then.changes) return moves_[then.observations];
  const double innovations = std::max(0.0, now.innovations - then.innovations);
  return std::sqrt(innovations) + now.changes - then.changes;
}

// No arm of the block scores higher now. (What has been seen differs from the exact posterior, of
// which the bounds are true, by the certificate.)
double LazyArms::bound(const Block& block, const RisingScore& score, const Motion& now) const {
  if (!std::isnan(score.weight)) return joint_bound(block, score.weight, now);
  const double since_look = moved(block.seen, now);
  if (std::isinf(since_look)) return kInf;
  const double slack = slack_ * (block.sd + block.centre_sd);
  const double own = block.own.at(since_look + slack_);
  const double beside = block.centre_mean + block.centre_sd * moved(block.centre_seen, now) +
                        block.apart.at(since_look + slack_);
  const double sd = std::min(block.sd, block.centre_sd + block.apart.steepest);
  return score.of(std::min(own, beside) + slack, (1.0 + slack_) * sd);
}

double LazyArms::joint_bound(const Block& block, double weight, const Motion& now) const {
  const double since_look = moved(block.seen, now) + slack_;
  if (std::isinf(since_look)) return kInf;
  const double widened = (1.0 + slack_) * weight;
  const double own = block.own.at(since_look + widened);
  const double centre_mean = block.centre_mean + block.centre_sd * moved(block.centre_seen, now);
  const double beside = block.centre_sd * widened + block.apart.at(since_look + widened);
  const double grown = std::max(0.0, widened - block.weight) * block.sd;
  const double level = block.level.at(since_look) + grown;
  const double slack = slack_ * (block.sd + block.centre_sd);
  return std::min(own, centre_mean + std::min(beside, level)) + slack;
}

double LazyArms::bound(const Group& group, const RisingScore& score, const Motion& now) const {
  const double since = moved(group.seen, now);
  if (std::isinf(group.value) || std::isinf(since) || std::isnan(score.weight)) return kInf;
  const double grown = std::max(0.0, (1.0 + slack_) * score.weight - group.weight);
  return group.value + group.sd * (since + grown + 2.0 * slack_);
}

// The bounds of its blocks, now; those of at least `least` join the heap.
void LazyArms::open(Group& group, const RisingScore& score, const Motion& now, double least,
                    std::vector<Bound>& heap) {
  group.value = -kInf;
  group.sd = 0.0;
  group.weight = score.weight;
  group.seen = now;
  for (Index k = group.first; k < group.first + group.count; ++k) {
    const Block& block = blocks_[static_cast<std::size_t>(k)];
    const double value = bound(block, score, now);
    group.value = std::max(group.value, value);
    group.sd = std::max(group.sd, block.sd);
    if (value < least) continue;
    heap.push_back({value, k, Stage::block});
    std::push_heap(heap.begin(), heap.end());
  }
}

// ---- the choice -----------------------------------------------------------------------------

namespace {

// Of those that are numbers.
double largest(const VectorXd& score) {
  double out = -kInf;
  for (Index j = 0; j < score.size(); ++j) out = score[j] > out ? score[j] : out;
  return out;
}

}  // namespace

LazyArms::Looked LazyArms::look(Index number, const RisingScore& score,
                                const LowRankPosterior& posterior, const Motion& now,
                                const std::vector<char>* eligible) {
  Block& block = blocks_[static_cast<std::size_t>(number)];
  const View at = view(block, posterior);
  remember(block, at, now, std::isnan(score.weight) ? 0.0 : score.weight);
  Looked out{number, VectorXd(block.count)};
  for (Index j = 0; j < block.count; ++j) {
    const auto arm = static_cast<std::size_t>(arm_of(block.first + j));
    const bool allowed = !eligible || (*eligible)[arm];
    out.score[j] = allowed ? score.of(at.mean[j], at.sd[j]) : kNaN;
  }
  looked_at_ += block.count;
  return out;
}

void LazyArms::drop_stale() {
  for (Block& block : blocks_) {
    if (block.kept && call_ - block.last_look > kRecent) forget_kept(block);
  }
}

Index LazyArms::look_until_best(const RisingScore& score, const LowRankPosterior& posterior,
                                const std::vector<char>* eligible) {
  const Motion now = posterior.motion();
  std::vector<Bound> heap;
  heap.reserve(groups_.size() + blocks_.size());
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    heap.push_back({bound(groups_[k], score, now), static_cast<Index>(k), Stage::group});
  }
  std::make_heap(heap.begin(), heap.end());
  double best = -kInf;
  Index first = size();
  std::vector<Looked> looked;
  // (Twice the tolerance: bounds are rounded too.)
  const auto least = [&best, &score] { return best - 2.0 * score.tie; };
  while (!heap.empty() && !(heap.front().value < least())) {
    std::pop_heap(heap.begin(), heap.end());
    const Bound next = heap.back();
    heap.pop_back();
    if (next.stage == Stage::group) {
      open(groups_[static_cast<std::size_t>(next.number)], score, now, least(), heap);
      continue;
    }
    Block& block = blocks_[static_cast<std::size_t>(next.number)];
    // (It can at most be tied, behind an arm that is tied.)
    if (next.value <= best && block.first_arm > first) continue;
    if (next.stage == Stage::block && std::isfinite(next.value)) {
      see_centre(block, posterior, now);
      heap.push_back({bound(block, score, now), next.number, Stage::centred});
      std::push_heap(heap.begin(), heap.end());
      continue;
    }
    looked.push_back(look(next.number, score, posterior, now, eligible));
    const double here = largest(looked.back().score);
    if (here < best - score.tie) continue;
    first = here > best ? first_tied(looked, here - score.tie)
                        : std::min(first, first_tied({looked.back()}, best - score.tie));
    best = std::max(best, here);
  }
  if (first == size()) throw std::invalid_argument("no arm is eligible");
  return first;
}

Index LazyArms::first_tied(const std::vector<Looked>& looked, double least) const {
  Index first = size();
  for (const Looked& part : looked) {
    const Block& block = blocks_[static_cast<std::size_t>(part.block)];
    for (Index j = 0; j < block.count; ++j) {
      if (part.score[j] >= least) first = std::min(first, arm_of(block.first + j));
    }
  }
  return first;
}

Index LazyArms::choose(const RisingScore& score, const LowRankPosterior& posterior,
                       const std::vector<char>* eligible) {
  ++call_;
  looked_at_ = 0;
  if (call_ % kRecent == 0) drop_stale();
  slack_ = 2.0 * posterior.certificate().largest();
  moves_ = posterior.moves();
  return look_until_best(score, posterior, eligible);
}

}  // namespace gpb
