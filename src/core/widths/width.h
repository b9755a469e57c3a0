// Confidence widths: what multiplies the posterior standard deviation.
#ifndef GPB_WIDTH_H
#define GPB_WIDTH_H

#include "likelihoods/laplace.h"
#include "widths/gain.h"

namespace gpb {

// Rewards that came with a noise variance lambda_s of their own.
struct OwnNoise {
  double largest_ratio = 1.0;  // of lambda / lambda_s, and at least 1
  double precision = 0.0;      // sum of 1 / lambda_s - 1 / lambda
};

// What a width may depend on, at one round.
struct WidthState {
  double t = 1.0;               // 1 + queries since the last restart or fresh epoch
  double arms = kNaN;           // number of arms, NaN on a box
  double noise_var = 1.0;
  double rounds = 0.0;          // queries so far, restarts or not
  double known = 0.0;           // rewards known since then
  double log_det = 0.0;         // log det(I + K/lambda) of the points the variance knows
  double noise_factor = 1.0;    // multiplies R (constraints: sqrt(1 + sum kappa^2))
  double failure_factor = 1.0;  // multiplies delta (constraints: 1 / epochs)
  // Sum of sd_{t-1} over the last m queries, or over the pending ones among them.
  std::function<double(bool pending_only)> recent_sd;
  std::function<OwnNoise()> own_noise;
  // -2 (ELBO + J) of what a likelihood has made of the rewards, see GlmWidth.
  std::function<double()> information;
  // What the engine leaves out there: of J's gradient, and of the sd that the width multiplies.
  std::function<SiteGap()> site_gap;
  // Of this round's choice; null where a width is only looked at, and nothing may be drawn.
  Rng* rng = nullptr;
};

class Width {
 public:
  virtual ~Width() = default;
  virtual double at(const WidthState& state) = 0;
  // Where it multiplies the sd of sites with the curvature that this norm allows, see GlmWidth.
  virtual double norm_bound() const { return kNaN; }
};

using WidthPtr = std::shared_ptr<Width>;
using GainPtr = std::shared_ptr<Gain>;

class ConstantWidth : public Width {
 public:
  explicit ConstantWidth(double value) : value_(value) {}
  double at(const WidthState&) override { return value_; }

 private:
  double value_;
};

// A user's: of one row with t, log det, noise variance, number of arms and rounds.
class FunctionWidth : public Width {
 public:
  explicit FunctionWidth(std::function<double(const MatrixXd&)> f) : f_(std::move(f)) {}
  double at(const WidthState& state) override;

 private:
  std::function<double(const MatrixXd&)> f_;
};

// Srinivas et al., Theorem 1: sqrt(scale 2 log(n t^2 pi^2 / (6 delta))).
class SrinivasFiniteWidth : public Width {
 public:
  SrinivasFiniteWidth(double delta, double scale) : delta_(delta), scale_(scale) {}
  double at(const WidthState& state) override;

 private:
  double delta_, scale_;
};

// Srinivas et al., Theorem 2, on [0, r]^d; the discretisation has one point at least.
class SrinivasCompactWidth : public Width {
 public:
  SrinivasCompactWidth(double delta, double a, double b, double r, double d, double scale)
      : delta_(delta), a_(a), b_(b), r_(r), d_(d), scale_(scale) {}
  double at(const WidthState& state) override;

 private:
  double delta_, a_, b_, r_, d_, scale_;
};

// At the centres of m^d cells of a box and at one point that the past has chosen, t = 1 + rewards
// known: sqrt(2 log((m^d + 1) pi^2 t^2 / (3 delta))), m such that f differs by slack / t^2 at most
// between a point and its cell's centre.
class SrinivasBoxWidth : public Width {
 public:
  SrinivasBoxWidth(double delta, double a, double b, double r, double d, double slack) :
      delta_(delta), a_(a), b_(b), r_(r), d_(d), slack_(slack) {}
  double at(const WidthState& state) override;

