// Terms of scores of several outcomes: limits, improvement, and the Pareto front.
#ifndef GPB_OUTCOME_TERMS_H
#define GPB_OUTCOME_TERMS_H

#include "scores/pareto_front.h"
#include "scores/score.h"

#include <vector>

namespace gpb {

// The slopes of a term by an outcome's mean and sd.
struct Slopes {
  double by_mean = 0.0, by_sd = 0.0;
};

// log P(the limits hold) at a point with this mean and sd of their outcome.
double log_within(const Role& role, double mean, double sd);
// The sum of these over the outcomes, which are independent. Adds to the slopes if they are not null.
double log_feasible(const std::vector<OutcomeView>& outcomes, const double* mean, const double* sd, Slopes* slopes);
// Points at which the limits hold with a probability of at least 1/2.
std::vector<Index> likely_rows(const Round& round, const PointsMoments& played);

// log EI above a target. Adds to the slopes if they are not null.
double log_improvement_above(double target, double mean, double sd, Slopes* slopes);

Index objective_of(const Round& round);
std::vector<Index> objectives_of(const std::vector<OutcomeView>& outcomes);

// The Pareto front: means of the objectives at the played points that are likely feasible, and the reference point of
// hypervolumes.
struct Front {
  Front(const Round& round, const VectorXd& given);
  std::vector<Index> objectives;
  VectorXd reference;
  MatrixXd points;

 private:
  VectorXd below(const Round& round, const MatrixXd& Y) const;
};

// The logarithm of the expected gain of hypervolume by a point, from its outcomes' means and sds.
class LogHypervolumeGain {
 public:
  LogHypervolumeGain(std::vector<Index> objectives, const MatrixXd& front, const VectorXd& reference)
      : objectives_(std::move(objectives)), boxes_(front, reference) {}
  // Adds to the slopes if they are not null.
  double operator()(const double* mean, const double* sd, Slopes* slopes) const;

 private:
  std::vector<Index> objectives_;
  NondominatedBoxes boxes_;
};

}  // namespace gpb

#endif
