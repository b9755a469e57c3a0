// Functions of table_posterior.h: the posterior over a table of arms that are all known in advance: one of the engines
// of arm_posterior.h behind the interface of a posterior.
#include "posteriors/table_posterior.h"

#include "base/ordering.h"
#include "posteriors/dense_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

TablePosterior::TablePosterior(std::unique_ptr<ArmPosterior> engine, std::string name,
                               const Forgetting& forgetting)
    : engine_(std::move(engine)), name_(std::move(name)), forgetting_(forgetting) {}

// ---- updates by observations ----------------------------------------------

void TablePosterior::put(Pool& pool, const Entry& entry, double sign) const {
  const double weight = sign * weight_now(entry), y = centred(entry);
  pool.entries[static_cast<std::size_t>(entry.row)] += sign > 0.0 ? 1 : -1;
  if (pool.entries[static_cast<std::size_t>(entry.row)] == 0) {
    pool.weight[entry.row] = pool.weighted[entry.row] = 0.0;
  } else {
    pool.weight[entry.row] += weight;
    pool.weighted[entry.row] += weight * y;
  }
  pool.squares += weight * y * y;
}

TablePosterior::Pool TablePosterior::pooled() const {
  if (pool_) return *pool_;
  Pool pool;
  const Index n = engine_->prior_mean().size();
  pool.weight = VectorXd::Zero(n);
  pool.weighted = VectorXd::Zero(n);
  pool.entries.assign(static_cast<std::size_t>(n), 0);
  for (const Entry& entry : entries_) {
    if (entry.kept) put(pool, entry, 1.0);
  }
  return pool;
}

void TablePosterior::add(const Observation& o) {
  entries_.push_back({o.point.row, o.value, o.weight, o.round, true, log_scale_});
  if (forgetting_.fades()) return;
  if (pool_) {
    put(*pool_, entries_.back(), 1.0);
    stale_ = true;
  } else {
    engine_->add(o.point.row, o.value, o.weight);
  }
}

void TablePosterior::set_value(Index slot, double y) {
  const auto k = static_cast<std::size_t>(slot);
  Entry& entry = entries_[k];
  if (entry.value == y) return;
  if (!entry.kept) {
    entry.value = y;
  } else if (forgetting_.fades()) {
    entry.value = y;
    if (k < taken_in_) in_order_ = false;
  } else if (pool_) {
    put(*pool_, entry, -1.0);
    entry.value = y;
    put(*pool_, entry, 1.0);
    stale_ = true;
  } else {
    engine_->replace(entry.row, entry.value, y, entry.weight);
    entry.value = y;
  }
}

void TablePosterior::set_values(const std::vector<double>& y) {
  for (std::size_t k = 0; k < y.size(); ++k) entries_[k].value = y[k];
  if (forgetting_.fades()) {
    in_order_ = in_order_ && taken_in_ == 0;
    return;
  }
  const bool kept_pool = pool_ != nullptr;
  pool_.reset();
  Pool pool = pooled();
  if (kept_pool) {
    pool_ = std::make_unique<Pool>(std::move(pool));
    stale_ = true;
  } else {
    engine_->set_values(pool.weighted, pool.squares);
  }
}

void TablePosterior::drop(Index slot) {
  const auto k = static_cast<std::size_t>(slot);
  Entry& entry = entries_[k];
  if (!entry.kept) return;
  entry.kept = false;
  if (forgetting_.fades()) {
    if (k < taken_in_) in_order_ = false;
  } else if (pool_) {
    put(*pool_, entry, -1.0);
    stale_ = true;
  } else {
    engine_->drop(entry.row, entry.value, entry.weight);
  }
}

void TablePosterior::rescale(double factor) {
  if (!pool_) pool_ = std::make_unique<Pool>(pooled());
  log_scale_ += std::log(factor);
  pool_->weight *= factor;
  pool_->weighted *= factor;
  pool_->squares *= factor;
  stale_ = true;
}

void TablePosterior::clear() {
  engine_->clear();
  entries_.clear();
  pool_.reset();
  stale_ = false;
  taken_in_ = 0;
  in_order_ = true;
  compares_ = false;
}

// ---- sites -------------------------------------------------------------------

void TablePosterior::expect_sites(bool compares, bool) {
  if (forgetting_.fades()) throw_invalid("a drifting prior supports rewards with Gaussian noise only");
  if (compares && !engine_->features()) {
    throw_invalid("engine \"played\" does not support comparisons; engine \"weights\" does");
  }
}

SitePrior TablePosterior::site_prior(const std::vector<Functional>& functionals, const SiteTerms&, bool) {
  return prior_of(functionals);
}