 private:
  double delta_, a_, b_, r_, d_, slack_;
};

// Srinivas et al., Theorem 3: sqrt(scale (2 B^2 + 300 gamma_{t-1} log^3(t / delta))); with
// gamma_t, as they print it, if printed.
class SrinivasRkhsWidth : public Width {
 public:
  SrinivasRkhsWidth(double B, double delta, GainPtr gain, double scale, bool printed)
      : B_(B), delta_(delta), gain_(std::move(gain)), scale_(scale), printed_(printed) {}
  double at(const WidthState& state) override;

 private:
  double B_, delta_;
  GainPtr gain_;
  double scale_;
  bool printed_;
};

// Takeno et al.: sqrt(2 log(n / 2) + E), E a new exponential variable with mean 2 each round. NaN
// where nothing may be drawn.
class RandomisedWidth : public Width {
 public:
  double at(const WidthState& state) override;
};

// Chowdhury & Gopalan: B + R sqrt(2 (gamma_{t-1} + 1 + log(numerator / delta)));
// numerator 1 for IGP-UCB, 2 for GP-TS.
class IgpWidth : public Width {
 public:
  IgpWidth(double B, double R, double delta, double numerator, GainPtr gain)
      : B_(B), R_(R), delta_(delta), numerator_(numerator), gain_(std::move(gain)) {}
  double at(const WidthState& state) override;

 private:
  double B_, R_, delta_, numerator_;
  GainPtr gain_;
};

// The scale of a reward's noise: R, or where R bounds that of rewards with a smaller noise variance
// of their own as well, what it is once they are weighed: R sqrt(lambda / min lambda_s).
struct NoiseScale {
  double R;
  bool bounded;
  double at(const WidthState& state) const;
};

// Abbasi-Yadkori: B + R / sqrt(lambda) sqrt(2 log(1/delta) + log det(I + K/lambda)).
class RealisedWidth : public Width {
 public:
  RealisedWidth(double B, NoiseScale noise, double delta) : B_(B), noise_(noise), delta_(delta) {}
  double at(const WidthState& state) override;

 private:
  double B_;
  NoiseScale noise_;
  double delta_;
};

// For designs that do not look at rewards, at `looks` times that are fixed beforehand:
// sqrt(B^2 + 2 R^2 / lambda log(2 n looks / delta)).
class FixedWidth : public Width {
 public:
  FixedWidth(double B, double R, double delta, double looks) :
      B_(B), R_(R), delta_(delta), looks_(looks) {}
  double at(const WidthState& state) override;

 private:
  double B_, R_, delta_, looks_;
};

// Flynn & Reeb's analytic bound: sqrt(B^2 + R^2/lambda (log det + 2 log(1/delta))).
class AmmWidth : public Width {
 public:
  AmmWidth(double B, NoiseScale noise, double delta) : B_(B), noise_(noise), delta_(delta) {}
  double at(const WidthState& state) override;

