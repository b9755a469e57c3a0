// Functions of observations.h: the observations that a posterior conditions on, by the ids of their queries. Uses
// base/, likelihoods/ and posteriors/.
#include "events/observations.h"

#include "base/ordering.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace gpb {

// ---- observations -------------------------------------------------------------------------------

namespace {

// Above kFollowFrom points sites are fitted again after 1 / kFollowShare as many further rewards, see may_follow().
constexpr Index kFollowFrom = 512, kFollowShare = 128;
constexpr std::size_t kErrorPoints = 128;  // of the latest rewards, see site_error()

// A key that identifies points and orders them: an arm's number, or the inputs.
std::vector<double> key_of(const Point& point) {
  if (point.kind == Point::Kind::tabled) return {static_cast<double>(point.row)};
  return std::vector<double>(point.x.data(), point.x.data() + point.x.size());
}

}  // namespace

Observations::Item& Observations::item(Index id) {
  const auto k = static_cast<std::size_t>(id - first_);
  if (k >= items_.size()) items_.resize(k + 1);
  return items_[k];
}

Index Observations::slot(Index id) const {
  const auto k = static_cast<std::size_t>(id - first_);
  if (likelihood_) settle();
  return id >= first_ && k < items_.size() ? items_[k].slot : -1;
}

void Observations::enter(Index id) {
  Item& one = item(id);
  const double age = static_cast<double>(round_ - id);
  posterior_->add({one.point, one.value, one.weight * forgetting_.weight(age), id, one.owns_noise});
  one.slot = static_cast<std::int32_t>(slots_++);
  oldest_ = entered_ == 0 ? id : std::min(oldest_, id);
  ++entered_;
}

void Observations::leave(Index id) {
  Item& one = item(id);
  posterior_->drop(one.slot);
  one.slot = -1;
  --entered_;
}

void Observations::put(Index id, const Point& point, const Measurement& measurement) {
  Item& one = item(id);
  if (likelihood_) {
    const bool further = !one.known && !measurement.awaited;
    rewards_ += one.known ? 0 : 1;
    one.known = true;
    one.take(measurement);
    one.point = point;
    if (!pairs()) one.cell = static_cast<std::int32_t>(cells_.emplace(key_of(point), cells_.size()).first->second);
    one.later = further && may_follow();
    if (one.later) later_.push_back(id);
    else fit_anew();
    return;
  }
  if (one.known && one.weight == measurement.weight && one.owns_noise == measurement.owns_noise) {
    one.take(measurement);
    if (one.slot >= 0) posterior_->set_value(one.slot, measurement.value);
    return;
  }
  if (one.slot >= 0) leave(id);
  one.known = true;
  one.take(measurement);
  one.point = point;
  if (windowed() && entered_ >= forgetting_.window && id < oldest_) return;
  if (forgetting_.weight(static_cast<double>(round_ - id)) <= kNoWeight) return;
  enter(id);
  if (windowed()) shrink_window();
}

// Keeps the latest observations, in whichever order they arrived.
void Observations::shrink_window() {
  while (entered_ > forgetting_.window) {
    while (slot(oldest_) < 0) ++oldest_;
    leave(oldest_++);
  }
}

// After an observation was removed: the latest of those outside the window enters it.
void Observations::refill_window() {
  for (Index id = first_ + static_cast<Index>(items_.size()) - 1; id >= first_; --id) {
    if (entered_ >= forgetting_.window) return;
    const Item& one = item(id);
    if (one.known && one.slot < 0) enter(id);
  }
}

void Observations::drop(Index id) {
  Item& one = item(id);
  if (!one.known) return;
  one.known = false;
  if (likelihood_) {
    --rewards_;
    return fit_anew();
  }
  if (one.slot < 0) return;
  leave(id);
  if (windowed()) refill_window();
}

void Observations::clear(Index first) {
  posterior_->clear();
  items_.clear();
  cells_.clear();
  first_ = first;
  slots_ = entered_ = oldest_ = 0;
  rewards_ = rewards_at_fit_ = fitted_slots_ = 0;
  added_ = 0;
  later_.clear();
  settled_ = true;
  fit_ = SiteFit();
  information_ = 0.0;
}

