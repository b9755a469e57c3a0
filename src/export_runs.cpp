// R's entry points for run_bandit(): the whole run is one loop here. Uses the core and the adapters r_*.

#include <chrono>
#include <memory>
#include <vector>

#include "bandit/run.h"
#include "r_bandit.h"
#include "r_interrupt.h"
#include "r_rng.h"

using gpb::Context;
using gpb::Index;

namespace {

// Calls R at most every 50 ms, for interrupts and the progress bar.
class HeartbeatTimer {
 public:
  explicit HeartbeatTimer(const Rcpp::Nullable<Rcpp::Function>& progress) {
    if (progress.isNotNull()) progress_.emplace(Rcpp::Function(progress.get()), nullptr);
  }
  void beat(double done) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(40)) return;
    last_ = now;
    gpb::check_interrupt();
    if (progress_) (*progress_)(done);
  }

 private:
  std::optional<gpb::RFunction> progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

gpb::RunDraws draws_from_list(const Rcpp::List& list, gpb::HandleFunctions* handle) {
  gpb::RunDraws draws;
  draws.noise = Rcpp::as<Eigen::VectorXd>(gpb::required(list, "noise"));
  draws.constraint_noise = Rcpp::as<Eigen::MatrixXd>(gpb::required(list, "constraint_noise"));
  draws.delay = Rcpp::as<std::vector<double>>(gpb::required(list, "delay"));
  draws.contexts = gpb::contexts_from_list(gpb::required(list, "contexts"));
  if (!Rf_isNull(gpb::required(list, "delay_at"))) {
    const gpb::RFunction f{Rcpp::Function(gpb::required(list, "delay_at")), handle};
    draws.delay_at = [f](const gpb::Query& query, gpb::Index round) {
      return Rcpp::as<double>(f(static_cast<int>(query.point.arm), query.point.x, static_cast<double>(round + 1)));
    };
  }
  return draws;
}

// The true function: a table of means, or an R function of the point's arm (0-based, NA without one), its inputs and
// the round (1-based).
std::unique_ptr<gpb::Environment> environment_from_list(const Rcpp::List& truth, gpb::HandleFunctions* handle) {
  if (truth.containsElementNamed("table")) {
    return std::make_unique<gpb::TableEnvironment>(Rcpp::as<Eigen::MatrixXd>(gpb::required(truth, "table")),
                                                   Rcpp::as<std::vector<int>>(gpb::required(truth, "period")),
                                                   Rcpp::as<Eigen::MatrixXd>(gpb::required(truth, "constraints")));
  }
  const gpb::RFunction f{Rcpp::Function(gpb::required(truth, "f")), handle};
  const auto arm_of = [](const gpb::Point& point) {
    return point.arm < 0 ? NA_INTEGER : static_cast<int>(point.arm);
  };
  gpb::FunctionEnvironment::Constraints constraints;
  if (!Rf_isNull(gpb::required(truth, "g"))) {
    const gpb::RFunction g{Rcpp::Function(gpb::required(truth, "g")), handle};
    constraints = [g, arm_of](const gpb::Point& point) {
      return Rcpp::as<Eigen::VectorXd>(g(arm_of(point), point.x));
    };
  }
  return std::make_unique<gpb::FunctionEnvironment>(
      [f, arm_of](const gpb::Point& point, gpb::Index round) {
        return Rcpp::as<double>(f(arm_of(point), point.x,
                                  static_cast<double>(round + 1)));
      },
      constraints);
}

}  // namespace

// A run in progress. R keeps it between calls that play some of its rounds.
struct RunInProgress {
  RunInProgress(SEXP bandit, const Rcpp::List& truth, const Rcpp::List& draws, gpb::HandleFunctions* functions)
      : handle(bandit),
        environment(environment_from_list(truth, functions)),
        run(*BanditHandle(bandit), *environment, draws_from_list(draws, functions)) {}
  SEXP handle;
  std::unique_ptr<gpb::Environment> environment;
  gpb::Run run;
};

// The pointer itself keeps the bandit's handle and the functions of the truth, because these may refer to the frame
// that contains the pointer. If the core kept them, the bandit would never be freed.
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_new(SEXP handle, const Rcpp::List& truth, const Rcpp::List& draws) {
  gpb::HandleFunctions functions;
  auto run = std::make_unique<RunInProgress>(handle, truth, draws, &functions);
  const Rcpp::Shield<SEXP> kept(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(kept, 0, handle);
  SET_VECTOR_ELT(kept, 1, functions.list());
  const Rcpp::XPtr<RunInProgress> out(run.get(), true, R_NilValue, kept);
  run.release();
  functions.let_go();
  return out;
}

// [[Rcpp::export(rng = false)]]
void cpp_run_receive(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  BanditDelta change(in_progress->handle);
  in_progress->run.receive();
}

// [[Rcpp::export(rng = false)]]
void cpp_run_play(SEXP run_handle, int rounds, Rcpp::Nullable<Rcpp::Function> progress) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  gpb::RRng rng;
  HeartbeatTimer heartbeat_timer(progress);
  BanditDelta change(in_progress->handle);
  for (int t = 0; t < rounds; ++t) {
    in_progress->run.step(rng);
    heartbeat_timer.beat(static_cast<double>(in_progress->run.played()));
  }
}

// Plays these points, one in each round.
// [[Rcpp::export(rng = false)]]
void cpp_run_play_at(SEXP run_handle, const Rcpp::List& points) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const PointsFromR point(points);
  BanditDelta change(in_progress->handle);
  for (R_xlen_t k = 0; k < point.size(); ++k) in_progress->run.step_at(point.at(change->space(), k));
}

// Results of the rounds played so far: true means, true constraint values (a row per round), and the rounds from which
// rewards were known.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_run_outcome(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const gpb::Outcome& outcome = in_progress->run.outcome();
  const auto rows = static_cast<Eigen::Index>(outcome.constraints.size());
  Eigen::MatrixXd constraints(rows, rows > 0 ? outcome.constraints[0].size() : 0);
  for (Eigen::Index t = 0; t < rows; ++t) {
    gpb::set_row(constraints, t, outcome.constraints[static_cast<std::size_t>(t)]);
  }
  return gpb::named_list("f", outcome.truth, "violation", constraints, "known", outcome.known);
}
