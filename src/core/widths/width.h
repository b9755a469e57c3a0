// Confidence widths: the multipliers sqrt(beta_t) of the posterior standard deviation. Uses likelihoods/ and widths/.
#ifndef GPB_WIDTH_H
#define GPB_WIDTH_H

#include "likelihoods/laplace.h"
#include "widths/gain.h"

namespace gpb {

// The effect of rewards that were reported with a separate noise variance lambda_s.
struct OwnNoise {
  double largest_ratio = 1.0;  // of lambda / lambda_s, and at least 1
  double precision = 0.0;      // sum of 1 / lambda_s - 1 / lambda
};

// The inputs of a width in one round.
struct WidthState {
  double t = 1.0;               // 1 + queries since the last restart or fresh epoch
  double arms = kNaN;           // number of arms, NaN on a box
  double noise_var = 1.0;
  double rounds = 0.0;          // queries so far, restarts or not
  double known = 0.0;           // observed rewards since the last restart or fresh epoch
  double log_det = 0.0;         // log det(I + K/lambda) of the points in the posterior variance
  double noise_factor = 1.0;    // multiplies R (constraints: sqrt(1 + sum kappa^2))
  double failure_factor = 1.0;  // multiplies delta (constraints: 1 / epochs)
  // Sum of sd_{t-1} over the last m queries, or over the pending ones among them.
  std::function<double(bool pending_only)> recent_sd;
  std::function<OwnNoise()> own_noise;
  // -2 (ELBO + J), if the rewards have a likelihood other than the Gaussian one; see GlmWidth.
  std::function<double()> information;
  // The error of an approximate engine: in J's gradient, and in the sd that the width multiplies. See GlmWidth.
  std::function<SiteGap()> site_gap;
  // For random widths of this round. Null if the width is only computed for display and no number may be drawn.
  Rng* rng = nullptr;
};

class Width {
 public:
  virtual ~Width() = default;
  virtual double at(const WidthState& state) = 0;
  // The bound B of the RKHS norm, if the width multiplies the sd of sites with the least curvature within B (see
  // GlmWidth). NaN otherwise.
  virtual double norm_bound() const { return kNaN; }
};

using WidthPtr = std::unique_ptr<Width>;
using GainPtr = std::unique_ptr<Gain>;

class ConstantWidth : public Width {
 public:
  explicit ConstantWidth(double value) : value_(value) {}
  double at(const WidthState&) override { return value_; }

 private:
  double value_;
};

// A user's function of a matrix with one row: t, log det, noise variance, number of arms and rounds.
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

// Srinivas et al., Theorem 2, on [0, r]^d; the discretisation has at least one point.
class SrinivasCompactWidth : public Width {
 public:
  SrinivasCompactWidth(double delta, double a, double b, double r, double d, double scale)
      : delta_(delta), a_(a), b_(b), r_(r), d_(d), scale_(scale) {}
  double at(const WidthState& state) override;

 private:
  double delta_, a_, b_, r_, d_, scale_;
};

// For the centres of m^d cells of a box and one point that depends on the past, with t = 1 + observed rewards:
//   sqrt(2 log((m^d + 1) pi^2 t^2 / (3 delta))).
// The number m is such that f at a point and at the centre of its cell differ by at most slack / t^2.
class SrinivasBoxWidth : public Width {
 public:
  SrinivasBoxWidth(double delta, double a, double b, double r, double d, double slack) :
      delta_(delta), a_(a), b_(b), r_(r), d_(d), slack_(slack) {}
  double at(const WidthState& state) override;

