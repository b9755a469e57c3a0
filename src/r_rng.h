// R's own generator behind the core's Rng, so that set.seed() and R's parallel
// streams work. It reads R's state at its first draw and gives it back at its end.
#ifndef GPB_R_RNG_H
#define GPB_R_RNG_H

#include <Rcpp/Lightest>
#include <R_ext/Random.h>

#include <optional>

#include "base/types.h"

namespace gpb {

class RRng : public Rng {
 public:
  double uniform() override { return begin(), unif_rand(); }
  double normal() override { return begin(), norm_rand(); }
  // R_unif_index rejects, as sample() does: no index is favoured by rounding.
  Index index(Index n) override {
    return begin(), static_cast<Index>(R_unif_index(static_cast<double>(n)));
  }

 private:
  void begin() {
    if (!state_) state_.emplace();
  }

  std::optional<Rcpp::RNGScope> state_;
};

}  // namespace gpb

#endif