SitePrior TablePosterior::prior_of(const std::vector<Functional>& functionals) const {
  const Index t = static_cast<Index>(functionals.size());
  const VectorXd& prior = engine_->prior_mean();
  const MatrixXd* phi = engine_->features();
  SitePrior out;
  out.mean.resize(t);
  Points X(phi ? 0 : t, engine_->table().points->cols());
  if (phi) out.features.resize(t, phi->cols());
  for (Index i = 0; i < t; ++i) {
    const Functional& one = functionals[static_cast<std::size_t>(i)];
    out.mean[i] = prior[one.point.row] - (one.compares ? prior[one.other.row] : 0.0);
    if (!phi) {
      copy_row(X, i, *engine_->table().points, one.point.row);
      continue;
    }
    VectorXd features = row_of(*phi, one.point.row);
    if (one.compares) features -= row_of(*phi, one.other.row);
    set_row(out.features, i, features);
  }
  if (!phi) out.gram = engine_->table().kernel->gram(X);
  return out;
}

bool TablePosterior::set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) {
  clear();
  const SitePrior prior = prior_of(functionals);
  const double lambda = engine_->noise_var();
  const Index t = fit.weight.size();
  const VectorXd weight = lambda * fit.weight;
  const VectorXd weighted = lambda * (fit.weighted - times(fit.weight, prior.mean));
  compares_ = t > 0 && functionals[0].compares;
  if (compares_) {
    engine_->set_functionals(prior.features, weight, weighted);
    return true;
  }
  VectorXd weight_of(VectorXd::Zero(engine_->prior_mean().size())), weighted_of = weight_of;
  double squares = 0.0;
  for (Index i = 0; i < t; ++i) {
    const Index row = functionals[static_cast<std::size_t>(i)].point.row;
    weight_of[row] = weight[i];
    weighted_of[row] = weighted[i];
    squares += weighted[i] / weight[i] * weighted[i];
    entries_.push_back({row, fit.weighted[i] / fit.weight[i], weight[i], 0, true, log_scale_});
  }
  if (t > 0) engine_->set_statistics(weight_of, weighted_of, squares);
  return true;
}

// ---- postponed updates ------------------------------------------------------

// The drift is applied round by round, so that the result is the same, bit for bit, whenever predictions were
// requested.
void TablePosterior::drift_to(Index round) const {
  if (taken_in_ > 0) {
    for (Index now = reached_; now < round; ++now) engine_->drift(forgetting_.rate);
  }
  reached_ = round;
}

// Adds the pending observations to the engine, in the order of their rounds.
void TablePosterior::take_in_by_round() const {
  const auto earlier = [](const Entry* a, const Entry* b) { return a->round < b->round; };
  const auto waiting = [&] {
    std::vector<const Entry*> out;
    for (std::size_t k = taken_in_; k < entries_.size(); ++k) {
      if (entries_[k].kept) out.push_back(&entries_[k]);
    }
    put_in_order(out, earlier);
    return out;
  };
  std::vector<const Entry*> order = waiting();
  if (!order.empty() && taken_in_ > 0 && order.front()->round < reached_) in_order_ = false;
  if (!in_order_) {
    engine_->clear();
    taken_in_ = 0;
    in_order_ = true;
    order = waiting();
  }
  for (const Entry* entry : order) {
    drift_to(entry->round);
    engine_->add(entry->row, entry->value, entry->weight);
    ++taken_in_;
  }
  taken_in_ = entries_.size();
  drift_to(now_);
}

const ArmPosterior& TablePosterior::settled() const {
  if (forgetting_.fades()) {
    take_in_by_round();
  } else if (stale_) {
    if (pool_->weight.maxCoeff() > 0.0) {
      engine_->set_statistics(pool_->weight, pool_->weighted, pool_->squares);
    } else {
      engine_->clear();
    }
    stale_ = false;
  }
  return *engine_;
}

// ---- predictions ------------------------------------------------------------

void TablePosterior::at(const Point& point, double& mean, double& sd) const {
  const ArmPosterior& all = settled();
  mean = all.mean()[point.row];
  sd = std::sqrt(all.variance()[point.row]);
}

Moments TablePosterior::moments(const Candidates& candidates) const {
  const ArmPosterior& all = settled();
  return {all.mean().data() + candidates.first, all.variance().data() + candidates.first};
}

