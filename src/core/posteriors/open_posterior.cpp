// Functions of open_posterior.h: the posterior over inputs that are not known in advance: the dense or the low-rank
// engine behind the interface of a posterior. Uses linalg/ and kernels/.
#include "posteriors/open_posterior.h"

#include "linalg/floors.h"
#include "linalg/products.h"
#include "posteriors/joint_draw.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kFeatures = 1024;  // for the prior part of a path
constexpr Index kFirstTrial = 128;  // below this size the dense engine is fast
// The low-rank engine starts below kEnterShare, the ratio of rank to observations, and is given up above kLeaveShare.
constexpr double kEnterShare = 0.5;
constexpr double kLeaveShare = 0.7;
constexpr Index kMostDense = 2500;   // from this number of observations on a sparse basis is possible
constexpr Index kSparseRank = 1000;  // its size
constexpr Index kSearchedRank = 500;  // largest basis tried with fewer observations, if a sparse one is possible later
// Above kFewObservations observations, runs of more than kRun without a choice in between are added together.
constexpr Index kFewObservations = 300, kRun = 64;
constexpr Index kMostDrawn = 5000;  // no joint draw of more rows
constexpr Index kSketchFrom = 200;
constexpr double kSketchAccuracy = 0.2;
constexpr Index kFewSites = 256;   // below this number the dense engine is fast
constexpr Index kFewBoundedSites = 32;  // the same for a kernel of bounded rank
constexpr int kSiteTries = 5;      // attempts to find a basis for sites
constexpr int kSiteAims = 2;       // attempts with a smaller aim

}  // namespace

OpenEngine OpenEngine::of(const std::string& name, double accuracy) {
  OpenEngine out;
  out.accuracy = accuracy;
  if (name == "dense") out.choice = Choice::dense;
  if (name == "lowrank") out.choice = Choice::lowrank;
  return out;
}

OpenPosterior::OpenPosterior(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                             const Forgetting& forgetting, const OpenEngine& engine)
    : prior_mean_(std::move(prior_mean)), engine_(engine), dense_(std::move(kernel), noise_var) {
  if (forgetting.fades()) dense_.set_fading(forgetting.rate);
  begin();
}

// ---- updates by observations ----------------------------------------------

void OpenPosterior::begin() {
  entries_.clear();
  dense_.clear();
  stale_ = false;
  whole_ = 0;
  bulk_ = undecided_ = false;
  run_ = 0;
  kept_ = 0;
  low_.reset();
  sketch_.reset();
  site_means_.resize(0);
  // It is not yet known here whether there will be comparisons.
  if (!compares_ && may_be_low_rank() && engine_.choice == OpenEngine::Choice::lowrank) low_ = new_low_rank();
  next_trial_ = kFirstTrial;
}

void OpenPosterior::enter_dense(Entry& entry) const {
  entry.at = dense_.size();
  dense_.add(entry.x, entry.centred, noise_scale(entry), entry.round);
}

void OpenPosterior::enter(Entry& entry) {
  if (low_) {
    VectorXd own(1);
    dense_.kernel().diagonal(as_rows(entry.x), own);
    check_noise(noise_var(), own[0]);
    entry.at = low_->size();
    low_->add(entry.x, entry.centred, noise_scale(entry));
    if (!sketch_) return;
    entry.sketched = sketch_->size();
    sketch_->add(entry.x, 0.0, noise_scale(entry));
  } else if (whole_ < 0) {
    stale_ = true;
  } else if (!stale_) {
    enter_dense(entry);
  }
}

void OpenPosterior::become_stale() {
  stale_ = true;
  // With a prior that drifts, all observations are added one by one.
  whole_ = dense_.fades() ? 0 : -1;
}

bool OpenPosterior::puts_off() {
  const bool can = !low_ && !sites_ && !dense_.fades();
  bulk_ = bulk_ || (can && run_ > kRun && kept_ > kFewObservations);
  return bulk_;
}

void OpenPosterior::unsettle() {
  if (undecided_) return;
  undecided_ = true;
  for (Entry& entry : entries_) entry.at = entry.sketched = -1;
  low_.reset();
  sketch_.reset();
  become_stale();
}

void OpenPosterior::settle() {
  if (!undecided_) return;
  undecided_ = false;
  if (may_be_low_rank()) try_low_rank();
}

void OpenPosterior::asked(bool chosen) {
  if (!chosen && bulk_) return;
  if (chosen) {
    settle();
    bulk_ = false;
    run_ = 0;
  }
  if (whole_ < 0) whole_ = static_cast<Index>(entries_.size());
}

