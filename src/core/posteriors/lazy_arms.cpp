#include "posteriors/best_point.h"
#include "posteriors/lazy_arms.h"

#include "base/ties.h"
#include "linalg/floors.h"
#include "linalg/rows_of.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

// ---- the best of many points --------------------------------------------------------------------

namespace {

// Rows are looked at by so few points of the basis that the others have no more than this part of
// the information (1 is as much as one observation with the prior's variance as its noise has).
constexpr double kStages[] = {3.0, 0.3};
constexpr double kWorthwhile = 0.7;  // of the rank: more points cost as much as all
constexpr Index kFewRows = Panels::kWidth;

// How far coordinates from the q-th on are known, for every q: the sum of P_pp - 1, p >= q.
VectorXd known_beyond(const GrowingCholesky& precision) {
  const Index r = precision.size();
  VectorXd out = VectorXd::Zero(r + 1);
  for (Index p = r - 1; p >= 0; --p) {
    const double diagonal = Eigen::Map<const VectorXd>(precision.row(p), p + 1).squaredNorm();
    out[p] = out[p + 1] + std::max(0.0, diagonal - 1.0);
  }
  return out;
}

VectorXd entries_of(const VectorXd& values, const std::vector<Index>& rows) {
  VectorXd out(static_cast<Index>(rows.size()));
  for (Index i = 0; i < out.size(); ++i) {
    out[i] = values[values.size() == 1 ? 0 : rows[static_cast<std::size_t>(i)]];
  }
  return out;
}

// Answers that differ from what the basis says at row i by so much.
void widen(MomentBounds& at, Index i, const LowRankError& of_basis, const LowRankError& of_answer) {
  const double factor = (1.0 + of_basis.sd) * (1.0 + of_answer.sd);
  at.least_sd[i] /= factor;
  at.largest_sd[i] *= factor;
  const double moved = (of_basis.mean + of_answer.mean) * at.largest_sd[i];
  at.least_mean[i] -= moved;
  at.largest_mean[i] += moved;
}

// Between what the posterior's answers lie, by what its basis says and how well.
MomentBounds bounds_by_basis(const LowRankPosterior& posterior, const Points& X) {
  MomentBounds out;
  VectorXd variance;
  std::vector<LowRankError> errors;
  posterior.predict_by_basis(X, out.least_mean, variance, &errors);
  out.largest_mean = out.least_mean;
  out.least_sd = out.largest_sd = variance.cwiseSqrt();
  const LowRankError of_answer = posterior.certificate();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool as_it_is = errors[i].largest() <= posterior.accuracy();
    if (!as_it_is) widen(out, static_cast<Index>(i), errors[i], of_answer);
  }
  return out;
}

// Rows whose score can be the best, or tied with it.
std::vector<Index> kept(const RisingScore& score, const MomentBounds& at, const VectorXd& prior,
                        const std::vector<Index>& rows) {
  double least = -kInf;
  for (Index i = 0; i < prior.size(); ++i) {
    least = std::max(least, score.of(prior[i] + at.least_mean[i], at.least_sd[i]));
  }
  least -= 2.0 * score.tie;  // (bounds are rounded, too)
  std::vector<Index> out;
  for (Index i = 0; i < prior.size(); ++i) {
    const double largest = score.of(prior[i] + at.largest_mean[i], at.largest_sd[i]);
    if (!(largest < least)) out.push_back(rows[static_cast<std::size_t>(i)]);
  }
  return out;
}

}  // namespace

