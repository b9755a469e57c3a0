// A unit of the build, written by tools/units.sh.
#include "posteriors/dense_posterior.cpp"
#include "posteriors/joint_draw.cpp"
#include "posteriors/joint_maxima.cpp"
#include "posteriors/mixture_posterior.cpp"
#include "posteriors/open_posterior.cpp"
#include "posteriors/posterior.cpp"
#include "posteriors/transfer_posterior.cpp"