void OpenPosterior::add(const Observation& o) {
  const double prior = prior_mean_.at(o.point.x);
  entries_.push_back({o.point.x, o.value - prior, prior, o.weight, o.round, -1, true, log_scale_});
  site_means_.resize(0);
  ++kept_;
  ++run_;
  if (puts_off()) return unsettle();
  enter(entries_.back());
  review();
}

void OpenPosterior::set_value(Index slot, double y) {
  Entry& entry = entries_[static_cast<std::size_t>(slot)];
  entry.centred = y - entry.prior;
  if (bulk_) return unsettle();
  if (entry.at < 0) return;
  if (low_) low_->set_target(entry.at, entry.centred);
  else if (!stale_) dense_.set_target(entry.at, entry.centred);
  review();
}

void OpenPosterior::set_values(const std::vector<double>& y) {
  if (!low_ || bulk_) {
    for (std::size_t k = 0; k < y.size(); ++k) set_value(static_cast<Index>(k), y[k]);
    return;
  }
  VectorXd target = VectorXd::Zero(low_->size());
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    Entry& entry = entries_[k];
    entry.centred = y[k] - entry.prior;
    if (entry.at >= 0) target[entry.at] = entry.centred;
  }
  low_->set_targets(target);
  review();
}

void OpenPosterior::drop(Index slot) {
  Entry& entry = entries_[static_cast<std::size_t>(slot)];
  if (!entry.kept) return;
  entry.kept = false;
  --kept_;
  if (bulk_) {
    entry.at = -1;
    return unsettle();
  }
  if (low_) {
    low_->drop(entry.at);
    if (sketch_) sketch_->drop(entry.sketched);
  } else if (whole_ >= 0 && slot >= whole_ && is_last(slot)) {
    if (!stale_) dense_.truncate(entry.at);
  } else {
    become_stale();
  }
  entry.at = entry.sketched = -1;
  review();
}

void OpenPosterior::rescale(double factor) {
  log_scale_ += std::log(factor);
  if (bulk_) return unsettle();
  if (low_) {
    change_noise(*low_, &Entry::at);
    if (sketch_) change_noise(*sketch_, &Entry::sketched);
    review();
  } else {
    become_stale();
  }
}

// Are all later observations dropped?
bool OpenPosterior::is_last(Index slot) const {
  const auto after = entries_.begin() + slot + 1;
  return std::none_of(after, entries_.end(), [](const Entry& entry) { return entry.kept; });
}

void OpenPosterior::change_noise(LowRankPosterior& low, Index Entry::*number) const {
  VectorXd scale = VectorXd::Ones(low.size());
  for (const Entry& entry : entries_) {
    if (entry.*number >= 0) scale[entry.*number] = noise_scale(entry);
  }
  low.set_noise_scales(scale);
}

void OpenPosterior::clear() { begin(); }

// ---- sites ------------------------------------------------------------------

void OpenPosterior::expect_sites(bool compares, bool modes) {
  if (dense_.fades()) throw_invalid("a drifting prior supports rewards with Gaussian noise only");
  sites_ = true;
  if (!modes) engine_.choice = OpenEngine::Choice::dense;
  engine_.answers = LowRankAnswers::from_basis;
  if (compares) {
    compares_ = true;
    differences_ = std::make_shared<DifferenceKernel>(dense_.kernel().clone());
    dense_ = DensePosterior(differences_, noise_var());
    dense_.take_differences();
  }
  begin();
}

Points OpenPosterior::inputs_of(const std::vector<Functional>& functionals) const {
  const Index t = static_cast<Index>(functionals.size());
  if (t == 0) return Points(0, 0);
  const Index d = functionals[0].point.x.size();
  if (differences_) differences_->set_inputs(d);
  Points X(t, differences_ ? 2 * d : d);
  for (Index i = 0; i < t; ++i) {
    const Functional& one = functionals[static_cast<std::size_t>(i)];
    X.row(i).head(d) = one.point.x.transpose();
    if (differences_) X.row(i).tail(d) = one.other.x.transpose();
  }
  return X;
}

VectorXd OpenPosterior::prior_mean_of(const std::vector<Functional>& functionals) const {
  VectorXd out(static_cast<Index>(functionals.size()));
  for (Index i = 0; i < out.size(); ++i) {
    const Functional& one = functionals[static_cast<std::size_t>(i)];
    out[i] = prior_mean_.at(one.point.x) - (differences_ ? prior_mean_.at(one.other.x) : 0.0);
  }
  return out;
}

