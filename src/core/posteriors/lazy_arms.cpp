// Functions of lazy_arms.h: the best of very many arms, exactly, without evaluating all of them.
#include "posteriors/lazy_arms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

namespace {

constexpr Index kLeafArms = 32;
constexpr Index kMostLeaves = 65536;  // above this number, leaves become larger
constexpr Index kChildren = 32;
constexpr Index kWidthArms = 128;      // arms from which the widest input of a part is determined
constexpr Index kRecent = 200;         // choices after which a node's coordinates are dropped
constexpr Index kDropEvery = 16;
constexpr Index kMovesEvery = 32;     // observations after which all moves are recomputed
constexpr double kKeptNumbers = 1e8;  // coordinates kept (0.8 GB, if nothing can be skipped)

}  // namespace

// ---- the tree -------------------------------------------------------------------------------

LazyArms::LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean) {
  const Index n = arms.rows();
  if (n == 0) throw_invalid("there are no arms");
  if (prior_mean.size() != 1 && prior_mean.size() != n) {
    throw_invalid("the prior mean has one value, or one per arm");
  }
  leaf_arms_ = std::max(kLeafArms, n / kMostLeaves + 1);
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index(0));
  points_ = arms;
  std::vector<Keyed> rows(static_cast<std::size_t>(n));
  build(inputs, 0, n, rows);
  prior_mean_ = prior_mean;
  for (Index i = 0; i < n && prior_mean.size() > 1; ++i) prior_mean_[i] = prior_mean[arm_of(i)];
  const LowRankPosterior nothing(kernel.clone(), 1.0);
  const RisingScore mean{nullptr, 0.0, 0.0};
  const Round prior{mean, nothing, nullptr, DriftBound(), 0.0, {}, {}, {}, 0.0, 0};
  for (Node& any : nodes_) {
    const View at = view(any, nothing);
    any.opened = -1;
    if (any.children.empty()) remember(any, at, prior);
    else gather(any, at, prior);
  }
}

// Halves parts repeatedly, until there are enough of them for a node or they are small enough for leaves. This is a k-d
// tree from which intermediate levels are removed. The arms of a node are made adjacent before the nodes below it are
// made.
Index LazyArms::build(Index inputs, Index first, Index count, std::vector<Keyed>& rows) {
  Node made;
  made.first = first;
  made.count = count;
  std::vector<Index> start{0, count};
  for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)].row = first + i;
  // cppcheck-suppress containerOutOfBounds; it takes the two values for none
  while (start[1] - start[0] > leaf_arms_ && static_cast<Index>(start.size()) <= kChildren) {
    std::vector<Index> finer;
    for (std::size_t k = 0; k + 1 < start.size(); ++k) {
      const Index part = start[k + 1] - start[k];
      halve(inputs, &rows[static_cast<std::size_t>(start[k])], part);
      finer.push_back(start[k]);
      finer.push_back(start[k] + part - part / 2);
    }
    finer.push_back(start.back());
    start = std::move(finer);
  }
  if (start.size() > 2) put_in_order(first, count, rows);
  for (std::size_t k = 0; start.size() > 2 && k + 1 < start.size(); ++k) {
    made.children.push_back(build(inputs, first + start[k], start[k + 1] - start[k], rows));
  }
  choose_centre(made, inputs);
  const auto begin = order_.begin() + first;
  made.first_arm = *std::min_element(begin, begin + count);
  nodes_.push_back(std::move(made));
  return static_cast<Index>(nodes_.size()) - 1;
}

