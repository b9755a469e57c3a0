// R's entry points for points and spaces: sequences, frames, mixtures, linear constraints, local searches, random
// numbers. Uses the core and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/golden_points.h"
#include "base/local_search_by_values.h"
#include "base/stream_random.h"
#include "posteriors/arm_setting.h"
#include "r_bandit.h"
#include "r_function.h"
#include "r_interrupt.h"
#include "r_lbfgsb.h"
#include "r_settings.h"
#include "r_rng.h"
#include "r_values.h"
#include "spaces/polytope.h"
#include "spaces/shares.h"

// ---- points -------------------------------------------------------------------------------------

// Sets of points, and tables as columns and data frames.

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_golden_points(int n, int d) { return gpb::golden_points(n, d); }

// The end point of a local search from a point of the unit cube, see local_search_by_values(). `reported`: a function
// of points, a row each.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_local_search(const Eigen::VectorXd& u, const Rcpp::Function& reported) {
  const gpb::RFunction f(reported, nullptr);
  const auto ask = [&f](const gpb::MatrixXd& points) { return f.numbers<gpb::MatrixXd>(points); };
  return gpb::local_search_by_values(u, ask, gpb::lbfgsb_minimizer(500, 2e-15));
}

// A matrix's columns as a list, each without names: all rows, or those with these numbers (1-based, or NA).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_columns(const Rcpp::NumericMatrix& x, const Rcpp::CharacterVector& names,
                       SEXP rows) {
  if (names.size() != x.ncol()) gpb::throw_invalid("the number of names must be the number of columns");
  const bool all = Rf_isNull(rows);
  const Rcpp::IntegerVector wanted(all ? Rf_allocVector(INTSXP, 0) : rows);
  const R_xlen_t n = all ? x.nrow() : wanted.size();
  for (const int row : wanted) {
    if (row == NA_INTEGER || (row >= 1 && row <= x.nrow())) continue;
    gpb::throw_invalid("a matrix has no such row");
  }
  Rcpp::List out(x.ncol());
  for (int j = 0; j < x.ncol(); ++j) {
    const SEXP column = Rf_allocVector(REALSXP, n);
    out[j] = column;
    const double* from = x.begin() + static_cast<R_xlen_t>(j) * x.nrow();
    for (R_xlen_t k = 0; k < n; ++k) {
      REAL(column)[k] = all ? from[k] : wanted[k] == NA_INTEGER ? NA_REAL : from[wanted[k] - 1];
    }
  }
  out.names() = names;
  return out;
}

// A data.frame from columns that are known to be valid, because data.frame() takes longer than a round.
// [[Rcpp::export(rng = false)]]
SEXP cpp_frame(SEXP columns) {
  const SEXP frame = PROTECT(MAYBE_REFERENCED(columns) ? Rf_shallow_duplicate(columns) : columns);
  const SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));  // R's compact form of 1, 2, ..
  INTEGER(rows)[0] = NA_INTEGER;
  INTEGER(rows)[1] = Rf_length(frame) > 0 ? -Rf_length(VECTOR_ELT(frame, 0)) : 0;
  Rf_setAttrib(frame, R_RowNamesSymbol, rows);
  Rf_setAttrib(frame, R_ClassSymbol, Rf_mkString("data.frame"));
  UNPROTECT(2);
  return frame;
}

// ---- random numbers -----------------------------------------------------------------------------

// Restores R's random generator by a destructor, which no interrupt can prevent.

namespace {

class KeptState {
 public:
  explicit KeptState(SEXP state) : name_(Rf_install(".Random.seed")), state_(state) {}
  ~KeptState() { Rf_defineVar(name_, state_, R_GlobalEnv); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  SEXP name_;
  Rcpp::RObject state_;
};

}  // namespace

// Calls code(). Afterwards R's generator is in this state (.Random.seed), even after an error or interrupt.
// [[Rcpp::export(rng = false)]]
SEXP cpp_preserve_rng(const Rcpp::Function& code, SEXP state) {
  const KeptState kept(state);
  return code();
}

// ---- mixtures -----------------------------------------------------------------------------------

// Points, a row each. `spread`: points of the unit cube are transformed to uniform mixtures; otherwise points are moved
// to the nearest allowed mixtures.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_shares(const Rcpp::List& setting, Eigen::MatrixXd x, bool spread) {
  const gpb::Shares shares = gpb::make_shares(gpb::RSettings(setting));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (i % 256 == 255) gpb::check_interrupt();
    Eigen::VectorXd point = gpb::row_of(x, i);
    if (spread) shares.spread(point);
    else shares.snap(point);
    gpb::set_row(x, i, point);
  }
  return x;
}

// Points with exchanged mixture components, a row each, see Shares::exchanges(); none if the number of components is
// not limited.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_share_exchanges(const Rcpp::List& setting, const Eigen::VectorXd& x) {
  return gpb::make_shares(gpb::RSettings(setting)).exchanges(x);
}

// ---- linear constraints -------------------------------------------------------------------------

namespace {

// Numbers from R, in order, which seed a stream.
class GivenNumbers final : public gpb::Rng {
 public:
  explicit GivenNumbers(const Eigen::VectorXd& numbers) : numbers_(numbers) {}
  double uniform() override { return numbers_[next_++ % numbers_.size()]; }
  double normal() override { gpb::throw_logic("seeds are uniform"); }
  Eigen::Index index(Eigen::Index) override { gpb::throw_logic("seeds are uniform"); }

 private:
  Eigen::VectorXd numbers_;
  Eigen::Index next_ = 0;
};

gpb::Box box_from_list(const Rcpp::List& box) {
  const gpb::RSettings sides(box);
  return {sides.numbers("lower"), sides.numbers("upper"), sides.flags("integer"), sides.flags("log")};
}

}  // namespace

// The region of linear constraints (see Polytope): is it proved to be empty, is a point known, its corners, and `count`
// uniform points. Their random numbers are derived from eight uniform ones.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_polytope(const Rcpp::List& rules, const Rcpp::List& box, int count, const Eigen::VectorXd& seed) {
  const gpb::Polytope region(gpb::make_linear_rules(gpb::RSettings(rules)), box_from_list(box));
  GivenNumbers seeds(seed);
  gpb::StreamRng stream(seeds);
  const bool draw = count > 0 && region.found();
  return gpb::named_list("empty", region.empty(), "found", region.found(), "corners", region.corners(),
                         "points", draw ? region.points(count, stream) : Eigen::MatrixXd());
}

// Changes of integers that keep one of the sums, a row each.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_lattice_moves(const Rcpp::List& rules, const Rcpp::List& box) {
  return gpb::lattice_moves(gpb::make_linear_rules(gpb::RSettings(rules)), box_from_list(box));
}