// Depends on the current sites only, not on earlier ones.
bool OpenPosterior::wants_low_rank_sites(Index count) const {
  if (!may_be_low_rank() || site_low_rank_fails_ || count == 0) return false;
  const Index few = engine_.bounded_rank ? kFewBoundedSites : kFewSites;
  return engine_.choice == OpenEngine::Choice::lowrank || count >= few;
}

// The low-rank prior is chosen by the weights of the rewards at the prior mean. If it is not accurate enough for their
// final weights (set_sites()), it keeps its basis and gets more points.
SitePrior OpenPosterior::site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) {
  SitePrior out;
  const Points X = inputs_of(functionals);
  out.mean = prior_mean_of(functionals);
  if (!again) {
    begin();
    site_low_rank_fails_ = false;
    site_aim_ = kInf;
    site_tries_ = 0;
  }
  if (wants_low_rank_sites(X.rows())) {
    if (!again) {
      VectorXd weight, ignored;
      terms.sites(out.mean, weight, ignored);
      choose_site_basis(X, weight);
    }
    if (low_) {
      out.features = site_features_ = low_->features();
      out.left_out = low_->left_out();
      return out;
    }
  }
  out.gram = X.rows() > 0 ? dense_.kernel().gram(X) : MatrixXd(0, 0);
  return out;
}

// The certificate is for sites that move with the mean, see site_error(). So the aim of the engine is stricter.
void OpenPosterior::choose_site_basis(const Points& X, const VectorXd& weight) {
  VectorXd variance(X.rows());
  dense_.kernel().diagonal(X, variance);
  site_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
  const double aim = std::min(engine_.accuracy, engine_.aim);
  site_aim_ = std::min(site_aim_, 0.9 * aim / (1.0 + 2.0 * site_scale_));
  const bool whole = engine_.choice == OpenEngine::Choice::lowrank;
  low_ = std::make_unique<LowRankPosterior>(dense_.kernel().clone(), noise_var(), site_aim_,
                                            whole ? 1.0 : kEnterShare);
  if (compares_) low_->take_differences();
  low_->add(X, VectorXd::Zero(X.rows()), (noise_var() * weight).cwiseInverse());
  if (low_->rank() == 0 || !serves(*low_, kEnterShare, X.rows())) low_.reset();
}

// Let V be the kernel's space and J(f) = -sum l_i(f_i) + |f - m|^2 / 2. Let f~ minimise J in the span of the basis, and
// let g be the gradient of J at f~. It is the part of sum l_i'(f~) k(x_i, .) outside the span. Its length is the g of
// the engine's certificate, which bounds the change of the sites' mean.
// Let f^ minimise J over all of V. (Alternatively both minimise over a ball, with the sites of the prior 1 / (1 + mu)
// times as large; then multiply g by the `shrinkage` 1 + mu.) J is strongly convex, so |f^ - f~| <= |g|. No functional
// moves by more than s = |g| * (largest prior sd), and no weight by more than a factor e^(growth s). The Hessians
// between f~ and f^ are therefore at least e^(-growth s) times that at f^. It follows that
//   |f^(x) - f~(x)| <= e^(growth s / 2) |g| (sd at x of Laplace's posterior).
// The sds by the weights of f~ and of f^ differ by at most another factor e^(growth s / 2).
LowRankError OpenPosterior::site_error() const {
  LowRankError out = low_->certificate_of_basis();
  out.mean *= site_shrinkage_;
  const double moved = site_scale_ * out.mean;
  const double factor = std::exp(0.5 * (site_growth_ + moved) * moved);
  out.mean *= factor;
  out.sd = (1.0 + out.sd) * factor - 1.0;
  return out;
}

SiteGap OpenPosterior::site_gap() const {
  if (!low_ || !sites_ || low_->size() == 0) return {};
  const LowRankError own = low_->certificate_of_basis();
  return {site_shrinkage_ * own.mean, own.sd};
}

EngineSummary OpenPosterior::summary() const {
  if (!low_) return {"dense", settled().size()};
  if (low_->sparse()) return {"sparse", low_->rank(), kNaN};
  return {"lowrank", low_->rank(), sites_ ? site_error().largest() : low_->certificate().largest()};
}

