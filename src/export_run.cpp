// run_bandit(): the whole run is one loop here.
#include "r_bandit.h"

#include <chrono>

#include "r_interrupt.h"
#include "r_rng.h"
#include "run.h"

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
  draws.optimum = Rcpp::as<Eigen::VectorXd>(list["optimum"]);
  draws.delay = Rcpp::as<std::vector<double>>(list["delay"]);
  draws.contexts = gpb::contexts_from_list(list["contexts"]);
  return draws;
}

// A table of true means, or an R function of the place's arm (0-based), its inputs
// and the round (1-based).
std::unique_ptr<gpb::Environment> environment_from_list(const Rcpp::List& truth) {
  if (truth.containsElementNamed("table")) {
    return std::make_unique<gpb::TableEnvironment>(Rcpp::as<Eigen::MatrixXd>(truth["table"]),
                                                   Rcpp::as<std::vector<int>>(truth["period"]));
  }
  const Rcpp::Function f = truth["f"];
  return std::make_unique<gpb::FunctionEnvironment>(
      [f](const gpb::Place& place, gpb::Index round) {
        return Rcpp::as<double>(f(static_cast<int>(place.arm), place.x,
                                  static_cast<double>(round + 1)));
      });
}

}  // namespace

// Fills `ledger` (an environment) even when the run is cut short by an interrupt or
// an error, so that the rounds that were played are never lost.
// [[Rcpp::export]]
void cpp_run(SEXP handle, int rounds, const Rcpp::List& truth, const Rcpp::List& draws,
             Rcpp::Environment ledger, Rcpp::Nullable<Rcpp::Function> progress) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const auto environment = environment_from_list(truth);
  gpb::Run run(*bandit, *environment, draws_from_list(draws));
  const auto save = [&] {
    ledger["f"] = run.ledger().truth;
    ledger["regret"] = run.ledger().regret;
    ledger["cumulative_regret"] = run.ledger().cumulative;
    ledger["simple_regret"] = run.ledger().simple;
  };
  Pulse pulse(progress);
  try {
    for (int t = 0; t < rounds; ++t) {
      run.step(rng);
      pulse.beat(static_cast<double>(t + 1));
    }
  } catch (...) {
    save();
    throw;
  }
  save();
}