void Observations::drop_weightless() {
  const Index end = first_ + static_cast<Index>(items_.size());
  while (oldest_ < end && entered_ > 0 &&
         forgetting_.weight(static_cast<double>(round_ - oldest_)) <= kNoWeight) {
    if (slot(oldest_) >= 0) leave(oldest_);
    ++oldest_;
  }
}

void Observations::advance(Index round) {
  const double passed = static_cast<double>(round - round_);
  round_ = round;
  posterior_->advance(round);
  if (likelihood_) {
    if (forgetting_.kind == Forgetting::Kind::weights && passed != 0.0) settled_ = false;
    return;
  }
  if (forgetting_.kind != Forgetting::Kind::weights || passed == 0.0 || entered_ == 0) return;
  posterior_->rescale(forgetting_.weight(passed));
  drop_weightless();
}

const Point* Observations::best() const {
  settle();
  if (compares_) return best_compared();
  const Index slot = posterior_->best_slot();
  const std::size_t number = slot < 0 ? items_.size() : number_of_slot(slot);
  return number < items_.size() ? &items_[number].point : nullptr;
}

// Slots are numbered as observations enter, nearly in the order of the ids. The last result is tried first; then the
// search goes outwards from the slot's number.
std::size_t Observations::number_of_slot(Index slot) const {
  const auto has = [&](std::size_t k) { return k < items_.size() && items_[k].slot == slot; };
  if (has(found_)) return found_;
  const auto guess = static_cast<std::size_t>(slot);
  for (std::size_t step = 0; step <= std::max(guess, items_.size()); ++step) {
    if (has(guess + step)) return found_ = guess + step;
    if (step <= guess && has(guess - step)) return found_ = guess - step;
  }
  return items_.size();
}

// ---- rewards that are not Gaussian measurements -------------------------------------------------

Observations::Observations(std::unique_ptr<Posterior> posterior, const Forgetting& forgetting,
                           LikelihoodPtr likelihood, bool compares, bool variational)
    : posterior_(std::move(posterior)), forgetting_(forgetting), likelihood_(std::move(likelihood)),
      compares_(compares), variational_(variational) {
  if (likelihood_) posterior_->expect_sites(compares_, likelihood_->concave() && !variational_);
}

const Point* Observations::best_compared() const {
  const Point* best = nullptr;
  double largest = -kInf, mean, ignored;
  const auto look = [&](const Point& point) {
    posterior_->at(point, mean, ignored);
    if (mean <= largest) return;
    largest = mean;
    best = &point;
  };
  for (const Item& one : items_) {
    if (!one.known) continue;
    if (one.beside->ranked) {
      for (const Point& point : one.beside->ranked->points) look(point);
      continue;
    }
    look(one.point);
    look(one.beside->other);
  }
  return best;
}

// The number of a functional in the pool; adds it if it is new.
std::size_t Observations::number_of(Functional functional, std::vector<double> key, Pool& pool, Where& where) {
  const auto found = where.emplace(std::move(key), pool.functionals.size());
  if (found.second) {
    pool.functionals.push_back(std::move(functional));
    pool.data.emplace_back();
    pool.awaited.push_back(0.0);
  }
  return found.first->second;
}

// The functional f(point) - f(other). If `sign` is -1 the pool has the opposite difference. `sign` is 0 if the points
// are equal.
PairSite Observations::pair_of(const Point& point, const Point& other, Pool& pool, Where& where) {
  std::vector<double> key = key_of(point), key_of_other = key_of(other);
  if (key == key_of_other) return {};
  const bool turned = key_of_other < key;
  if (turned) std::swap(key, key_of_other);
  key.insert(key.end(), key_of_other.begin(), key_of_other.end());
  const Functional functional{turned ? other : point, turned ? point : other, true};
  return {static_cast<Index>(number_of(functional, std::move(key), pool, where)), turned ? -1.0 : 1.0};
}