// Is the basis with which the sites were fitted accurate enough? If not, the sites have to be fitted again with the
// extended basis.
bool OpenPosterior::take_low_rank_sites(const SiteFit& fit, const SiteMeasurements& measurements) {
  low_->set_observations(measurements.y, measurements.scale);
  site_growth_ = fit.weight_growth;
  site_shrinkage_ = fit.shrinkage;
  if (site_error().largest() <= engine_.accuracy) return true;
  low_->improve();
  const MatrixXd features = low_->features();
  const bool same = features.cols() == site_features_.cols() && features == site_features_;
  if (same && site_error().largest() <= engine_.accuracy) return true;
  ++site_tries_;
  if (!same && site_tries_ < kSiteTries && serves(*low_, kEnterShare, measurements.y.size())) return false;
  // If the basis contains all rows, it cannot be improved.
  if (same && low_->rank() >= low_->rows()) return true;
  if (site_tries_ < kSiteTries + kSiteAims) {
    site_tries_ = std::max(site_tries_, kSiteTries);
    site_aim_ *= 0.1;
    choose_site_basis(low_->observed_points(), (noise_var() * measurements.scale).cwiseInverse());
    if (low_) return false;
  }
  low_.reset();
  site_low_rank_fails_ = true;
  return false;
}

OpenPosterior::SiteMeasurements OpenPosterior::measurements_of(const std::vector<Functional>& functionals,
                                                       const VectorXd& weight, const VectorXd& weighted) const {
  SiteMeasurements out{inputs_of(functionals), prior_mean_of(functionals), VectorXd(), VectorXd()};
  out.y = over(weighted, weight) - out.prior;
  out.scale = (noise_var() * weight).cwiseInverse();
  return out;
}

bool OpenPosterior::set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) {
  const SiteMeasurements measurements = measurements_of(functionals, fit.weight, fit.weighted);
  if (low_ && measurements.X.rows() > 0 && !take_low_rank_sites(fit, measurements)) return false;
  enter_sites(measurements);
  site_means_ = fit.f;
  return true;
}

void OpenPosterior::set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) {
  const VectorXd weight = fit.weight.cwiseMax(kLeastWeight);
  const SiteMeasurements measurements = measurements_of(functionals, weight, fit.weighted);
  if (low_) choose_site_basis(measurements.X, weight);
  if (low_) {
    low_->set_observations(measurements.y, measurements.scale);
    low_->improve();
  }
  enter_sites(measurements);
  site_means_ = fit.f;
}

void OpenPosterior::enter_sites(const SiteMeasurements& measurements) {
  entries_.clear();
  for (Index i = 0; i < measurements.X.rows(); ++i) {
    entries_.push_back({row_of(measurements.X, i), measurements.y[i], measurements.prior[i],
                        1.0 / measurements.scale[i], 0, i,
                        true, log_scale_});
  }
  kept_ = measurements.X.rows();
  dense_.clear();
  if (kept_ > 0 && !low_) dense_.add(measurements.X, measurements.y, measurements.scale);
}

// ---- choice of the engine -----------------------------------------------------------

// A prior that drifts is rough in time, so a low rank is not enough.
bool OpenPosterior::may_be_low_rank() const {
  return engine_.choice != OpenEngine::Choice::dense && !dense_.fades();
}

std::unique_ptr<LowRankPosterior> OpenPosterior::new_low_rank() const {
  return std::make_unique<LowRankPosterior>(dense_.kernel().clone(), noise_var(),
                                            std::min(engine_.accuracy, engine_.aim), largest_share(),
                                            engine_.answers);
}

Index OpenPosterior::later_trial() const {
  const Index later = kept_ + kept_ / 2;
  return engine_.sparse && kept_ < kMostDense ? std::min(later, kMostDense) : later;
}

double OpenPosterior::largest_share() const {
  if (engine_.choice == OpenEngine::Choice::lowrank) return 1.0;
  if (!engine_.sparse || kept_ <= kSearchedRank) return kLeaveShare;
  const Index most = kept_ >= kMostDense ? kSparseRank : kSearchedRank;
  return std::min(kLeaveShare, static_cast<double>(most) / static_cast<double>(kept_));
}

bool OpenPosterior::may_be_sparse() const {
  return engine_.sparse && engine_.choice == OpenEngine::Choice::automatic && !sites_ && kept_ >= kMostDense;
}

bool OpenPosterior::become_sparse(std::unique_ptr<LowRankPosterior>& low) {
  if (!may_be_sparse()) return false;
  low->make_sparse(kSparseRank);
  sketch_.reset();
  return true;
}