// With the coordinates (p, q) of x, p the first few, l = k(x, x) - |p|^2 >= |q|^2, and
// M = [M1, 0; M2, M3]:
//   mean = p'w1 + q'w2,   variance = l - |q|^2 + |a|^2 + |M3^-1 (q - M2 a)|^2,   a = M1^-1 p.
// P >= I makes M3 M3' >= I and |M2|^2 <= sum of P_jj - 1 beyond the first few =: c^2, so that
//   |mean - p'w1| <= sqrt(l) |w2|,   |a|^2 <= variance <= |a|^2 + (sqrt(l) + c |a|)^2.
// (`beyond`: c^2)
static MomentBounds bounds_by(const LowRankPosterior& posterior, const Points& X, Index few,
                              double beyond) {
  const Index n = X.rows();
  const LowRankBasis& basis = posterior.basis();
  const VectorXd& w = posterior.weights();
  Panels phi(n);
  phi.reserve(few, 0);
  basis.at(X, phi, few);
  const VectorXd zero = VectorXd::Zero(phi.count() * Panels::kWidth);
  VectorXd mean = zero, spanned = zero, left = zero, ignored = zero;
  accumulate_rows(phi, 0, few, w.data(), mean.data(), spanned.data());
  forward_solve(posterior.precision().packed(), 0, few, phi);
  accumulate_rows(phi, 0, few, w.data(), ignored.data(), left.data());
  VectorXd own(n);
  basis.kernel().diagonal(X, own);
  const Eigen::ArrayXd rest =
      ((own - spanned.head(n)).cwiseMax(0.0) + kBasisPivot * own).array().sqrt();
  const double c = std::sqrt(beyond);
  const double weight = w.tail(w.size() - few).norm();
  MomentBounds out;
  out.least_mean = mean.head(n).array() - weight * rest;
  out.largest_mean = mean.head(n).array() + weight * rest;
  out.least_sd = left.head(n).cwiseSqrt();
  out.largest_sd = (left.head(n).array() + (rest + c * out.least_sd.array()).square()).sqrt();
  const LowRankError of_answer = posterior.certificate();
  for (Index i = 0; posterior.corrects() && i < n; ++i) {
    widen(out, i, posterior.certificate_of_basis(), of_answer);
  }
  return out;
}

MomentBounds bounds_by_few(const LowRankPosterior& posterior, const Points& X, Index few) {
  return bounds_by(posterior, X, few, known_beyond(posterior.precision())[few]);
}

Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible) {
  std::vector<Index> rows;
  for (Index i = 0; i < X.rows(); ++i) {
    if (!eligible || (*eligible)[static_cast<std::size_t>(i)]) rows.push_back(i);
  }
  if (rows.empty()) throw std::invalid_argument("no arm is eligible");
  const Index r = posterior.rank();
  const VectorXd beyond = known_beyond(posterior.precision());
  Index few = 0;
  for (const double part : kStages) {
    while (few < r && beyond[few] > part) ++few;
    const bool pays = static_cast<double>(few) <= kWorthwhile * static_cast<double>(r);
    if (few == 0 || !pays || static_cast<Index>(rows.size()) <= kFewRows) continue;
    rows = kept(score, bounds_by(posterior, rows_of(X, rows), few, beyond[few]),
                entries_of(prior_mean, rows), rows);
  }
  // What the basis says may need to be corrected; only where that can matter.
  if (posterior.corrects() && rows.size() > 1) {
    rows = kept(score, bounds_by_basis(posterior, rows_of(X, rows)), entries_of(prior_mean, rows),
                rows);
  }
  if (rows.size() == 1) return rows[0];
  VectorXd mean, variance;
  posterior.predict(rows_of(X, rows), mean, variance);
  mean += entries_of(prior_mean, rows);
  VectorXd exact(mean.size());
  for (Index i = 0; i < exact.size(); ++i) exact[i] = score.of(mean[i], std::sqrt(variance[i]));
  return rows[static_cast<std::size_t>(first_best(exact.data(), exact.size(), score.tie))];
}

// ---- the best of a tree of arms -----------------------------------------------------------------

namespace {

constexpr Index kLeafArms = 32;
constexpr Index kMostLeaves = 65536;  // beyond, leaves become larger
constexpr Index kChildren = 32;
constexpr Index kWidthArms = 128;      // arms that say in which input a part is widest
constexpr Index kRecent = 200;         // choices after which a node's coordinates are dropped
constexpr Index kDropEvery = 16;
constexpr Index kMovesEvery = 32;     // observations after which all moves are computed anew
constexpr double kKeptNumbers = 1e8;  // coordinates kept (.8 GB, where nothing can be skipped)

}  // namespace

