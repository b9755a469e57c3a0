// The R side of a bandit: every function takes the handle and plain R data.
#include "r_bandit.h"

#include <algorithm>

#include "r_interrupt.h"
#include "r_rng.h"

using gpb::Action;
using gpb::Context;
using gpb::EventKind;
using gpb::Index;
using gpb::Query;

namespace {

// Places as R gives them: `arm` a row of the arms' table (0-based; -1 on a box) each,
// `inputs` a row each (no columns where the arm says it all).
std::vector<gpb::Place> places_from_list(const Rcpp::List& places) {
  const Rcpp::IntegerVector arm = places["arm"];
  const Rcpp::NumericMatrix inputs = places["inputs"];
  std::vector<gpb::Place> out(static_cast<std::size_t>(arm.size()));
  const int extra = inputs.ncol() > 0 && arm.size() > 0 && arm[0] >= 0 ? 1 : 0;
  for (int k = 0; k < arm.size(); ++k) {
    gpb::Place& place = out[static_cast<std::size_t>(k)];
    place.arm = arm[k];
    if (inputs.ncol() == 0) continue;
    place.x.resize(inputs.ncol() + extra);
    for (int c = 0; c < inputs.ncol(); ++c) place.x[c] = inputs(k, c);
    if (extra) place.x[inputs.ncol()] = arm[k];  // arms' numbers stand last
  }
  return out;
}

// The inputs as places_from_list() takes them.
Rcpp::NumericMatrix inputs_of(const std::vector<const gpb::Place*>& places) {
  const int rows = static_cast<int>(places.size());
  if (rows == 0 || places[0]->x.size() == 0) return Rcpp::NumericMatrix(rows, 0);
  const int columns = static_cast<int>(places[0]->x.size()) - (places[0]->arm >= 0 ? 1 : 0);
  Rcpp::NumericMatrix out(rows, columns);
  for (int k = 0; k < rows; ++k) {
    for (int c = 0; c < columns; ++c) out(k, c) = places[static_cast<std::size_t>(k)]->x[c];
  }
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_new(const Rcpp::List& config) {
  gpb::BanditParts parts = gpb::parts_from_config(config);
  return BanditHandle(new gpb::Bandit(std::move(parts.space), std::move(parts.config)), true);
}

// [[Rcpp::export(rng = false)]]
bool cpp_bandit_alive(SEXP handle) {
  return TYPEOF(handle) == EXTPTRSXP && R_ExternalPtrAddr(handle) != nullptr;
}

// Plays one query after the other, one per context.
// [[Rcpp::export]]
void cpp_bandit_suggest(SEXP handle, const Rcpp::List& contexts, double time) {
  BanditHandle bandit(handle);
  bandit->set_clock(time);
  gpb::RRng rng;
  int count = 0;
  for (const Context& context : gpb::contexts_from_list(contexts)) {
    bandit->before_query();
    bandit->commit(bandit->propose(context, rng));
    if (++count % 64 == 0) gpb::check_interrupt();
  }
}

// The place that the posterior mean recommends in each context.
// [[Rcpp::export]]
Rcpp::List cpp_bandit_best(SEXP handle, const Rcpp::List& contexts) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  std::vector<gpb::Place> places;
  for (const Context& context : gpb::contexts_from_list(contexts)) {
    places.push_back(bandit->recommend(context, rng));
  }
  Rcpp::IntegerVector arm(static_cast<R_xlen_t>(places.size()));
  std::vector<const gpb::Place*> pointers;
  for (std::size_t k = 0; k < places.size(); ++k) {
    arm[static_cast<R_xlen_t>(k)] = static_cast<int>(places[k].arm);
    pointers.push_back(&places[k]);
  }
  return Rcpp::List::create(Rcpp::_["arm"] = arm, Rcpp::_["inputs"] = inputs_of(pointers));
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_observe(SEXP handle, const Rcpp::IntegerVector& id,
                        const Rcpp::NumericVector& reward, const Eigen::MatrixXd& constraints,
                        const Rcpp::NumericVector& time) {
  BanditHandle bandit(handle);
  for (R_xlen_t k = 0; k < id.size(); ++k) {
    bandit->set_clock(time[k]);
    bandit->observe(id[k], reward[k], constraints.row(k).transpose());
  }
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_give(SEXP handle, const Rcpp::List& places, const Rcpp::List& contexts,
                     const Rcpp::NumericVector& reward, const Eigen::MatrixXd& constraints,
                     double time) {
  BanditHandle bandit(handle);
  bandit->set_clock(time);
  const auto place = places_from_list(places);
  const auto context = gpb::contexts_from_list(contexts);
  for (std::size_t k = 0; k < place.size(); ++k) {
    bandit->give(place[k], context[k], reward[static_cast<R_xlen_t>(k)],
                 constraints.row(static_cast<Eigen::Index>(k)).transpose());
  }
}

// Plays the log's events again. Places as in places_from_list(); ids 1-based.
// [[Rcpp::export(rng = false)]]
void cpp_bandit_replay(SEXP handle, const Rcpp::List& queries, const Rcpp::List& contexts,
                       const Rcpp::List& events, const Rcpp::List& refits) {
  BanditHandle bandit(handle);
  R_xlen_t refitted = 0;
  const auto place = places_from_list(queries);
  const auto context = gpb::contexts_from_list(contexts);
  const Rcpp::IntegerVector action = queries["action"];
  const Rcpp::NumericVector mean = queries["mean"], sd = queries["sd"], width = queries["width"];
  const Rcpp::IntegerVector kind = events["kind"], id = events["id"];
  const Rcpp::NumericVector reward = events["reward"], time = events["time"];
  const Eigen::MatrixXd g = Rcpp::as<Eigen::MatrixXd>(queries["g"]);
  bandit->set_replaying(true);
  for (R_xlen_t e = 0; e < kind.size(); ++e) {
    if (e % 1024 == 1023) gpb::check_interrupt();
    const R_xlen_t k = id[e] - 1;
    const auto at = static_cast<std::size_t>(k);
    bandit->set_clock(time[e]);
    switch (static_cast<EventKind>(kind[e])) {
      case EventKind::query: {
        Query query;
        query.place = place[at];
        query.context = context[at];
        query.action = static_cast<Action>(action[k]);
        query.mean = mean[k];
        query.sd = sd[k];
        query.width = width[k];
        bandit->before_query();
        bandit->commit(std::move(query));
        break;
      }
      case EventKind::reward:
        bandit->observe(id[e], reward[e], g.row(k).transpose());
        break;
      case EventKind::given:
        bandit->give(place[at], context[at], reward[e], g.row(k).transpose());
        break;
      case EventKind::restart:
        bandit->restart();
        break;
      case EventKind::refit: {
        gpb::BanditParts parts = gpb::parts_from_config(refits[refitted++]);
        bandit->refit(std::move(parts.space), std::move(parts.config));
        break;
      }
    }
  }
  bandit->set_replaying(false);
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_refit(SEXP handle, const Rcpp::List& config) {
  BanditHandle bandit(handle);
  gpb::BanditParts parts = gpb::parts_from_config(config);
  bandit->refit(std::move(parts.space), std::move(parts.config));
}

// What the mean knows: ids of the queries and their values (rewards, or what stands for them).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_known(SEXP handle) {
  BanditHandle bandit(handle);
  std::vector<int> id;
  std::vector<double> value;
  for (std::size_t k = 0; k < bandit->queries().size(); ++k) {
    const Query& query = bandit->queries()[k];
    if (!bandit->is_known(query)) continue;
    id.push_back(static_cast<int>(k + 1));
    value.push_back(bandit->known_value(query));
  }
  return Rcpp::List::create(Rcpp::_["id"] = id, Rcpp::_["value"] = value);
}

// What the log does not have yet: queries and events from these numbers (0-based) on.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_log(SEXP handle, int from_query, int from_event) {
  BanditHandle bandit(handle);
  const auto& queries = bandit->queries();
  const auto& events = bandit->events();
  const R_xlen_t q = static_cast<R_xlen_t>(queries.size()) - from_query;
  const R_xlen_t e = static_cast<R_xlen_t>(events.size()) - from_event;
  Rcpp::IntegerVector arm(q), context(q), action(q), segment(q), kind(e), id(e);
  Rcpp::NumericVector mean(q), sd(q), width(q), reward(e), time(e);
  std::vector<const gpb::Place*> places;
  const auto multipliers =
      queries.empty() ? 0 : static_cast<int>(queries.back().kappa.size());
  Rcpp::NumericMatrix kappa(static_cast<int>(q), multipliers), g(static_cast<int>(e), multipliers);
  for (R_xlen_t k = 0; k < q; ++k) {
    const Query& query = queries[static_cast<std::size_t>(from_query + k)];
    arm[k] = static_cast<int>(query.place.arm);
    places.push_back(&query.place);
    for (int j = 0; j < multipliers; ++j) kappa(static_cast<int>(k), j) = query.kappa[j];
    context[k] = static_cast<int>(query.context.row);
    action[k] = static_cast<int>(query.action);
    segment[k] = query.segment;
    mean[k] = query.mean;
    sd[k] = query.sd;
    width[k] = std::isnan(query.width) ? NA_REAL : query.width;
  }
  for (R_xlen_t k = 0; k < e; ++k) {
    const gpb::Event& event = events[static_cast<std::size_t>(from_event + k)];
    kind[k] = static_cast<int>(event.kind);
    id[k] = static_cast<int>(event.id);
    time[k] = std::isnan(event.time) ? NA_REAL : event.time;
    const bool rewarded = event.kind == EventKind::reward || event.kind == EventKind::given;
    reward[k] = rewarded ? queries[static_cast<std::size_t>(event.id - 1)].reward : NA_REAL;
    for (int j = 0; j < multipliers; ++j) {
      g(static_cast<int>(k), j) =
          rewarded ? queries[static_cast<std::size_t>(event.id - 1)].g[j] : NA_REAL;
    }
  }
  using Rcpp::_;
  return Rcpp::List::create(
      _["queries"] = Rcpp::List::create(_["arm"] = arm, _["context"] = context,
                                        _["action"] = action, _["segment"] = segment,
                                        _["mean"] = mean, _["sd"] = sd, _["width"] = width,
                                        _["inputs"] = inputs_of(places), _["kappa"] = kappa),
      _["events"] = Rcpp::List::create(_["kind"] = kind, _["id"] = id, _["reward"] = reward,
                                       _["time"] = time, _["g"] = g));
}

namespace {

const gpb::ArmPosterior& arm_posterior(const gpb::Model& model) {
  return static_cast<const gpb::ArmModel&>(model).posterior();
}

}  // namespace

// Mean and sd of rows first .. first + count - 1 of the arms' table.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_arm_posterior(SEXP handle, int first, int count) {
  BanditHandle bandit(handle);
  const Eigen::VectorXd mean = arm_posterior(bandit->mean_model()).mean().segment(first, count);
  const Eigen::VectorXd sd =
      arm_posterior(bandit->variance_model()).variance().segment(first, count).cwiseSqrt();
  return Rcpp::List::create(Rcpp::_["mean"] = mean, Rcpp::_["sd"] = sd);
}

// Mean and sd at any points.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_predict(SEXP handle, const Eigen::MatrixXd& points,
                              const Eigen::VectorXd& prior_mean) {
  BanditHandle bandit(handle);
  Eigen::VectorXd mean, sd, ignored;
  bandit->mean_model().predict(points, prior_mean, mean, sd);
  if (&bandit->mean_model() != &bandit->variance_model()) {
    bandit->variance_model().predict(points, prior_mean, ignored, sd);
  }
  return Rcpp::List::create(Rcpp::_["mean"] = mean, Rcpp::_["sd"] = sd);
}