void Observations::add_to(Pool& pool, Where& where, const Item& item, double weight) const {
  if (item.beside->ranked) return add_ranking(pool, where, *item.beside->ranked, weight);
  const PairSite pair = pair_of(item.point, item.beside->other, pool, where);
  if (pair.sign == 0.0) return;  // a point compared with itself
  const double value = pair.sign > 0.0 ? item.value : 1.0 - item.value;
  likelihood_->pool(value, item.beside->size, weight, pool.data[static_cast<std::size_t>(pair.functional)]);
}

// Adds the differences of all pairs of points in the ranking.
void Observations::add_ranking(Pool& pool, Where& where, const RankedPoints& ranked, double weight) {
  const std::size_t size = ranked.points.size();
  RankingSites sites{static_cast<Index>(size), ranked.stages, weight, {}};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      sites.pairs.push_back(pair_of(ranked.points[i], ranked.points[j], pool, where));
    }
  }
  pool.rankings.push_back(std::move(sites));
}

// The first item that a window leaves in the posterior (0 without one).
std::size_t Observations::first_kept() const {
  if (!windowed()) return 0;
  std::size_t k = items_.size();
  for (Index left = forgetting_.window; k > 0 && left > 0; --k) {
    if (items_[k - 1].known) --left;
  }
  return k;
}

// With many points a new fit after each reward would be slow. Between two fits, sites are added one by one. The choice
// depends on the numbers of rewards and points alone, so that the same events have the same fits whenever the posterior
// is read.
bool Observations::may_follow() const {
  const auto added = static_cast<Index>(later_.size());
  return static_cast<Index>(cells_.size()) >= kFollowFrom && added < rewards_at_fit_ / kFollowShare &&
         likelihood_->concave() && !pairs() && !variational_ && std::isnan(norm_bound_) && !leader_ &&
         forgetting_.kind == Forgetting::Kind::none && posterior_->takes_further_sites();
}

// The next fit is to all rewards so far.
void Observations::fit_anew() {
  for (const Index id : later_) item(id).later = false;
  later_.clear();
  rewards_at_fit_ = rewards_;
  settled_ = false;
}

// The site of a further reward by Laplace's approximation given all sites before. The posterior mean is then the one
// after a step of Newton's method from the mean before; the other sites stay (assumed density filtering).
void Observations::add_site(Index id) const {
  const Item& one = items_[static_cast<std::size_t>(id - first_)];
  double mean, sd;
  posterior_->at(one.point, mean, sd);
  Likelihood::Data data;
  likelihood_->pool(one.value, one.beside->size, 1.0, data);
  const Site site = site_of(*likelihood_, data, mean, sd * sd);
  posterior_->add({one.point, site.value, posterior_->noise_var() * site.weight, id, false});
  one.slot = static_cast<std::int32_t>(fitted_slots_ + static_cast<Index>(added_));
}

double Observations::site_error() const {
  settle();
  if (later_.empty()) return 0.0;
  struct Prediction {
    const Point* point;
    double mean, sd;
  };
  std::vector<Prediction> latest;
  for (std::size_t k = items_.size(); k-- > 0 && latest.size() < kErrorPoints;) {
    if (items_[k].known) latest.push_back({&items_[k].point, 0.0, 0.0});
  }
  for (Prediction& one : latest) posterior_->at(*one.point, one.mean, one.sd);
  settled_ = false;
  fit_now(Rewards::all);
  settled_ = false;
  double out = 0.0, mean, sd;
  for (const Prediction& one : latest) {
    posterior_->at(*one.point, mean, sd);
    if (sd > 0.0) out = std::max({out, std::abs(one.mean - mean) / sd, std::abs(one.sd / sd - 1.0)});
  }
  return out;
}

Observations::Pool Observations::pool() const {
  if (!later_.empty()) settled_ = false;  // the slots will be those of this pool
  return pool_for_fit(Rewards::all);
}

