// R's own generator behind the core's Rng, so that set.seed() and R's parallel
// streams work. The caller must hold an Rcpp::RNGScope: functions exported
// without `rng = false` do.
#ifndef GPB_R_RNG_H
#define GPB_R_RNG_H

#include <Rcpp.h>
#include <R_ext/Random.h>

#include "base/types.h"

namespace gpb {

class RRng : public Rng {
 public:
  double uniform() override { return unif_rand(); }
  double normal() override { return norm_rand(); }
  // R_unif_index rejects, as sample() does: no index is favoured by rounding.
  Index index(Index n) override {
    return static_cast<Index>(R_unif_index(static_cast<double>(n)));
  }
};

}  // namespace gpb

#endif
