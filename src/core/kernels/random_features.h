// Random functions with a kernel's covariance, for Thompson sampling on a box. Uses base/ only.
// A feature of a kernel k is a random function phi with E phi(x) phi(y) = k(x, y). The feature of a product of kernels
// is the product of their features. For cosines this adds the frequencies. A path is a sum of independent features,
// divided by the root of their number.
#ifndef GPB_RANDOM_FEATURES_H
#define GPB_RANDOM_FEATURES_H

#include "base/types.h"

namespace gpb {

// A random function of one input: independent +1 or -1 with equal probability for each of its values. If `of_level` is
// given, it is that table by level (numbers from 1).
struct RandomSign {
  Index input;
  double seed;
  std::shared_ptr<const VectorXd> of_level = nullptr;
  double of(double value) const;
};

// amplitude * prod_j (directions_j'x) * by_arm[x's arm] * prod (signs of x's inputs) * (a cosine of this frequency).
// The cosine's random amplitude and phase are drawn last, once for all factors.
struct Feature {
  explicit Feature(Index inputs) : frequency(VectorXd::Zero(inputs)) {}
  double amplitude = 1.0;
  VectorXd frequency;
  std::vector<VectorXd> directions;
  VectorXd by_arm;        // empty: 1 for every arm
  Index arm_column = -1;  // the column of a point that holds its arm's number
  std::vector<RandomSign> signs;
};

// An approximate draw of one function from GP(0, k). Plain data, which can be copied.
class PriorPath {
 public:
  // The sum of the features over the root of their number. Given frequencies and directions it is a Gaussian process,
  // with one cosine and one sine for each feature.
  static PriorPath waves(std::vector<Feature> features, Rng& rng);
  // x -> slope'x.
  static PriorPath line(VectorXd slope);
  // Adds an independent path.
  void add(const PriorPath& other);

  double value(const VectorXd& x) const;
  void values(const Points& X, Eigen::Ref<VectorXd> out) const;
  double value_and_gradient(const VectorXd& x, VectorXd& gradient) const;

 private:
  // weight_m prod_j (directions_j.col(m)'x) by_arm(arm, m) signs_m(x) cos(frequency.col(m)'x + phase_m).
  struct Group {
    MatrixXd frequency;                // inputs x features
    std::vector<MatrixXd> directions;  // the same shape each
    VectorXd phase;
    VectorXd weight;
    MatrixXd by_arm;  // arms x features; empty if no feature has a table
    Index arm_column;
    std::vector<std::vector<RandomSign>> signs;  // empty if no feature has any
    Index arm_of(double number) const;
    double sign(std::size_t feature, const Eigen::Ref<const VectorXd>& x) const;
  };
  static Group group_of(std::vector<Feature>::const_iterator first,
                        std::vector<Feature>::const_iterator last, Index total, Rng& rng);
  static void add_values(const Group& group, const Points& X, Eigen::Ref<VectorXd> out);
  static double add_gradient(const Group& group, const VectorXd& x, VectorXd& gradient);

  std::vector<Group> groups_;
  VectorXd slope_;  // empty if there is none
};

// Gamma with this shape and scale 1.
double draw_gamma(Rng& rng, double shape);

// An integer j with probability exp(-a) I_|j|(a), the Fourier coefficients of
// exp(a cos(theta) - a).
double draw_harmonic(Rng& rng, double a);

}  // namespace gpb

#endif