// Functionals in the order of the arms; on other domains in the order of the first queries. Those with pending rewards
// only come last. A sum per point is all that is made of each item: long runs have many. Rewards after the last fit are
// left out, unless all are wanted.
Observations::Pool Observations::pool_for_fit(Rewards which) const {
  if (pairs()) return pool_of_pairs();
  struct Cell {
    Likelihood::Data data;
    double awaited = 0.0;
    std::size_t first = 0, first_known = 0;  // items, counted from 1; 0: none
  };
  std::vector<Cell> cells(cells_.size());
  const std::size_t begin = first_kept();
  for (std::size_t k = 0; k < items_.size(); ++k) {
    const Item& one = items_[k];
    one.slot = -1;
    if (k < begin || !one.known || (one.later && which == Rewards::at_fit)) continue;
    const double weight = forgetting_.weight(static_cast<double>(round_ - first_ - static_cast<Index>(k)));
    if (weight <= kNoWeight) continue;
    Cell& cell = cells[static_cast<std::size_t>(one.cell)];
    one.slot = one.cell;
    if (cell.first == 0) cell.first = k + 1;
    if (one.awaited) {
      cell.awaited += weight;
      continue;
    }
    if (cell.first_known == 0) cell.first_known = k + 1;
    likelihood_->pool(one.value, one.beside->size, weight, cell.data);
  }
  std::vector<const Cell*> order;
  for (const Cell& cell : cells) {
    if (cell.first > 0) order.push_back(&cell);
  }
  const auto place = [this](const Cell* cell) {
    const std::size_t first = cell->first_known > 0 ? cell->first_known : cell->first;
    return std::make_tuple(cell->first_known == 0, items_[first - 1].point.row, first);
  };
  put_in_order(order, [&](const Cell* a, const Cell* b) { return place(a) < place(b); });
  Pool pool;
  std::vector<std::int32_t> slots(cells.size(), -1);
  for (const Cell* cell : order) {
    slots[static_cast<std::size_t>(cell - cells.data())] = static_cast<std::int32_t>(pool.functionals.size());
    const std::size_t first = cell->first_known > 0 ? cell->first_known : cell->first;
    pool.functionals.push_back({items_[first - 1].point, Point(), false});
    pool.data.push_back(cell->data);
    pool.awaited.push_back(cell->awaited);
  }
  for (const Item& one : items_) {
    if (one.slot >= 0) one.slot = slots[static_cast<std::size_t>(one.slot)];
  }
  return pool;
}

// The same for comparisons and rankings.
Observations::Pool Observations::pool_of_pairs() const {
  std::vector<const Item*> items;
  std::vector<double> weights;
  for (std::size_t k = items_.size(); k-- > 0;) {
    const Item& one = items_[k];
    one.slot = -1;
    if (!one.known || (windowed() && static_cast<Index>(items.size()) >= forgetting_.window)) continue;
    const double weight = forgetting_.weight(static_cast<double>(round_ - first_ - static_cast<Index>(k)));
    if (weight <= kNoWeight) continue;
    items.push_back(&one);
    weights.push_back(weight);
  }
  std::reverse(items.begin(), items.end());
  std::reverse(weights.begin(), weights.end());
  const auto order = stable_order(static_cast<Index>(items.size()), [&](Index i, Index j) {
    const Item &a = *items[static_cast<std::size_t>(i)], &b = *items[static_cast<std::size_t>(j)];
    return a.awaited != b.awaited ? b.awaited : a.point.row < b.point.row;
  });
  Pool pool;
  Where where;
  for (const Index i : order) {
    const auto k = static_cast<std::size_t>(i);
    add_to(pool, where, *items[k], weights[k]);
  }
  return pool;
}

void Observations::settle() const {
  if (!likelihood_) return;
  if (!settled_) fit_now(Rewards::at_fit);
  for (; added_ < later_.size(); ++added_) add_site(later_[added_]);
}