// Joint draws over rows first .. first + count - 1, one per column, from the
// posterior with covariance scaled by scale^2.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_bandit_draw(SEXP handle, int draws, double scale, int first, int count) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const gpb::ArmPosterior& mean = arm_posterior(bandit->mean_model());
  const gpb::ArmPosterior& variance = arm_posterior(bandit->variance_model());
  Eigen::MatrixXd out(count, draws);
  constexpr int block = 64;  // so many columns are one matrix product
  for (int k = 0; k < draws; k += block) {
    variance.draw(rng, scale, mean.mean(), first, out.middleCols(k, std::min(block, draws - k)));
    gpb::check_interrupt();
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_facts(SEXP handle) {
  BanditHandle bandit(handle);
  using Rcpp::_;
  return Rcpp::List::create(_["engine"] = bandit->space().engine(),
                            _["rank"] = static_cast<int>(bandit->mean_model().rank()),
                            _["prior_scale"] = bandit->space().prior_scale(),
                            _["log_det"] = bandit->variance_model().log_det(),
                            _["rounds"] = static_cast<int>(bandit->rounds()),
                            _["segment"] = bandit->segment(),
                            _["clock"] = bandit->latest_time());
}

// [[Rcpp::export(rng = false)]]
double cpp_bandit_width(SEXP handle) {
  BanditHandle bandit(handle);
  return bandit->width();
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_restart(SEXP handle) {
  BanditHandle bandit(handle);
  bandit->restart();
}
