// R functions that the core calls, and their protection from R's garbage collector.
#ifndef GPB_R_FUNCTION_H
#define GPB_R_FUNCTION_H

#include "r_rng.h"
#include "r_values.h"

#include <memory>
#include <vector>

namespace gpb {

// Protects a function from R's garbage collector until let_go().
class HeldFunction {
 public:
  explicit HeldFunction(SEXP f) : f_(f) { R_PreserveObject(f_); }
  ~HeldFunction() { let_go(); }
  HeldFunction(const HeldFunction&) = delete;
  HeldFunction& operator=(const HeldFunction&) = delete;
  SEXP get() const { return f_; }
  void let_go() {
    if (ours_) R_ReleaseObject(f_);
    ours_ = false;
  }

 private:
  SEXP f_;
  bool ours_ = true;
};

// The functions of one of R's handles. A function may refer to the bandit that calls it. If the core protected the
// function, neither would ever be freed. If the handle contains it, R can detect the cycle.
class HandleFunctions {
 public:
  void add(std::shared_ptr<HeldFunction> f) { functions_.push_back(std::move(f)); }
  // Allocates.
  SEXP list() const {
    const Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(functions_.size())));
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      SET_VECTOR_ELT(out, static_cast<R_xlen_t>(k), functions_[k]->get());
    }
    return out;
  }
  // Called when the handle contains the list.
  void let_go() const {
    for (const auto& f : functions_) f->let_go();
  }

 private:
  std::vector<std::shared_ptr<HeldFunction>> functions_;
};

class RFunction {
 public:
  // `handle`: that of the object that will call it, or null.
  RFunction(const Rcpp::Function& f, HandleFunctions* handle)
      : held_(std::make_shared<HeldFunction>(f)) {
    if (handle) handle->add(held_);
  }
  template <typename... Arguments>
  SEXP operator()(const Arguments&... arguments) const {
    RRng::give_back();
    return Rcpp::Function(held_->get())(arguments...);
  }
  // The returned value must be numeric. (If assertions are active, Rcpp terminates R for strings.)
  template <typename Numbers, typename... Arguments>
  Numbers numbers(const Arguments&... arguments) const {
    const Rcpp::Shield<SEXP> out((*this)(arguments...));
    if (!Rf_isNumeric(out)) gpb::throw_invalid("a function returned a value that is not numeric");
    return Rcpp::as<Numbers>(out);
  }

 private:
  std::shared_ptr<HeldFunction> held_;
};

}  // namespace gpb

#endif
