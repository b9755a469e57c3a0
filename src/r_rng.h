// R's own generator behind the core's Rng, so that set.seed() and R's parallel
// streams work.
#ifndef GPB_R_RNG_H
#define GPB_R_RNG_H

#include <Rcpp/Lightest>
#include <R_ext/Random.h>

#include "base/types.h"

namespace gpb {

// R's generator has its state in R, or for a while in C, where draws move it on. R code that runs in that while reads
// the old state: a function of the user's that draws, or any finalizer that does as much as look (RSQLite's does). Then
// numbers would come twice. So the state is given back before any R code is called: there are as many of it as of R,
// one a process.
class RRng : public Rng {
 public:
  RRng() = default;
  ~RRng() override { give_back(); }
  RRng(const RRng&) = delete;
  RRng& operator=(const RRng&) = delete;
  double uniform() override { return take(), unif_rand(); }
  double normal() override { return take(), norm_rand(); }
  // R_unif_index rejects, as sample() does: no index is favoured by rounding.
  Index index(Index n) override {
    return take(), static_cast<Index>(R_unif_index(static_cast<double>(n)));
  }

  // To be called before R is.
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