void Observations::fit_now(Rewards which) const {
  Pool all = pool_for_fit(which);
  std::size_t reported = 0;
  while (reported < all.data.size() && (likelihood_->ranks() || !all.data[reported].empty())) ++reported;
  const std::vector<Functional> known(all.functionals.begin(),
                                      all.functionals.begin() + static_cast<std::ptrdiff_t>(reported));
  all.data.resize(reported);
  fit_to(known, all);
  expect_awaited(all);
  fitted_slots_ = static_cast<Index>(all.functionals.size());
  added_ = 0;
  settled_ = true;
}

// Repeats the fit until the engine's prior is accurate enough at the fitted sites. (A leader's fit is used unchanged,
// even if the leader's engine has chosen another basis: both approximate the same mean.)
void Observations::fit_to(const std::vector<Functional>& known, const Pool& all) const {
  std::unique_ptr<SiteTerms> terms;
  if (likelihood_->ranks()) terms = std::make_unique<RankingTerms>(all.rankings);
  else terms = std::make_unique<PooledTerms>(*likelihood_, all.data);
  for (bool again = false;; again = true) {
    const SitePrior prior = posterior_->site_prior(known, *terms, again);
    SiteFit sites;
    if (leader_) {
      leader_->settle();
      sites = fit_ = leader_->fit_;
      narrow(sites, prior, all.data);
    } else {
      sites = fit_ = fit_with(prior, *terms);
    }
    if (posterior_->set_sites(known, sites)) return;
  }
}

SiteFit Observations::fit_with(const SitePrior& prior, const SiteTerms& terms) const {
  SiteSystem system(prior);
  const SiteFit fit = variational_ ? fit_variational(system, terms)
                      : std::isnan(norm_bound_) ? fit_sites(system, terms)
                                                : fit_within(prior, system, terms, norm_bound_);
  information_ = 0.0;
  if (informs_ && system.size() > 0 && likelihood_->concave() && !likelihood_->ranks()) {
    information_ = -2.0 * (evidence_bound(system, fit, terms) + fit.penalty);
  }
  return fit;
}

// Sites of pending rewards have the expected weight at the present mean, so that the mean does not change.
void Observations::expect_awaited(const Pool& all) const {
  SiteFit sites = fit_;
  const std::size_t reported = static_cast<std::size_t>(sites.f.size()), size = all.functionals.size();
  if (std::all_of(all.awaited.begin(), all.awaited.end(), [](double w) { return w == 0.0; })) return;
  VectorXd f(static_cast<Index>(size));
  sites.weight.conservativeResize(f.size());
  sites.weighted.conservativeResize(f.size());
  for (std::size_t k = 0; k < size; ++k) {
    const Index i = static_cast<Index>(k);
    if (k < reported) {
      f[i] = sites.f[i];
    } else {
      double ignored;
      posterior_->at(all.functionals[k].point, f[i], ignored);
      sites.weight[i] = sites.weighted[i] = 0.0;
    }
    const double weight = all.awaited[k] * likelihood_->expected_weight(f[i]);
    sites.weight[i] += weight;
    sites.weighted[i] += weight * f[i];
  }
  sites.f = f;
  posterior_->set_awaited(all.functionals, sites);
}

// The curvature of J between its minimiser and every f of norm at most B; see GlmWidth.
void Observations::narrow(SiteFit& sites, const SitePrior& prior, const std::vector<Likelihood::Data>& data) const {
  const VectorXd variance = prior.variance();
  for (Index i = 0; i < sites.f.size(); ++i) {
    const double reach = norm_bound_ * std::sqrt(variance[i]), mean = prior.mean[i];
    const double weight = likelihood_->least_curvature(sites.f[i], mean - reach, mean + reach,
                                                       data[static_cast<std::size_t>(i)]);
    sites.weight[i] = std::max(weight, kLeastWeight);
    sites.weighted[i] = sites.weight[i] * sites.f[i] + sites.alpha[i];
  }
}

// (Of all rewards, also those after the last fit.)
double Observations::information() const {
  if (!informs_) settled_ = false;
  informs_ = true;
  if (later_.empty()) settle();
  else fit_now(Rewards::all);
  if (!later_.empty()) settled_ = false;
  return information_;
}

}  // namespace gpb
