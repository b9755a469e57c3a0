// Tests for changes by rewards with a likelihood: predictions under shifts, evidences of windows. Uses kernels/ and
// likelihoods/.
#ifndef GPB_CHANGE_EVIDENCE_H
#define GPB_CHANGE_EVIDENCE_H

#include <deque>
#include <functional>

#include "kernels/kernel.h"
#include "likelihoods/likelihood.h"

namespace gpb {

// The predictions p_t of rewards against those after a shift of f by c at an unknown round s, p_t,c:
//   M_t = mean over c of sum_s w_s prod_{i = s..t} p_i,c(y_i) / p_i(y_i),  w_s = 1 / log2(s + 1) - 1 / log2(s + 2).
// If the rewards have the predicted probabilities, then M_t plus the weights of later rounds is a martingale that
// begins at 1. By Ville's inequality M_t exceeds 1 / delta in any round with probability at most delta.
class ShiftTest {
 public:
  // The logarithm of M_t after a reward that was predicted with this mean and sd of f. Shifts are multiples of `scale`.
  double add(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd, double scale);
  void clear();

 private:
  double t_ = 0.0;
  std::vector<double> log_sums_;  // by shift: log sum_s w_s prod ...
};

// Log Bayes factors of "the halves of the last 2q samples have different functions" against "they have the same":
//   log Z(older half) + log Z(newer half) - log Z(both),
// where Z is Laplace's evidence. A window's evidence depends only on its end and its length.
class EvidenceSweep {
 public:
  using Rate = std::function<double(double q)>;
  // dyadic: q = 1, 2, 4, 8, ... only.
  EvidenceSweep(KernelPtr kernel, Rate threshold, bool dyadic)
      : kernel_(std::move(kernel)), threshold_(std::move(threshold)), dyadic_(dyadic) {}
  // Adds a sample; true if some q raises the alarm (the smallest is tried first).
  bool add(const Likelihood& likelihood, const VectorXd& x, const Likelihood::Data& data, double prior_mean);
  void clear();

 private:
  bool uses(std::size_t length) const { return !dyadic_ || (length & (length - 1)) == 0; }
  double evidence(const Likelihood& likelihood, std::size_t length) const;

  KernelPtr kernel_;
  Rate threshold_;
  bool dyadic_;
  std::vector<VectorXd> x_;
  std::vector<Likelihood::Data> data_;
  std::vector<double> prior_mean_;
  std::vector<std::deque<double>> past_;  // past_[q - 1]: evidences of the windows of length q, the latest last
};

}  // namespace gpb

#endif
