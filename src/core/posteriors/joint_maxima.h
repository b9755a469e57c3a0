// The maximum of f over finitely many points and its value at one of them, drawn jointly as often as one likes: the
// covariance is factorised once.
#ifndef GPB_JOINT_MAXIMA_H
#define GPB_JOINT_MAXIMA_H

#include <memory>

#include "posteriors/posterior.h"

namespace gpb {

class JointMaxima {
 public:
  // `point`: a number of a candidate. Points that are above it with a probability of less than 1e-9, all of them
  // together, are left out: no draw in a thousand million would differ. Null where candidates are too many, or not
  // complete.
  static std::unique_ptr<JointMaxima> of(const Posterior& known, const Candidates& all, Index point);
  // A row each: the maximum, and the value at the point.
  MatrixXd draw(Index draws, Rng& rng) const;

 private:
  // What the points left are under one model of an average: mean + root z, the point first.
  struct Model {
    double weight;
    VectorXd mean;
    MatrixXd root;
  };
  static Model model_of(const Posterior& known, double weight, const Candidates& all, Index point);
  void draw_of(const Model& model, const std::vector<Index>& rows, Rng& rng, MatrixXd& out) const;

  std::vector<Model> models_;
};

}  // namespace gpb

#endif
