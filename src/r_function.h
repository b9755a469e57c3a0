// R functions that the core calls.
#ifndef GPB_R_FUNCTION_H
#define GPB_R_FUNCTION_H

#include "r_rng.h"
#include "r_values.h"

#include <memory>
#include <vector>

namespace gpb {

// Keeps a function from R's garbage collector, until somebody else does.
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

// The functions of one of R's handles. A function may see the bandit that calls it: held by the core
// neither would ever be freed. Handed to the handle, R sees the circle.
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
  // When the handle has the list.
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
  // What it returns has to be numbers. (Where assertions are on Rcpp ends R if they are words.)
  template <typename Numbers, typename... Arguments>
  Numbers numbers(const Arguments&... arguments) const {
    const Rcpp::Shield<SEXP> out((*this)(arguments...));
    if (!Rf_isNumeric(out)) throw std::invalid_argument("a function gave something else than numbers");
    return Rcpp::as<Numbers>(out);
  }

 private:
  std::shared_ptr<HeldFunction> held_;
};

}  // namespace gpb

#endif