// Splits at the median of the widest input; the first half is the larger one. The widest input is determined from some
// of the arms only. This is safe, because the bounds of the nodes do not depend on it.
void LazyArms::halve(Index inputs, Keyed* rows, Index count) const {
  const Index step = std::max<Index>(1, count / kWidthArms);
  Index widest = 0;
  double side = -1.0;
  for (Index c = 0; c < inputs; ++c) {
    double low = kInf, high = -kInf;
    for (Index i = 0; i < count; i += step) {
      low = std::min(low, points_(rows[i].row, c));
      high = std::max(high, points_(rows[i].row, c));
    }
    if (high - low > side) {
      side = high - low;
      widest = c;
    }
  }
  for (Index i = 0; i < count; ++i) rows[i].key = points_(rows[i].row, widest);
  std::nth_element(rows, rows + (count - count / 2), rows + count,
                   [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

void LazyArms::put_in_order(Index first, Index count, const std::vector<Keyed>& rows) {
  const auto row = [&](Index i) { return rows[static_cast<std::size_t>(i)].row; };
  VectorXd column(count);
  for (Index c = 0; c < points_.cols(); ++c) {
    for (Index i = 0; i < count; ++i) column[i] = points_(row(i), c);
    points_.col(c).segment(first, count) = column;
  }
  std::vector<Index> arms(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) arms[static_cast<std::size_t>(i)] = arm_of(row(i));
  std::copy(arms.begin(), arms.end(), order_.begin() + first);
}

// The member nearest to the centroid.
void LazyArms::choose_centre(Node& of, Index inputs) const {
  VectorXd gap = VectorXd::Zero(members(of));
  for (Index c = 0; c < inputs; ++c) {
    double middle = 0.0;
    for (Index k = 0; k < gap.size(); ++k) middle += points_(member(of, k), c);
    middle /= static_cast<double>(gap.size());
    for (Index k = 0; k < gap.size(); ++k) {
      const double apart = points_(member(of, k), c) - middle;
      gap[k] += apart * apart;
    }
  }
  gap.minCoeff(&of.middle);
  of.centre = member(of, of.middle);
}

// ---- bounds for a node ----------------------------------------------------------------------

LazyArms::View LazyArms::view(Node& of, const LowRankPosterior& posterior) {
  of.opened = call_;
  std::unique_ptr<LowRankCandidates> seen = std::move(of.kept);
  if (seen) {
    kept_numbers_ -= static_cast<double>(seen->features().size());
  } else {
    Points X(members(of), points_.cols());
    for (Index c = 0; c < X.cols(); ++c) {
      for (Index k = 0; k < X.rows(); ++k) X(k, c) = points_(member(of, k), c);
    }
    seen = std::make_unique<LowRankCandidates>(std::move(X), of.middle);
  }
  seen->follow(posterior);
  View out{seen->mean(), seen->variance().cwiseSqrt(), seen->apart().cwiseSqrt()};
  for (Index k = 0; k < out.mean.size(); ++k) out.mean[k] += prior_mean(member(of, k));
  if (call_ > 0 && kept_numbers_ < kKeptNumbers) {
    kept_numbers_ += static_cast<double>(seen->features().size());
    of.kept = std::move(seen);
  }
  return out;
}

void LazyArms::drop_stale() {
  for (Node& any : nodes_) {
    if (!any.kept || call_ - any.opened <= kRecent) continue;
    kept_numbers_ -= static_cast<double>(any.kept->features().size());
    any.kept.reset();
  }
}

// Loops over all observations, which takes time, and is therefore done only now and then.
void LazyArms::follow_moves(const LowRankPosterior& posterior) {
  const DriftBound now = posterior.drift_bound();
  if (moves_until_.version != now.version ||
      now.observations > moves_until_.observations + kMovesEvery) {
    moves_before_ = posterior.moves(0);
    moves_until_ = now;
  }
  moves_since_ = posterior.moves(moves_until_.observations);
}

// By how many of its earlier sds a mean may have moved since `then`; infinite if no bound is available.
double LazyArms::moved(const DriftBound& then, const DriftBound& now) const {
  const bool since_prior = !then.version && now.from_prior;
  if (!since_prior && then.version != now.version) return kInf;
  if (now.changes == then.changes) {
    const Index until = moves_until_.observations;
    return then.observations < until ? moves_before_[then.observations] + moves_since_[0]
                                     : moves_since_[then.observations - until];
  }
  const double innovations = std::max(0.0, now.innovations - then.innovations);
  return std::sqrt(innovations) + now.changes - then.changes;
}

// The stored values differ from the exact posterior by the certificate; the bounds hold for the exact posterior.
LazyArms::Reach LazyArms::reach(const Node& of, double centre_mean, double centre_sd,
                                double weight, const DriftBound& now) const {
  const double since = moved(of.seen, now) + slack_;
  if (std::isinf(since)) return {kInf, kInf, kInf};
  const double slack = slack_ * (of.sd + centre_sd);
  const double risen = std::min(of.sd * since, centre_mean - of.centre_mean + of.apart * since);
  const double widened = (1.0 + slack_) * weight;
  const double sd = std::min(of.sd, centre_sd + of.apart);
  const double grown = std::max(0.0, widened - of.weight) * of.sd;
  const double joint = std::min(of.joint + risen + grown, of.mean + risen + widened * sd);
  return {joint + slack, of.mean + risen + slack, (1.0 + slack_) * sd};
}

// Stores the bounds of a leaf.
void LazyArms::remember(Node& leaf, const View& view, const Round& round) const {
  leaf.joint = (view.mean + round.weight * view.sd).maxCoeff();
  leaf.mean = view.mean.maxCoeff();
  leaf.sd = view.sd.maxCoeff();
  leaf.apart = view.apart.maxCoeff();
  leaf.weight = round.weight;
  leaf.centre_mean = view.mean[leaf.middle];
  leaf.seen = round.now;
}

// Stores the bounds of an inner node, after the nodes below it that had to be opened.
void LazyArms::gather(Node& above, const View& view, const Round& round) const {
  above.joint = above.mean = -kInf;
  above.sd = above.apart = 0.0;
  for (Index k = 0; k < view.mean.size(); ++k) {
    const Node& below = node(above.children[static_cast<std::size_t>(k)]);
    const Reach most = reach(below, view.mean[k], view.sd[k], round.weight, round.now);
    above.joint = std::max(above.joint, most.joint);
    above.mean = std::max(above.mean, most.mean);
    above.sd = std::max(above.sd, most.sd);
    above.apart = std::max(above.apart, view.apart[k] + below.apart);
  }
  above.weight = round.weight;
  above.centre_mean = view.mean[above.middle];
  above.seen = round.now;
}

// ---- the choice -----------------------------------------------------------------------------

void LazyArms::open(Index number, Round& round) {
  View at = view(node(number), round.posterior);
  const std::vector<Index>& children = node(number).children;
  if (children.empty()) return look(number, at, round);
  for (Index k = 0; k < at.mean.size(); ++k) {
    const Index child = children[static_cast<std::size_t>(k)];
    const Reach most = reach(node(child), at.mean[k], at.sd[k], round.weight, round.now);
    const bool joint = !std::isnan(round.score.weight) || std::isinf(most.joint);
    const double value = joint ? most.joint : round.score.of(most.mean, most.sd);
    if (value < round.least()) continue;
    round.heap.push_back({value, child});
    std::push_heap(round.heap.begin(), round.heap.end());
  }
  round.opened.push_back({number, std::move(at)});
}

// Scores all arms of a leaf.
void LazyArms::look(Index number, const View& view, Round& round) {
  Node& leaf = node(number);
  remember(leaf, view, round);
  Evaluated here{number, -kInf, VectorXd(leaf.count)};
  for (Index j = 0; j < leaf.count; ++j) {
    const auto arm = static_cast<std::size_t>(arm_of(leaf.first + j));
    const bool allowed = !round.eligible || (*round.eligible)[arm];
    here.score[j] = allowed ? round.score.of(view.mean[j], view.sd[j]) : kNaN;
    if (here.score[j] > here.best) here.best = here.score[j];
  }
  looked_at_ += leaf.count;
  const double tie = round.score.tie;
  if (here.best < round.best - tie) return;
  const bool better = here.best > round.best;
  round.best = std::max(round.best, here.best);
  round.looked.push_back(std::move(here));
  round.first = better ? first_tied(round.looked, round.best - tie)
                       : std::min(round.first, first_tied({round.looked.back()}, round.best - tie));
}

Index LazyArms::first_tied(const std::vector<Evaluated>& looked, double least) const {
  Index first = size();
  for (const Evaluated& part : looked) {
    if (part.best < least) continue;
    const Node& leaf = node(part.leaf);
    for (Index j = 0; j < leaf.count; ++j) {
      if (part.score[j] >= least) first = std::min(first, arm_of(leaf.first + j));
    }
  }
  return first;
}

Index LazyArms::choose(const RisingScore& score, const LowRankPosterior& posterior,
                       const std::vector<char>* eligible) {
  ++call_;
  looked_at_ = 0;
  if (call_ % kDropEvery == 0) drop_stale();
  slack_ = 2.0 * posterior.certificate().largest();
  follow_moves(posterior);
  const double weight = std::isnan(score.weight) ? 0.0 : score.weight;
  Round round{score, posterior, eligible, posterior.drift_bound(), weight, {}, {}, {}, -kInf, size()};
  round.heap.push_back({kInf, static_cast<Index>(nodes_.size()) - 1});
  while (!round.heap.empty() && !(round.heap.front().value < round.least())) {
    std::pop_heap(round.heap.begin(), round.heap.end());
    const Bound next = round.heap.back();
    round.heap.pop_back();
    // It can at most be tied, and then loses to the earlier arm.
    if (next.value <= round.best && node(next.number).first_arm > round.first) continue;
    open(next.number, round);
  }
  // A node is opened before the nodes below it.
  for (auto at = round.opened.rbegin(); at != round.opened.rend(); ++at) {
    gather(node(at->number), at->view, round);
  }
  if (round.first == size()) throw_invalid("no arm is eligible");
  return round.first;
}

}  // namespace gpb
