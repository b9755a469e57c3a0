// R's own random generator as an Rng of the core, so that set.seed() and R's parallel streams work.
#ifndef GPB_R_RNG_H
#define GPB_R_RNG_H

#include <Rcpp/Lightest>
#include <R_ext/Random.h>

#include "base/types.h"

namespace gpb {

// The state of R's generator is in R, or temporarily in C, where draws advance it. R code that runs in the meantime
// reads the old state, for example a user function that draws, or a finalizer that reads the seed (as in RSQLite). Then
// numbers would be repeated. So the state is written back before any R code is called. There is one state for the
// process, as there is one R.
class RRng : public Rng {
 public:
  RRng() = default;
  ~RRng() override { give_back(); }
  RRng(const RRng&) = delete;
  RRng& operator=(const RRng&) = delete;
  double uniform() override { return take(), unif_rand(); }
  double normal() override { return take(), norm_rand(); }
  // R_unif_index uses rejection, as sample() does, so that rounding favours no index.
  Index index(Index n) override {
    return take(), static_cast<Index>(R_unif_index(static_cast<double>(n)));
  }

  // Must be called before any call of R.
  static void give_back() {
    if (!taken()) return;
    taken() = false;
    PutRNGstate();
  }

 private:
  static void take() {
    if (taken()) return;
    GetRNGstate();
    taken() = true;
  }
  static bool& taken() {
    static bool is_taken = false;
    return is_taken;
  }
};

}  // namespace gpb

#endif
