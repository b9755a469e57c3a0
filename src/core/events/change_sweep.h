// Delta-point detection by kernel ridge regression on the halves of every tail (Avanesov).
#ifndef GPB_CHANGE_SWEEP_H
#define GPB_CHANGE_SWEEP_H

#include "kernels/kernel.h"

namespace gpb {

// Q_ab, the average over the domain of k(x, x_a) k(x, x_b), grown pair by pair.
class Averaging {
 public:
  virtual ~Averaging() = default;
  // The pair of `points` that came last: Q's last row and column. Q is products / divisor().
  virtual void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
                      MatrixXd& products) = 0;
  virtual double divisor() const { return 1.0; }
  virtual void clear() {}
};

// Over given points.
class PointAverage : public Averaging {
 public:
  PointAverage(KernelPtr kernel, std::shared_ptr<const Points> domain)
      : kernel_(std::move(kernel)), domain_(std::move(domain)) {}
  void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
              MatrixXd& products) override;

 private:
  KernelPtr kernel_;
  std::shared_ptr<const Points> domain_;
  MatrixXd over_domain_;  // k(x, x_a) over the domain, a column per pair
};

// Over the pairs' own points, for domains that are not known beforehand: Q = K K / t.
class SampledAverage : public Averaging {
 public:
  void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
              MatrixXd& products) override;
  double divisor() const override { return static_cast<double>(pairs_); }
  void clear() override { pairs_ = 0; }

 private:
  Index pairs_ = 0;
};

// Over a box, for the squared-exponential kernel variance * exp(-sum (x - y)^2 / 2 l^2): in each
// input k(x, a) k(x, b) = exp(-(a - b)^2 / 4 l^2 - (x - m)^2 / l^2), m = (a + b) / 2, whose
// average over [low, high] is exp(-(a - b)^2 / 4 l^2) sqrt(pi) l (erf((high - m) / l) -
// erf((low - m) / l)) / (2 (high - low)).
class SquaredExponentialAverage : public Averaging {
 public:
  // An infinite lengthscale: an input that the kernel does not use.
  SquaredExponentialAverage(VectorXd lower, VectorXd upper, VectorXd lengthscale, double variance)
      : lower_(std::move(lower)),
        upper_(std::move(upper)),
        lengthscale_(std::move(lengthscale)),
        variance_(variance) {}
  void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
              MatrixXd& products) override;
  double value(const VectorXd& a, const VectorXd& b) const;

 private:
  VectorXd lower_, upper_, lengthscale_;
  double variance_;
};

// Algorithm 1 of Avanesov for every tail of the uniformly sampled pairs.
//
// With k the detector's kernel, alpha = (K + ridge_q I)^-1 y on a window of q pairs, and
// Q_ab the average over the domain of k(x, x_a) k(x, x_b), the statistic of the last 2q
// pairs is w'Qw with w = (alpha of the older half, -alpha of the newer half). A window's
// alpha depends on where it ends alone, so the older half's is the newer half's of q
// pairs ago; and its Cholesky factor slides along by dropping a row and adding one. So a
// new pair costs O(q^2) for each q and not O(q^3).
class ChangeSweep {
 public:
  using Rate = std::function<double(double q)>;
  // dyadic: tails of 2q pairs for q = 1, 2, 4, 8, ... only.
  ChangeSweep(KernelPtr kernel, std::shared_ptr<Averaging> average, Rate threshold, Rate ridge,
              bool dyadic = false);

  // One pair more; true if some tail raises the alarm (the shortest is tried first).
  bool add(const VectorXd& x, double y);
  void clear();
  Index size() const { return static_cast<Index>(y_.size()); }

 private:
  // The factor of the last q pairs and the weights of past windows of this length.
  struct Window {
    MatrixXd factor;                  // lower triangle, oldest pair first
    std::vector<VectorXd> weights;    // of the windows that ended 0 .. q pairs ago
    double ridge = 0.0, threshold = 0.0;  // no window has been used where the ridge is 0
  };
  void grow_matrices(const VectorXd& x);
  void slide(Window& window, Index q);
  double statistic(const VectorXd& older, const VectorXd& newer) const;

  KernelPtr kernel_;
  std::shared_ptr<Averaging> average_;
  Rate threshold_, ridge_;
  bool dyadic_;
  std::vector<VectorXd> x_;
  std::vector<double> y_;
  MatrixXd gram_, products_;  // K and Q times the divisor, grown by doubling
  std::vector<Window> windows_;  // windows_[q - 1]
};

// The statistic of one even-sized sample: older against newer half, both with this ridge.
double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        const Points& domain);
double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        Averaging& average);

}  // namespace gpb

#endif