// Predictions at points that need not be arms. Uses the dense formula over the distinct played arms, each with its mean
// value and noise lambda / weight. If the prior drifts, all observations are used.
void TablePosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  if (compares_) throw_invalid("comparisons of arms give no predictions at other points");
  const ArmTable& table = engine_->table();
  const VectorXd& prior = engine_->prior_mean();
  DensePosterior dense(table.kernel, engine_->noise_var());
  if (forgetting_.fades()) {
    dense.set_fading(forgetting_.rate);
    for (const Entry& e : entries_) {
      if (!e.kept) continue;
      dense.add(row_of(*table.points, e.row), centred(e), 1.0 / e.weight, e.round);
    }
    dense.set_now(now_);
  } else {
    const Pool pool = pooled();
    std::vector<Index> seen;
    for (Index i = 0; i < pool.weight.size(); ++i) {
      if (pool.weight[i] > 0.0) seen.push_back(i);
    }
    const Index m = static_cast<Index>(seen.size());
    Points played(m, table.points->cols());
    VectorXd target(m), noise_scale(m);
    for (Index k = 0; k < m; ++k) {
      const Index i = seen[static_cast<std::size_t>(k)];
      copy_row(played, k, *table.points, i);
      target[k] = pool.weighted[i] / pool.weight[i];
      noise_scale[k] = 1.0 / pool.weight[i];
    }
    if (m > 0) dense.add(played, target, noise_scale);
  }
  dense.predict(X, mean, variance);
  mean += PriorMean(prior).at(X);
}

MatrixXd TablePosterior::covariance(const Candidates& candidates,
                                    const std::vector<Index>& some) const {
  std::vector<Index> rows = some;
  for (Index& row : rows) row += candidates.first;
  return settled().covariance(rows);
}

namespace {

// Columns of the covariance of all arms.
class TableCovariance final : public CrossCovariance {
 public:
  TableCovariance(MatrixXd columns, std::vector<Index> fixed)
      : columns_(std::move(columns)), fixed_(std::move(fixed)) {}
  MatrixXd among_fixed() const override {
    MatrixXd out(columns_.cols(), columns_.cols());
    for (Index i = 0; i < out.rows(); ++i) copy_row(out, i, columns_, fixed_[static_cast<std::size_t>(i)]);
    return 0.5 * (out + out.transpose());
  }
  MatrixXd of(const Candidates& candidates) const override {
    return columns_.middleRows(candidates.first, candidates.count);
  }

 private:
  MatrixXd columns_;
  std::vector<Index> fixed_;
};

}  // namespace

std::unique_ptr<CrossCovariance> TablePosterior::covariances_with(const std::vector<const Point*>& fixed) const {
  if (compares_) throw_invalid("no covariances of points are available from comparisons");
  const ArmPosterior& all = settled();
  MatrixXd columns(all.mean().size(), static_cast<Index>(fixed.size()));
  std::vector<Index> rows;
  for (const Point* point : fixed) {
    columns.col(static_cast<Index>(rows.size())) = all.covariance_with(point->row);
    rows.push_back(point->row);
  }
  return std::make_unique<TableCovariance>(std::move(columns), std::move(rows));
}

void TablePosterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                                 VectorXd& variance) const {
  const ArmPosterior& all = settled();
  const VectorXd covariance = all.covariance_with(from.row);
  mean.resize(candidates.count);
  variance.resize(candidates.count);
  for (Index i = 0; i < candidates.count; ++i) {
    const Index row = candidates.first + i;
    mean[i] = all.mean()[row] - all.mean()[from.row];
    variance[i] = std::max(all.variance()[row] - 2.0 * covariance[row] + all.variance()[from.row], 0.0);
  }
  if (from.row >= candidates.first && from.row < candidates.first + candidates.count) {
    variance[from.row - candidates.first] = 0.0;
  }
}

VectorXd TablePosterior::means_at(const std::vector<const Point*>& points,
                                  const std::vector<Index>&) const {
  const VectorXd& mean = settled().mean();
  VectorXd out(static_cast<Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k) out[static_cast<Index>(k)] = mean[points[k]->row];
  return out;
}

Index TablePosterior::best_slot() const {
  const VectorXd& mean = settled().mean();
  Index best = -1;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!entries_[k].kept) continue;
    if (best < 0 || mean[entries_[k].row] > mean[entries_[static_cast<std::size_t>(best)].row]) {
      best = static_cast<Index>(k);
    }
  }
  return best;
}

std::unique_ptr<SampledFunction> TablePosterior::sample(const Posterior& centre,
                                                        const Candidates& candidates,
                                                        double scale, Rng& rng) const {
  VectorXd values(candidates.count);
  sample_all(centre, candidates, scale, rng, values);
  return std::make_unique<SetDraw>(std::move(values));
}

void TablePosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  const Candidates whole{0, engine_->prior_mean().size(), Points(), true, nullptr};
  const Eigen::Map<const VectorXd> mean(centre.moments(whole).mean, whole.count);
  settled().draw(rng, scale, mean, candidates.first, out);
}

}  // namespace gpb