bool OpenPosterior::serves(const LowRankPosterior& low, double largest_share, Index observations) const {
  if (low.certificate().largest() > engine_.accuracy) return false;
  return engine_.choice == OpenEngine::Choice::lowrank ||
         static_cast<double>(low.rank()) <= largest_share * static_cast<double>(observations);
}

// Leaves the low-rank engine as soon as it cannot keep its accuracy or is more expensive. Tries it again when the
// number of observations has grown by half.
void OpenPosterior::review() {
  if (!may_be_low_rank()) return;
  if (low_ && low_->sparse()) return;
  if (sites_ && !low_) return;  // set_sites() has chosen
  if (low_) {
    using Search = OpenEngine::Search;
    if (engine_.search == Search::new_points && low_->order_is_old()) low_->put_in_order();
    const bool large = low_->rank() >= kSketchFrom;
    if (!serves(*low_, kLeaveShare, kept_)) {
      if (!become_sparse(low_)) leave_low_rank();
    } else if (engine_.search == Search::local_searches && large && !sketch_) {
      begin_sketch();
    }
  } else if (kept_ >= next_trial_) {
    try_low_rank();
  }
}

void OpenPosterior::leave_low_rank() {
  for (Entry& entry : entries_) entry.at = entry.sketched = -1;
  low_.reset();
  sketch_.reset();
  become_stale();
  next_trial_ = std::max(kFirstTrial, later_trial());
}

void OpenPosterior::try_low_rank() {
  next_trial_ = later_trial();
  auto trial = new_low_rank();
  fill(*trial, &Entry::at, 1.0);
  if (serves(*trial, kEnterShare, kept_) || become_sparse(trial)) {
    low_ = std::move(trial);
    dense_.clear();
    stale_ = false;
    review();
  } else {
    become_stale();  // the entries' numbers belonged to the trial
  }
}

// An sd within a few percent needs only a small part of the points.
void OpenPosterior::begin_sketch() {
  sketch_ = std::make_unique<LowRankPosterior>(low_->basis().kernel_pointer(), noise_var(),
                                               kSketchAccuracy);
  fill(*sketch_, &Entry::sketched, 0.0);
}

// Adds all kept observations, with values multiplied by `value_scale`.
void OpenPosterior::fill(LowRankPosterior& low, Index Entry::*number, double value_scale) {
  const std::vector<Entry*> kept = kept_entries();
  Points X(kept_, kept[0]->x.size());
  VectorXd y(kept_), scale(kept_);
  for (Entry& entry : entries_) entry.*number = -1;
  for (Index i = 0; i < kept_; ++i) {
    Entry& entry = *kept[static_cast<std::size_t>(i)];
    set_row(X, i, entry.x);
    y[i] = value_scale * entry.centred;
    scale[i] = noise_scale(entry);
    entry.*number = i;
  }
  low.add(X, y, scale);
}

std::vector<OpenPosterior::Entry*> OpenPosterior::kept_entries() const {
  std::vector<Entry*> out;
  for (Entry& entry : entries_) {
    if (entry.kept) out.push_back(&entry);
  }
  return out;
}

const DensePosterior& OpenPosterior::settled() const {
  if (!stale_) return dense_;
  dense_.clear();
  stale_ = false;
  for (Entry& entry : entries_) entry.at = -1;
  const auto whole = whole_ < 0 ? entries_.end() : entries_.begin() + whole_;
  enter_together(entries_.begin(), whole);
  for (auto entry = whole; entry != entries_.end(); ++entry) {
    if (entry->kept) enter_dense(*entry);
  }
  return dense_;
}

// Adds the entries together, by matrix products.
void OpenPosterior::enter_together(std::vector<Entry>::iterator first, std::vector<Entry>::iterator last) const {
  const Index m = std::count_if(first, last, [](const Entry& entry) { return entry.kept; });
  if (m == 0) return;
  Points X(m, first->x.size());
  VectorXd y(m), scale(m);
  Index i = 0;
  for (auto entry = first; entry != last; ++entry) {
    if (!entry->kept) continue;
    set_row(X, i, entry->x);
    y[i] = entry->centred;
    scale[i] = noise_scale(*entry);
    entry->at = i++;
  }
  dense_.add(X, y, scale);
}

// ---- predictions ------------------------------------------------------------

void OpenPosterior::at(const Point& point, double& mean, double& sd) const {
  double variance = 0.0;
  ask([&](const auto& known) { known.predict_at(point.x, mean, variance); });
  mean += prior_mean_.at(point.x);
  sd = std::sqrt(std::max(0.0, variance));
}

