// R's random generator, put back by a destructor: no interrupt can come in between.
#include <Rcpp.h>

namespace {

class KeptState {
 public:
  KeptState() : name_(Rf_install(".Random.seed")), state_(Rf_findVarInFrame(R_GlobalEnv, name_)) {}
  ~KeptState() { Rf_defineVar(name_, state_, R_GlobalEnv); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  SEXP name_;
  Rcpp::RObject state_;
};

}  // namespace

// Calls code(); R's generator, which must have a state, has the same one afterwards, however the
// call ends.
// [[Rcpp::export(rng = false)]]
SEXP cpp_preserve_rng(const Rcpp::Function& code) {
  const KeptState kept;
  return code();
}