 private:
  double B_;
  NoiseScale noise_;
  double delta_;
};

// For rewards with a likelihood (successes, counts, comparisons without ties): with probability 1 - delta
// |f(x) - f^(x)| <= r sd_c(x) for all x and t, where |f - m| <= B in the RKHS norm,
// r^2 = B^2 + 2 log(1 / delta) - 2 (ELBO + J).
// Proof. p_g(y) is the likelihood of all rewards so far under g, l = log p. The mixture
// M_t = int p_g / p_f dGP(g) is a nonnegative martingale under the true f, whoever chooses the next point
// by the past, with mean 1; by Ville's inequality M_t <= 1 / delta for all t at once with probability
// 1 - delta: l(f) >= log Z - log(1 / delta) >= ELBO - log(1 / delta), Z the evidence and ELBO a bound of
// it by any Gaussian q, here Laplace's (whose own log Z is no bound). With J(g) = -l(g) + |g - m|^2 / 2
// so J(f) <= B^2 / 2 - ELBO + log(1 / delta). On the other hand f^ minimises J, so that to first order
// nothing is gained, J(f) - J(f^) = sum D_i(f_i, f^_i) + |f - f^|^2 / 2 with Bregman's divergences D_i of
// -l_i, and D_i(u, f^_i) >= c_i (u - f^_i)^2 / 2 for all u = m_i + h_i'(f - m), |u - m_i| <= B sqrt(k_ii):
// 2 D / (u - f^)^2 = 2 int_0^1 (1 - s) w(f^ + s (u - f^)) ds is a mean of w = -l_i'' over the stretch from
// f^ to u; as w rises and falls once at most, that mean is least at an end of the range, or f^ itself.
// Hence r^2 / 2 >= J(f) - J(f^) >= |f - f^|_C^2 / 2 with C = 1 + sum c_i h_i h_i', and |f(x) - f^(x)| <=
// |f - f^|_C sd_c(x), sd_c^2(x) = k_x' C^-1 k_x. (After Abbasi-Yadkori et al. 2011 for Gaussian noise,
// where this is AmmWidth; c need not be predictable, for the argument is about one path.)
// f^ is the smallest point of J over the ball |g - m| <= B, in which f is, too: to first order nothing is gained
// either, and c_i is no less than the least -l_i'' over |u - m_i| <= B sqrt(k_ii), as regret bounds need it.
// Of an engine whose mean f~ is J's smallest point in a part of that space, g J's gradient there (which is
// orthogonal to that part), q the mean's Gaussian without change beyond the part: ELBO and J are those of f~ as
// they are, J(f) >= J(f~) - |g| |f - f~| + |f - f~|_C^2 / 2 with C at f~, so that |f - f~|_C is at most
// |g| + sqrt(r^2 + |g|^2), times an sd_c that is known to a factor 1 + e.
class GlmWidth : public Width {
 public:
  GlmWidth(double B, double delta) : B_(B), delta_(delta) {}
  double at(const WidthState& state) override;
  double norm_bound() const override { return B_; }

 private:
  double B_, delta_;
};

// Verma et al.: base_t + B_y * sum over the last m queries of sd_{t-1}(x_s).
class SdfWidth : public Width {
 public:
  SdfWidth(WidthPtr base, double B_y, bool pending_only)
      : base_(std::move(base)), B_y_(B_y), pending_only_(pending_only) {}
  double at(const WidthState& state) override;

 private:
  WidthPtr base_;
  double B_y_;
  bool pending_only_;
};

// A misspecified model (Bogunovic & Krause): base_t + epsilon sqrt((t - 1) / lambda), for f within
// epsilon of a function that base is a bound for; with noise variances of their own the sum of
// 1 / lambda_s for (t - 1) / lambda.
class MisspecifiedWidth : public Width {
 public:
  MisspecifiedWidth(WidthPtr base, double epsilon) : base_(std::move(base)), epsilon_(epsilon) {}
  double at(const WidthState& state) override;

 private:
  WidthPtr base_;
  double epsilon_;
};

// Rewards that are wrong by so much in all: base_t + total / sqrt(lambda), with the smallest noise
// variance that a reward came with, where that is smaller.
class CorruptedWidth : public Width {
 public:
  CorruptedWidth(WidthPtr base, double total) : base_(std::move(base)), total_(total) {}
  double at(const WidthState& state) override;

 private:
  WidthPtr base_;
  double total_;
};

// Avanesov: sqrt(D t^(d(d+1) / (2 nu + d(d+1))) log^4(horizon)).
class CpdWidth : public Width {
 public:
  CpdWidth(double D, double nu, double d, double horizon)
      : D_(D), nu_(nu), d_(d), horizon_(horizon) {}
  double at(const WidthState& state) override;

 private:
  double D_, nu_, d_, horizon_;
};

// The dynamic mixture-martingale bound over a grid of regularisers: not one
// multiplier but, per regulariser alpha, the half-width sd_alpha(x) * multiplier.
// The bandit keeps one posterior per alpha and takes the smallest upper bound.
// What it needs of one posterior: its regulariser, y' (K + alpha I)^-1 y and log det(I + K / alpha).
struct DmmTerm {
  double alpha, quadratic, log_det;
};

struct DmmBound {
  double B, R, delta;
  std::vector<double> alpha, alpha0;
  // R_t^2, from the martingales of all alpha0, averaged.
  double radius(const std::vector<DmmTerm>& prior_scales, const WidthState& state) const;
  double multiplier(const DmmTerm& term, double radius) const;
};

}  // namespace gpb

#endif