Moments OpenPosterior::moments(const Candidates& candidates) const {
  if (!candidates.token) {
    predict(candidates.X, mean_, variance_);
    return {mean_.data(), variance_.data()};
  }
  if (cached_ != candidates.token) {
    cache_.reset();
    low_cache_.reset();
    cached_ = candidates.token;
    cached_prior_ = prior_mean_.at(candidates.X);
  }
  const auto follow = [&](auto& cache, auto& other, const auto& known) -> Moments {
    using Cache = typename std::decay_t<decltype(cache)>::element_type;
    other.reset();
    if (!cache) cache = std::make_unique<Cache>(candidates.X);
    cache->follow(known);
    mean_ = cache->mean() + cached_prior_;
    return {mean_.data(), cache->variance().data()};
  };
  return low_ ? follow(low_cache_, cache_, *low_) : follow(cache_, low_cache_, settled());
}

void OpenPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  ask([&](const auto& known) { known.predict(X, mean, variance); });
  mean += prior_mean_.at(X);
}

VectorXd OpenPosterior::mean_of(const Points& X) const {
  return ask([&](const auto& known) { return known.predict_mean(X); }) + prior_mean_.at(X);
}

double OpenPosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  const double above = ask([&](const auto& known) { return known.mean_and_gradient(x, gradient); });
  prior_mean_.add_slope(x, gradient);
  return above + prior_mean_.at(x);
}

void OpenPosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                          VectorXd& dsd) const {
  ask([&](const auto& known) { known.predict_gradient(x, mean, sd, dmean, dsd); });
  prior_mean_.add_slope(x, dmean);
  mean += prior_mean_.at(x);
}

MatrixXd OpenPosterior::covariance(const Candidates& candidates,
                                   const std::vector<Index>& some) const {
  Points X(static_cast<Index>(some.size()), candidates.X.cols());
  for (Index k = 0; k < X.rows(); ++k) {
    copy_row(X, k, candidates.X, some[static_cast<std::size_t>(k)]);
  }
  return ask([&X](const auto& known) { return known.covariance(X); });
}

namespace {

// k(x, Z) - k(x, P) weights, with P the points on which the posterior is based.
class KernelCovariance final : public CrossCovariance {
 public:
  KernelCovariance(const Kernel& kernel, Points fixed, Points base, MatrixXd weights)
      : kernel_(kernel), fixed_(std::move(fixed)), base_(std::move(base)), weights_(std::move(weights)) {}
  MatrixXd among_fixed() const override {
    const MatrixXd out = at(fixed_);
    return 0.5 * (out + out.transpose());
  }
  MatrixXd of(const Candidates& candidates) const override { return at(candidates.X); }
  MatrixXd at(const Points& X) const override {
    MatrixXd out(X.rows(), fixed_.rows());
    for (Index first = 0; first < X.rows(); first += kBlock) {
      const Points some = X.middleRows(first, std::min(kBlock, X.rows() - first));
      MatrixXd part = kernel_.gram(some, fixed_);
      if (base_.rows() > 0) subtract_product(part, kernel_.gram(some, base_), weights_);
      out.middleRows(first, some.rows()) = part;
    }
    return out;
  }
  VectorXd at(const VectorXd& x, MatrixXd& gradient) const override {
    VectorXd out(fixed_.rows());
    kernel_.cross(x, fixed_, out);
    kernel_.input_gradient(x, fixed_, gradient);
    if (base_.rows() == 0) return out;
    VectorXd cross(base_.rows());
    MatrixXd slope;
    kernel_.cross(x, base_, cross);
    kernel_.input_gradient(x, base_, slope);
    add_multiple_transposed(out, -1.0, weights_, cross);
    subtract_crossprod(gradient, weights_, slope);
    return out;
  }

 private:
  static constexpr Index kBlock = 256;
  const Kernel& kernel_;
  Points fixed_, base_;
  MatrixXd weights_;
};

Points base_of(const DensePosterior& known) { return known.points(); }
Points base_of(const LowRankPosterior& known) { return known.basis().points(); }

}  // namespace

std::unique_ptr<CrossCovariance> OpenPosterior::covariances_with(const std::vector<const Point*>& fixed) const {
  if (differences_) throw_invalid("no covariances of points are available from comparisons");
  Points Z(static_cast<Index>(fixed.size()), fixed.empty() ? 0 : fixed[0]->x.size());
  for (Index j = 0; j < Z.rows(); ++j) set_row(Z, j, fixed[static_cast<std::size_t>(j)]->x);
  return ask([&](const auto& known) -> std::unique_ptr<CrossCovariance> {
    return std::make_unique<KernelCovariance>(dense_.kernel(), Z, base_of(known), known.cross_weights(Z));
  });
}

void OpenPosterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                                VectorXd& variance) const {
  if (!differences_) return Posterior::differences(candidates, from, mean, variance);
  const Index n = candidates.X.rows(), d = from.x.size();
  differences_->set_inputs(d);
  Points X(n, 2 * d);
  X.leftCols(d) = candidates.X;
  X.rightCols(d) = as_rows(from.x, n);
  ask([&](const auto& known) { known.predict(X, mean, variance); });
  mean += prior_mean_.at(candidates.X);
  mean.array() -= prior_mean_.at(from.x);
}

bool OpenPosterior::can_sketch() const {
  return sketch_ && 2 * sketch_->rank() < low_->rank();
}

void OpenPosterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                           VectorXd& dsd) const {
  if (!can_sketch()) return local(x, mean, sd, dmean, dsd);
  double ignored;
  VectorXd no_gradient;
  sketch_->predict_gradient(x, ignored, sd, no_gradient, dsd);
  mean = mean_of(x, dmean);
}

void OpenPosterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  if (!low_) return predict(X, mean, variance);
  if (can_sketch()) {
    sketch_->predict(X, mean, variance);
    mean = mean_of(X);
  } else {
    low_->predict_by_basis(X, mean, variance);
    mean += prior_mean_.at(X);
  }
}

// For the dense engine without fading the means are y_i - lambda_i alpha_i.
VectorXd OpenPosterior::means_at_observations() const {
  if (site_means_.size() > 0) return site_means_;
  VectorXd out;
  if (low_) {
    out = low_->means_at_observations();
  } else if (const DensePosterior& known = settled(); known.fades() && known.size() > 0) {
    VectorXd ignored;
    known.predict(known.points(), out, ignored);
  } else {
    out.resize(known.size());
    for (Index i = 0; i < known.size(); ++i) {
      const double noise = known.noise_var() * known.noise_scale(i);
      out[i] = known.target(i) - noise * known.weights()[i];
    }
  }
  for (const Entry& entry : entries_) {
    if (entry.at >= 0) out[entry.at] += entry.prior;
  }
  return out;
}

VectorXd OpenPosterior::means_at(const std::vector<const Point*>& points,
                                 const std::vector<Index>& slots) const {
  const VectorXd observed = means_at_observations();
  VectorXd out(static_cast<Index>(points.size()));
  std::vector<Index> left;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Index at = slots[k] < 0 ? -1 : entries_[static_cast<std::size_t>(slots[k])].at;
    if (at >= 0) out[static_cast<Index>(k)] = observed[at];
    else left.push_back(static_cast<Index>(k));
  }
  if (left.empty()) return out;
  Points X(static_cast<Index>(left.size()), points[0]->x.size());
  for (std::size_t k = 0; k < left.size(); ++k) {
    set_row(X, static_cast<Index>(k), points[static_cast<std::size_t>(left[k])]->x);
  }
  // Sums over the weights would be faster, but lose digits if the noise is small.
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  for (std::size_t k = 0; k < left.size(); ++k) out[left[k]] = mean[static_cast<Index>(k)];
  return out;
}

// The best point by uncorrected means, and its corrected mean.
double OpenPosterior::largest_mean_at(const std::vector<const Point*>& points,
                                      const std::vector<Index>& slots) const {
  Index best;
  const double largest = means_at(points, slots).maxCoeff(&best);
  if (!low_ || !low_->corrects()) return largest;
  double mean, ignored;
  at(*points[static_cast<std::size_t>(best)], mean, ignored);
  return mean;
}

// The slot of the low-rank engine's observation with this number. Slots are never smaller than these numbers.
Index OpenPosterior::slot_of(Index number) const {
  Index slot = number;
  while (entries_[static_cast<std::size_t>(slot)].at != number) ++slot;
  return slot;
}

Index OpenPosterior::best_slot() const {
  if (low_ && !sites_ && !prior_mean_.varies()) {
    const Index best = low_->best_observation(prior_mean_.values()[0]);
    return best < 0 ? -1 : slot_of(best);
  }
  const VectorXd mean = means_at_observations();
  Index best = -1;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Index at = entries_[k].at;
    if (at < 0) continue;
    if (best < 0 || mean[at] > mean[entries_[static_cast<std::size_t>(best)].at]) {
      best = static_cast<Index>(k);
    }
  }
  return best;
}

