// A unit of the build, written by tools/units.sh.
#include "posteriors/best_point.cpp"
#include "posteriors/lazy_arms.cpp"
#include "posteriors/low_rank_basis.cpp"
#include "posteriors/low_rank_candidates.cpp"
#include "posteriors/low_rank_posterior.cpp"
#include "posteriors/low_rank_posterior_fit.cpp"
