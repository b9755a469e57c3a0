// Repeated joint draws of the maximum of f over finitely many points and its value at one of them. The covariance is
// factorised once.
#ifndef GPB_JOINT_MAXIMA_H
#define GPB_JOINT_MAXIMA_H

#include <memory>

#include "posteriors/posterior.h"

namespace gpb {

class JointMaxima {
 public:
  // `point`: the number of a candidate. Points are left out if all of them together exceed it with a probability below
  // 1e-9, so that about one in a thousand million results may differ. Returns null if there are too many candidates, or
  // if they are not complete.
  static std::unique_ptr<JointMaxima> of(const Posterior& known, const Candidates& all, Index point);
  // A row per draw: the maximum, and the value at the point.
  MatrixXd draw(Index draws, Rng& rng) const;

 private:
  // The remaining points under one model of an average: mean + root z, `point` first.
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