// ---- draws ------------------------------------------------------------------

namespace {

// Matheron's rule: mean(x) + scale (g(x) - k(x, X)(K + lambda I)^-1 (g(X) + noise)). Here g is drawn from the prior by
// random features, and the update is exact. If the prior drifts, g is the current f, and the parts of the observations
// that are due to past values of f count as noise.
class PathDraw final : public SampledFunction {
 public:
  // The correction of the prior path by the observations; k(played, x)'weights is subtracted.
  struct Update {
    Points played;
    VectorXd weights;
  };

  PathDraw(const Posterior& centre, const Kernel& kernel, PriorPath path, Update update,
           double scale)
      : centre_(centre),
        kernel_(kernel),
        scale_(scale),
        path_(std::move(path)),
        played_(std::move(update.played)),
        weights_(std::move(update.weights)) {}

  void values(const Candidates& candidates, VectorXd& out) const override {
    const Moments centre = centre_.moments(candidates);
    out = scale_ * deviation(candidates.X) +
          Eigen::Map<const VectorXd>(centre.mean, candidates.size());
  }

  VectorXd at(const Points& X) const override {
    return centre_.mean_of(X) + scale_ * deviation(X);
  }

  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    VectorXd dpath;
    double value = centre_.mean_of(x, *gradient);
    value += scale_ * path_.value_and_gradient(x, dpath);
    *gradient += scale_ * dpath;
    if (weights_.size() == 0) return value;
    VectorXd cross(weights_.size());
    kernel_.cross(x, played_, cross);
    value -= scale_ * cross.dot(weights_);
    MatrixXd slope;
    kernel_.input_gradient(x, played_, slope);
    add_multiple_transposed(*gradient, -scale_, slope, weights_);
    return value;
  }

 private:
  VectorXd deviation(const Points& X) const {
    VectorXd out(X.rows()), cross(X.rows());
    path_.values(X, out);
    for (Index i = 0; i < weights_.size(); ++i) {
      kernel_.cross(row_of(played_, i), X, cross);
      out -= weights_[i] * cross;
    }
    return out;
  }

  const Posterior& centre_;
  const Kernel& kernel_;
  double scale_;
  PriorPath path_;
  Points played_;
  VectorXd weights_;
};

PathDraw::Update path_update(const DensePosterior& spread, const PriorPath& path, Rng& rng) {
  const Index t = spread.size();
  if (t == 0) return {};
  PathDraw::Update out{spread.points(), VectorXd(t)};
  path.values(out.played, out.weights);
  for (Index i = 0; i < t; ++i) out.weights[i] *= spread.present(i);
  out.weights = spread.solve(out.weights + spread.draw_residuals(rng));
  for (Index i = 0; i < t; ++i) out.weights[i] *= spread.present(i);
  return out;
}

PathDraw::Update path_update(const LowRankPosterior& spread, const PriorPath& path, Rng& rng) {
  if (spread.rank() == 0) return {};
  return {spread.basis().points(), -spread.path_update(path, rng)};
}

}  // namespace

std::unique_ptr<SampledFunction> OpenPosterior::sample(const Posterior& centre,
                                                       const Candidates& candidates,
                                                       double scale, Rng& rng) const {
  if (!candidates.complete) {
    if (differences_) throw_invalid("no paths are drawn from comparisons");
    const Kernel& kernel = dense_.kernel();
    PriorPath path = kernel.draw_prior_path(rng, candidates.X.cols(), kFeatures);
    auto update = ask([&](const auto& known) { return path_update(known, path, rng); });
    return std::make_unique<PathDraw>(centre, kernel, std::move(path), std::move(update), scale);
  }
  VectorXd values(candidates.size());
  sample_all(centre, candidates, scale, rng, values);
  return std::make_unique<SetDraw>(std::move(values));
}

void OpenPosterior::sample_all(const Posterior& centre, const Candidates& candidates, double scale,
                               Rng& rng, Eigen::Ref<MatrixXd> out) const {
  if (candidates.size() > kMostDrawn) {
    throw_invalid("joint draws over more than " + std::to_string(kMostDrawn) + " arms need the weight-space engine");
  }
  const MatrixXd covariance =
      ask([&](const auto& known) { return known.covariance(candidates.X); });
  out = joint_draws(covariance, rng, out.cols(), scale);
  out.colwise() +=
      Eigen::Map<const VectorXd>(centre.moments(candidates).mean, candidates.size());
}

}  // namespace gpb