// ---- the tree -------------------------------------------------------------------------------

LazyArms::LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean) {
  const Index n = arms.rows();
  if (n == 0) throw std::invalid_argument("there are no arms");
  if (prior_mean.size() != 1 && prior_mean.size() != n) {
    throw std::invalid_argument("the prior mean has one value, or one per arm");
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
  const Round prior{mean, nothing, nullptr, Motion(), 0.0, {}, {}, {}, 0.0, 0};
  for (Node& any : nodes_) {
    const View at = view(any, nothing);
    any.opened = -1;
    if (any.children.empty()) remember(any, at, prior);
    else gather(any, at, prior);
  }
}

// Halves of halves, until there are enough for a node or they are small enough for leaves: what is
// left of a k-d tree. Arms of a node lie side by side before those below it are made.
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

// At the median of the widest input, the first half the larger one. Which input is the widest some
// of the arms say: for what is true of the nodes it does not matter.
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

// The member that is nearest to the middle.
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

// ---- what is known of a node ----------------------------------------------------------------

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

// To go through all observations takes time: now and then.
void LazyArms::follow_moves(const LowRankPosterior& posterior) {
  const Motion now = posterior.motion();
  if (moves_until_.era != now.era ||
      now.observations > moves_until_.observations + kMovesEvery) {
    moves_before_ = posterior.moves(0);
    moves_until_ = now;
  }
  moves_since_ = posterior.moves(moves_until_.observations);
}

// By how many of its sds of then a mean has moved since; infinite where nothing is known.
double LazyArms::moved(const Motion& then, const Motion& now) const {
  const bool since_prior = !then.era && now.from_prior;
  if (!since_prior && then.era != now.era) return kInf;
  if (now.changes == then.changes) {
    const Index until = moves_until_.observations;
    return then.observations < until ? moves_before_[then.observations] + moves_since_[0]
                                     : moves_since_[then.observations - until];
  }
  const double innovations = std::max(0.0, now.innovations - then.innovations);
  return std::sqrt(innovations) + now.changes - then.changes;
}

// (What has been seen differs from the exact posterior, of which the bounds are true, by the
// certificate.)
LazyArms::Reach LazyArms::reach(const Node& of, double centre_mean, double centre_sd,
                                double weight, const Motion& now) const {
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

// A leaf.
void LazyArms::remember(Node& leaf, const View& view, const Round& round) const {
  leaf.joint = (view.mean + round.weight * view.sd).maxCoeff();
  leaf.mean = view.mean.maxCoeff();
  leaf.sd = view.sd.maxCoeff();
  leaf.apart = view.apart.maxCoeff();
  leaf.weight = round.weight;
  leaf.centre_mean = view.mean[leaf.middle];
  leaf.seen = round.now;
}

// A node above others, when those are done that had to be opened.
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

// At all arms of a leaf.
void LazyArms::look(Index number, const View& view, Round& round) {
  Node& leaf = node(number);
  remember(leaf, view, round);
  Looked here{number, -kInf, VectorXd(leaf.count)};
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

Index LazyArms::first_tied(const std::vector<Looked>& looked, double least) const {
  Index first = size();
  for (const Looked& part : looked) {
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
  Round round{score, posterior, eligible, posterior.motion(), weight, {}, {}, {}, -kInf, size()};
  round.heap.push_back({kInf, static_cast<Index>(nodes_.size()) - 1});
  while (!round.heap.empty() && !(round.heap.front().value < round.least())) {
    std::pop_heap(round.heap.begin(), round.heap.end());
    const Bound next = round.heap.back();
    round.heap.pop_back();
    // (It can at most be tied, behind an arm that is tied.)
    if (next.value <= round.best && node(next.number).first_arm > round.first) continue;
    open(next.number, round);
  }
  // (Those above were opened before those below.)
  for (auto at = round.opened.rbegin(); at != round.opened.rend(); ++at) {
    gather(node(at->number), at->view, round);
  }
  if (round.first == size()) throw std::invalid_argument("no arm is eligible");
  return round.first;
}

}  // namespace gpb