 private:
  double delta_, a_, b_, r_, d_, slack_;
};

// Srinivas et al., Theorem 3: sqrt(scale (2 B^2 + 300 gamma_{t-1} log^3(t / delta))). If `printed`, with gamma_t, as in
// the published theorem.
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

// Takeno et al.: sqrt(2 log(n / 2) + E), where E is exponential with mean 2 and drawn again in each round. NaN if
// nothing may be drawn.
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

// The scale of the noise after weighting: R. If R also bounds the noise of rewards with a smaller separate variance
// lambda_s (`bounded`), the scale is R sqrt(lambda / min lambda_s).
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

// For designs that do not depend on rewards, with m = looks_ evaluations at times that are fixed in advance:
// sqrt(B^2 + 2 R^2 / lambda log(2 n m / delta)).
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

// For rewards with a likelihood (successes, counts, comparisons without ties). If |f - m| <= B in the RKHS norm, then
// with probability 1 - delta, for all x and t:
//   |f(x) - f^(x)| <= r sd_c(x),  r^2 = B^2 + 2 log(1 / delta) - 2 (ELBO + J).
// Proof. Let p_g(y) be the likelihood of all rewards so far under g, and l = log p.
// (1) The mixture M_t = int p_g / p_f dGP(g) is a nonnegative martingale with mean 1 under the true f, for every rule
//     that chooses the next point by the past. By Ville's inequality M_t <= 1 / delta for all t at once with
//     probability 1 - delta. Then l(f) >= log Z - log(1 / delta) >= ELBO - log(1 / delta). Z is the evidence. The ELBO
//     bounds log Z from below for any Gaussian q; here q is Laplace's, whose log Z itself is no bound.
// (2) With J(g) = -l(g) + |g - m|^2 / 2 it follows that J(f) <= B^2 / 2 - ELBO + log(1 / delta).
// (3) f^ minimises J, hence J(f) - J(f^) = sum D_i(f_i, f^_i) + |f - f^|^2 / 2, where D_i is the Bregman divergence
//     of -l_i: the first-order term is zero.
// (4) D_i(u, f^_i) >= c_i (u - f^_i)^2 / 2 for all u = m_i + h_i'(f - m) with |u - m_i| <= B sqrt(k_ii). Indeed
//     2 D / (u - f^)^2 = 2 int_0^1 (1 - s) w(f^ + s (u - f^)) ds, a mean of w = -l_i'' over the interval from f^ to u.
//     As w rises and falls at most once, this mean is least at an end of the range or at f^.
// (5) Hence r^2 / 2 >= J(f) - J(f^) >= |f - f^|_C^2 / 2 with C = 1 + sum c_i h_i h_i'.
//     Finally |f(x) - f^(x)| <= |f - f^|_C sd_c(x), sd_c^2(x) = k_x' C^-1 k_x.
// For Gaussian noise this is AmmWidth (Abbasi-Yadkori et al. 2011). The c_i need not be predictable, because the
// argument is about one path.
// The mean f^ minimises J over the ball |g - m| <= B, which contains f, so that the first-order term is nonnegative.
// Each c_i is at least the least -l_i'' over |u - m_i| <= B sqrt(k_ii), as regret bounds require.
// Approximate engines: the mean f~ minimises J over a subspace only. Let g be J's gradient at f~, which is orthogonal
// to that subspace, and let q equal the prior outside of it. ELBO and J are those of f~, without a correction. Then
// J(f) >= J(f~) - |g| |f - f~| + |f - f~|_C^2 / 2 with C at f~. Hence |f - f~|_C is at most |g| + sqrt(r^2 + |g|^2),
// which multiplies an sd_c that is exact up to a factor 1 + e.
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

// A misspecified model (Bogunovic & Krause): base_t + epsilon sqrt((t - 1) / lambda), for f within epsilon of a
// function that `base` bounds. If rewards have separate noise variances, (t - 1) / lambda becomes the sum of
// 1 / lambda_s.
class MisspecifiedWidth : public Width {
 public:
  MisspecifiedWidth(WidthPtr base, double epsilon) : base_(std::move(base)), epsilon_(epsilon) {}
  double at(const WidthState& state) override;

 private:
  WidthPtr base_;
  double epsilon_;
};

// Corrupted rewards, whose errors sum to at most `total`: base_t + total / sqrt(lambda). If a reward has a smaller
// separate noise variance, lambda is the smallest of these.
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

// The dynamic mixture-martingale bound over a grid of regularisers. It has no single multiplier: for each regulariser
// alpha the half-width is sd_alpha(x) * multiplier. The bandit keeps a posterior for each alpha and uses the smallest
// upper bound. A term holds the numbers of one posterior: alpha, y' (K + alpha I)^-1 y and log det(I + K / alpha).
struct DmmTerm {
  double alpha, quadratic, log_det;
};

struct DmmBound {
  double B, R, delta;
  std::vector<double> alpha, alpha0;
  // R_t^2, from the average of the martingales of all alpha0.
  double radius(const std::vector<DmmTerm>& prior_scales, const WidthState& state) const;
  double multiplier(const DmmTerm& term, double radius) const;
};

}  // namespace gpb

#endif
