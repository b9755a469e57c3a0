// run_bandit(): the whole run is one loop here.
#include "r_bandit.h"

#include <chrono>

#include "bandit/run.h"
#include "r_interrupt.h"
#include "r_rng.h"

namespace {

// Calls back at most every 50 ms: interrupts, and the progress bar.
class Pulse {
 public:
  explicit Pulse(const Rcpp::Nullable<Rcpp::Function>& progress) : progress_(progress) {}
  void beat(double done) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(40)) return;
    last_ = now;
    gpb::check_interrupt();
    if (progress_.isNotNull()) Rcpp::Function(progress_.get())(done);
  }

 private:
  Rcpp::Nullable<Rcpp::Function> progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

gpb::RunDraws draws_from_list(const Rcpp::List& list) {
  gpb::RunDraws draws;
  draws.noise = Rcpp::as<Eigen::VectorXd>(list["noise"]);
  draws.constraint_noise = Rcpp::as<Eigen::MatrixXd>(list["constraint_noise"]);
  draws.delay = Rcpp::as<std::vector<double>>(list["delay"]);
  draws.contexts = gpb::contexts_from_list(list["contexts"]);
  if (!Rf_isNull(list["delay_at"])) {
    const Rcpp::Function f = list["delay_at"];
    draws.delay_at = [f](const gpb::Query& query, gpb::Index round) {
      // f draws random numbers and puts R's generator back as it finds it in R.
      PutRNGstate();
      const double delay = Rcpp::as<double>(f(static_cast<int>(query.place.arm), query.place.x,
                                              static_cast<double>(round + 1)));
      GetRNGstate();
      return delay;
    };
  }
  return draws;
}

// A table of true means, or an R function of the place's arm (0-based, NA without one), its
// inputs and the round (1-based).
std::unique_ptr<gpb::Environment> environment_from_list(const Rcpp::List& truth) {
  if (truth.containsElementNamed("table")) {
    return std::make_unique<gpb::TableEnvironment>(Rcpp::as<Eigen::MatrixXd>(truth["table"]),
                                                   Rcpp::as<std::vector<int>>(truth["period"]),
                                                   Rcpp::as<Eigen::MatrixXd>(truth["constraints"]));
  }
  const Rcpp::Function f = truth["f"];
  const auto arm_of = [](const gpb::Place& place) {
    return place.arm < 0 ? NA_INTEGER : static_cast<int>(place.arm);
  };
  gpb::FunctionEnvironment::Constraints constraints;
  if (!Rf_isNull(truth["g"])) {
    const Rcpp::Function g = truth["g"];
    constraints = [g, arm_of](const gpb::Place& place) {
      return Rcpp::as<Eigen::VectorXd>(g(arm_of(place), place.x));
    };
  }
  return std::make_unique<gpb::FunctionEnvironment>(
      [f, arm_of](const gpb::Place& place, gpb::Index round) {
        return Rcpp::as<double>(f(arm_of(place), place.x,
                                  static_cast<double>(round + 1)));
      },
      constraints);
}

}  // namespace

// A run in progress: kept by R between the stretches that it is played in.
struct RunInProgress {
  RunInProgress(SEXP bandit, const Rcpp::List& truth, const Rcpp::List& draws)
      : handle(bandit),
        environment(environment_from_list(truth)),
        run(*BanditHandle(bandit), *environment, draws_from_list(draws)) {}
  Rcpp::RObject handle;
  std::unique_ptr<gpb::Environment> environment;
  gpb::Run run;
};

// [[Rcpp::export(rng = false)]]
SEXP cpp_run_new(SEXP handle, const Rcpp::List& truth, const Rcpp::List& draws) {
  return Rcpp::XPtr<RunInProgress>(new RunInProgress(handle, truth, draws), true);
}

// [[Rcpp::export(rng = false)]]
void cpp_run_receive(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  BanditChange change(in_progress->handle);
  in_progress->run.receive();
}

// [[Rcpp::export]]
void cpp_run_play(SEXP run_handle, int rounds, Rcpp::Nullable<Rcpp::Function> progress) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  gpb::RRng rng;
  Pulse pulse(progress);
  BanditChange change(in_progress->handle);
  for (int t = 0; t < rounds; ++t) {
    in_progress->run.step(rng);
    pulse.beat(static_cast<double>(in_progress->run.played()));
  }
}

// Plays these places, one a round.
// [[Rcpp::export(rng = false)]]
void cpp_run_play_at(SEXP run_handle, const Rcpp::List& places) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const PlacesFromR place(places);
  BanditChange change(in_progress->handle);
  for (R_xlen_t k = 0; k < place.size(); ++k) in_progress->run.step_at(place.at(change->space(), k));
}

// What came of the rounds played so far: true means, true constraint values (a row per round), and
// the rounds from which rewards were known.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_run_outcome(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const gpb::Outcome& outcome = in_progress->run.outcome();
  const auto rows = static_cast<Eigen::Index>(outcome.constraints.size());
  Eigen::MatrixXd constraints(rows, rows > 0 ? outcome.constraints[0].size() : 0);
  for (Eigen::Index t = 0; t < rows; ++t) {
    constraints.row(t) = outcome.constraints[static_cast<std::size_t>(t)].transpose();
  }
  using Rcpp::_;
  return Rcpp::List::create(_["f"] = outcome.truth, _["violation"] = constraints,
                            _["known"] = outcome.known);
}
