// Conversion of R's description of a bandit to the core's object, and the handle of this object.
#ifndef GPB_R_BANDIT_H
#define GPB_R_BANDIT_H

#include "r_values.h"

#include "bandit/bandit.h"
#include "r_function.h"

namespace gpb {

// `handle`: the handle of the bandit that will call their functions.
ModelState model_state_from_config(const Rcpp::List& config, HandleFunctions* handle);
StateRules rules_from_config(const Rcpp::List& config, HandleFunctions* handle);

// Contexts of several queries in the form from R:
// * `row`: the number of a known context (0-based) for each.
// * `values`: a row for each; no columns if `row` is sufficient.
// * `eligible`, optional, for all of them: a flag per arm.
// * `fixed`, optional, for all of them: inputs that are not chosen. They are numbers (0-based) among the kernel's
//   inputs, `at`, and `values`. If the space needs them, `candidates` are included.
std::vector<Context> contexts_from_list(const Rcpp::List& contexts);

}  // namespace gpb

// Numbers with R's NA.
inline int or_na(int number) { return number < 0 ? NA_INTEGER : number; }
inline int or_na(gpb::Index number) { return or_na(static_cast<int>(number)); }
inline double or_na(double value) { return std::isnan(value) ? NA_REAL : value; }

inline void check_length(R_xlen_t length, R_xlen_t wanted) {
  if (length != wanted) gpb::throw_invalid("columns of a table differ in length");
}

// Points in the form from R: `arm` has numbers (0-based; NA on a box), `context` has numbers of known contexts
// (0-based). `inputs` are the kernel's inputs that are in no table, a row each.
class PointsFromR {
 public:
  explicit PointsFromR(const Rcpp::List& points)
      : arm_(gpb::required(points, "arm")),
        context_(gpb::required(points, "context")),
        inputs_(gpb::required(points, "inputs")) {
    check_length(context_.size(), arm_.size());
    check_length(inputs_.nrow(), arm_.size());
  }
  R_xlen_t size() const { return arm_.size(); }
  gpb::Point at(const gpb::Space& space, R_xlen_t k) const {
    Eigen::VectorXd inputs(inputs_.ncol());
    for (int c = 0; c < inputs_.ncol(); ++c) inputs[c] = inputs_(static_cast<int>(k), c);
    const gpb::Index arm = arm_[k] == NA_INTEGER ? -1 : arm_[k];
    return space.point(arm, context_[k], inputs);
  }

 private:
  Rcpp::IntegerVector arm_, context_;
  Rcpp::NumericMatrix inputs_;
};

// Reported data other than the rewards, in the form from R: columns of the log.
class ReportFromR {
 public:
  ReportFromR(const Rcpp::List& columns, R_xlen_t length)
      : noise_var_(gpb::required(columns, "noise_var")),
        size_(gpb::required(columns, "size")),
        spread_(gpb::required(columns, "spread")),
        other_(gpb::required(columns, "other")),
        outcome_(gpb::required(columns, "outcome")) {
    for (const R_xlen_t one :
         {noise_var_.size(), size_.size(), spread_.size(), other_.size(), outcome_.size()}) {
      check_length(one, length);
    }
  }
  gpb::Report at(R_xlen_t k) const {
    gpb::Report out{noise_var_[k], size_[k], spread_[k], 0, gpb::kAllOutcomes};
    if (other_[k] != NA_INTEGER) out.other = other_[k];
    if (outcome_[k] != NA_INTEGER) out.outcome = outcome_[k] - 1;
    return out;
  }

 private:
  Rcpp::NumericVector noise_var_, size_, spread_;
  Rcpp::IntegerVector other_;
  Rcpp::IntegerVector outcome_;  // 1-based; NA if there is only one, or for all
};

// The core's object of a handle in R; it can be rebuilt from the log in R.
struct HeldBandit {
  HeldBandit(const Rcpp::List& config, gpb::HandleFunctions* handle)
      : bandit(gpb::model_state_from_config(config, handle), gpb::rules_from_config(config, handle)) {}
  gpb::Bandit bandit;
  bool changing = false;  // a change is in progress further up the call stack
  bool in_step = true;    // false if the object differs from the log; then it is no longer used
};

// Distinguishes our handles from other pointers.
inline SEXP bandit_tag() { return Rf_install("gpbandits_bandit"); }

inline bool is_held_bandit(SEXP handle) {
  return TYPEOF(handle) == EXTPTRSXP && R_ExternalPtrTag(handle) == bandit_tag() &&
         R_ExternalPtrAddr(handle) != nullptr;
}

// Can the handle's object be read and changed?
inline bool is_ready(SEXP handle) {
  if (!is_held_bandit(handle)) return false;
  const auto* held = static_cast<const HeldBandit*>(R_ExternalPtrAddr(handle));
  return held->in_step && !held->changing;
}

// The largest sd of a reward under the prior.
inline double prior_spread(const gpb::Bandit& bandit, double noise_var) {
  const double scale = bandit.space().prior_scale();
  return std::sqrt(scale * scale + noise_var);
}

// Access to a bandit, for reading.
class BanditHandle {
 public:
  explicit BanditHandle(SEXP handle) : held_(checked(handle)) {}
  gpb::Bandit* operator->() const { return &held_->bandit; }
  gpb::Bandit& operator*() const { return held_->bandit; }
  HeldBandit* held() const { return held_.get(); }

 protected:
  static SEXP checked(SEXP handle) {
    if (!is_held_bandit(handle)) gpb::throw_invalid("this is no bandit's handle");
    return handle;
  }
  Rcpp::XPtr<HeldBandit> held_;
};

// Access for a change. No second change can begin meanwhile. The object is out of step with the log until
// cpp_log_follow() has updated the log. R code does not have to restore anything after an error.
class BanditDelta : public BanditHandle {
 public:
  explicit BanditDelta(SEXP handle) : BanditHandle(handle) {
    if (held_->changing) gpb::throw_logic("this bandit is in the middle of a change");
    held_->changing = true;
    was_in_step_ = held_->in_step;
    held_->in_step = false;
  }
  ~BanditDelta() { held_->changing = false; }
  // Nothing has changed after all.
  void undone() { held_->in_step = was_in_step_; }
  BanditDelta(const BanditDelta&) = delete;
  BanditDelta& operator=(const BanditDelta&) = delete;

 private:
  bool was_in_step_;
};

// New settings, put into force by `change` (of the bandit): afterwards nothing calls the functions of those before.
template <typename Delta>
void change_model_state(SEXP handle, const Rcpp::List& config, const Delta& change) {
  gpb::HandleFunctions functions;
  gpb::ModelState model_state = gpb::model_state_from_config(config, &functions);
  const Rcpp::Shield<SEXP> kept(functions.list());
  change(std::move(model_state));
  SET_VECTOR_ELT(R_ExternalPtrProtected(handle), 1, kept);
  functions.let_go();
}

// The parameters of a refit. Where the core cannot take them it stays as it was, and throws.
inline void refit(SEXP handle, const Rcpp::List& config) {
  change_model_state(handle, config, [&](gpb::ModelState model_state) {
    BanditDelta bandit(handle);
    try {
      bandit->refit(std::move(model_state));
    } catch (...) {
      bandit.undone();
      throw;
    }
  });
}

#endif
