// Information gains gamma_s for widths. Uses widths/information.h.
#ifndef GPB_GAIN_H
#define GPB_GAIN_H

#include "widths/information.h"

namespace gpb {

class Gain {
 public:
  virtual ~Gain() = default;
  // s = t - 1 points; log_det = log det(I + K/lambda) of the points in the posterior variance.
  virtual double at(double s, double log_det) = 0;
};

class NumberGain : public Gain {
 public:
  explicit NumberGain(double value) : value_(value) {}
  double at(double, double) override { return value_; }

 private:
  double value_;
};

class FunctionGain : public Gain {
 public:
  explicit FunctionGain(std::function<double(double)> f) : f_(std::move(f)) {}
  double at(double s, double) override;

 private:
  std::function<double(double)> f_;
};

class RealisedGain : public Gain {
 public:
  double at(double, double log_det) override { return 0.5 * log_det; }
};

// scale * (log s)^log_power * s^power, and 0 for s <= 1.
class RateGain : public Gain {
 public:
  RateGain(double scale, double log_power, double power) :
      scale_(scale), log_power_(log_power), power_(power) {}
  double at(double s, double) override;

 private:
  double scale_, log_power_, power_;
};

// Greedy maximisation over the arms, times e / (e - 1): an upper bound of gamma_s.
class GreedyGain : public Gain {
 public:
  explicit GreedyGain(std::unique_ptr<ArmPosterior> posterior) : greedy_(std::move(posterior)) {}
  double at(double s, double) override;

 private:
  GreedyInformation greedy_;
};

// An upper bound of gamma_s: the optimal allocation to the Gram matrix's eigenvalues (Srinivas et al. 2010, Theorem 4).
class SpectralGain : public Gain {
 public:
  SpectralGain(const VectorXd& eigenvalues, double noise_var) : spectral_(eigenvalues, noise_var) {}
  double at(double s, double) override { return spectral_.at(s); }

 private:
  SpectralInformation spectral_;
};

}  // namespace gpb

#endif
