// Change-point detection by kernel ridge regression on the halves of every tail (Avanesov). Uses kernels/.
#ifndef GPB_CHANGE_SWEEP_H
#define GPB_CHANGE_SWEEP_H

#include "kernels/kernel.h"

namespace gpb {

// Q_ab, the average over the domain of k(x, x_a) k(x, x_b); a row and a column are added with each pair.
class Averaging {
 public:
  virtual ~Averaging() = default;
  // Adds the last row and column of Q, for the last of `points`. Q is products / divisor().
  virtual void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
                      MatrixXd& products) = 0;
  virtual double divisor() const { return 1.0; }
  virtual void clear() {}
};

// The average over given points.
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

// The average over the points of the pairs, for domains that are not known in advance: Q = K K / t.
class SampledAverage : public Averaging {
 public:
  void append(const std::vector<VectorXd>& points, const MatrixXd& gram,
              MatrixXd& products) override;
  double divisor() const override { return static_cast<double>(pairs_); }
  void clear() override { pairs_ = 0; }

 private:
  Index pairs_ = 0;
};

// The average over a box, for the squared-exponential kernel variance * exp(-sum (x - y)^2 / 2 l^2). In each input
//   k(x, a) k(x, b) = exp(-(a - b)^2 / 4 l^2 - (x - m)^2 / l^2),  m = (a + b) / 2.
// The average of this over [low, high] is
//   exp(-(a - b)^2 / 4 l^2) sqrt(pi) l (erf((high - m) / l) - erf((low - m) / l)) / (2 (high - low)).
class SquaredExponentialAverage : public Averaging {
 public:
  // The lengthscale of an input that the kernel does not use is infinite.
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
// Let k be the detector's kernel, alpha = (K + ridge_q I)^-1 y on a window of q pairs, and Q_ab the average over the
// domain of k(x, x_a) k(x, x_b). The statistic of the last 2q pairs is w'Qw with
// w = (alpha of the older half, -alpha of the newer half).
//
// A window's alpha depends only on where the window ends. The older half's alpha is therefore the newer half's alpha of
// q pairs ago. Its Cholesky factor is updated by removing one row and adding one. A new pair therefore costs O(q^2) for
// each q instead of O(q^3).
class ChangeSweep {
 public:
  using Rate = std::function<double(double q)>;
  // dyadic: tails of 2q pairs for q = 1, 2, 4, 8, ... only.
  ChangeSweep(KernelPtr kernel, std::unique_ptr<Averaging> average, Rate threshold, Rate ridge,
              bool dyadic = false);

  // Adds a pair; true if some tail raises the alarm.
  bool add(const VectorXd& x, double y) { return largest(x, y) > 1.0; }
  // Adds a pair. The largest statistic of a tail, as a multiple of its threshold.
  double largest(const VectorXd& x, double y);
  void clear();
  Index size() const { return static_cast<Index>(y_.size()); }

 private:
  // The factor of the last q pairs and the weights of past windows of this length.
  struct Window {
    MatrixXd factor;                  // lower triangle, oldest pair first
    std::vector<VectorXd> weights;    // of the windows that ended 0 .. q pairs ago
    double ridge = 0.0, threshold = 0.0;  // ridge 0: the window has not been used yet
  };
  void grow_matrices(const VectorXd& x);
  void slide(Window& window, Index q);
  double statistic(const VectorXd& older, const VectorXd& newer) const;

  KernelPtr kernel_;
  std::unique_ptr<Averaging> average_;
  Rate threshold_, ridge_;
  bool dyadic_;
  std::vector<VectorXd> x_;
  std::vector<double> y_;
  MatrixXd gram_, products_;  // K and Q times the divisor, grown by doubling
  std::vector<Window> windows_;  // windows_[q - 1]
};

// The statistic of one sample of even size: older against newer half, both with this ridge.
double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        const Points& domain);
double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        Averaging& average);

}  // namespace gpb

#endif
