// Functions of likelihood.h: likelihoods of rewards that are not f plus Gaussian noise. Uses base/ and linalg/.
#include "likelihoods/likelihood.h"

#include "base/normal.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- all likelihoods ----------------------------------------------------------------------------

namespace {

// 2 D(u) / (u - f)^2, if -l'' is the same function of f for every reward.
double divergence_ratio(const Slope& at_f, double f, const Slope& at_u, double u) {
  const double step = u - f;
  if (std::abs(step) < 1e-6) return -at_f.second;
  return std::max(0.0, 2.0 * (at_f.value + at_f.first * step - at_u.value) / (step * step));
}

double least_ratio(const Likelihood& likelihood, double f, double lower, double upper,
                   const Likelihood::Data& data) {
  const Slope here = likelihood.at(f, data);
  double out = -here.second;
  for (const double u : {lower, upper}) {
    out = std::min(out, divergence_ratio(here, f, likelihood.at(u, data), u));
  }
  return out;
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double logistic(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

}  // namespace

double Likelihood::least_curvature(double, double, double, const Data&) const { return kNaN; }

std::unique_ptr<const Likelihood> Likelihood::with(const VectorXd&) const {
  throw_logic("this likelihood has no fitted parameters");
}

double Likelihood::expected(double, double&) const { throw_logic("this likelihood has no expected reward"); }

MatrixXd Likelihood::parameter_slopes(double, const Data&) const { return MatrixXd(3, 0); }

void Likelihood::majorise(double, const Data&, bool, double&, double&) const {
  throw_logic("a concave likelihood needs no majorant");
}

// ---- k of n -------------------------------------------------------------------------------------

namespace {

// Data: k and n - k.
class Binary : public Likelihood {
 public:
  bool is_reward(double value) const override { return value == 0.0 || value == 1.0; }
  void pool(double value, double size, double weight, Data& data) const override {
    if (!(value >= 0.0 && value <= size)) {
      throw_invalid("a number of successes must be between 0 and that of trials");
    }
    data.resize(2, 0.0);
    data[0] += weight * value;
    data[1] += weight * (size - value);
  }
};

class Logit : public Binary {
 public:
  // (To the bit: softplus(-f) and softplus(f), logistic(f) and logistic(-f). Fits spend most of their time here.)
  Slope at(double f, const Data& data) const override {
    const double e = std::exp(-std::abs(f)), beyond = std::log1p(e), near = 1.0 / (1.0 + e), far = e / (1.0 + e);
    const double n = data[0] + data[1], p = f >= 0.0 ? near : far, q = f <= 0.0 ? near : far;
    return {-data[0] * (std::max(-f, 0.0) + beyond) - data[1] * (std::max(f, 0.0) + beyond),
            data[0] * q - data[1] * p, -n * p * q, -n * p * q * (q - p)};
  }
  double expected_weight(double f) const override { return logistic(f) * logistic(-f); }
  double expected(double f, double& slope) const override {
    slope = logistic(f) * logistic(-f);
    return logistic(f);
  }
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return least_ratio(*this, f, lower, upper, data);
  }
};

// Rankings: for two points they are logistic comparisons.
class Ranked final : public Logit {
 public:
  bool is_reward(double) const override { return false; }
  bool ranks() const override { return true; }
};

class Probit final : public Binary {
 public:
  Slope at(double f, const Data& data) const override {
    Slope out = of_success(f, data[0]);
    Slope other = of_success(-f, data[1]);
    other.first = -other.first;
    other.third = -other.third;
    return out += other;
  }
  double expected_weight(double f) const override {
    return normal_hazard(f) * normal_hazard(-f);
  }
  double expected(double f, double& slope) const override {
    slope = normal_density(f);
    return normal_cdf(f);
  }
  double weight_growth(double f) const override { return 2.0 + std::abs(f); }
  // -l'' differs between a success and a failure: the minimum is computed for each.
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return least_ratio(*this, f, lower, upper, {data[0], 0.0}) +
           least_ratio(*this, f, lower, upper, {0.0, data[1]});
  }

 private:
  static Slope of_success(double f, double count) {
    if (count == 0.0) return {};
    const double r = normal_hazard(f), s = f + r;
    return {count * normal_log_cdf(f), count * r, -count * r * s, count * r * (s * s - 1.0 + r * s)};
  }
};

}  // namespace

// ---- counts -------------------------------------------------------------------------------------

namespace {

// Data: k, exposure, and a constant that does not depend on f.
class Poisson final : public Likelihood {
 public:
  void pool(double value, double size, double weight, Data& data) const override {
    if (!(value >= 0.0)) throw_invalid("a count must be at least 0");
    data.resize(3, 0.0);
    data[0] += weight * value;
    data[1] += weight * size;
    data[2] += weight * (value * std::log(size) - std::lgamma(value + 1.0));
  }
  Slope at(double f, const Data& data) const override {
    const double rate = data[1] * std::exp(f);
    return {data[0] * f - rate + data[2], data[0] - rate, -rate, -rate};
  }
  double expected_weight(double f) const override { return std::exp(f); }
  double expected(double f, double& slope) const override { return slope = std::exp(f); }
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return least_ratio(*this, f, lower, upper, data);
  }
};

}  // namespace

// ---- levels -------------------------------------------------------------------------------------

namespace {

// P(y <= j) = s(c_j - f), levels from 1, s the logistic function. Data: the number of rewards of each level.
class Ordinal : public Likelihood {
 public:
  explicit Ordinal(VectorXd cuts) : cuts_(std::move(cuts)) {
    for (Index j = 1; j < cuts_.size(); ++j) {
      if (!(cuts_[j] > cuts_[j - 1])) throw_invalid("cuts must increase");
    }
  }
  // The first cut, and the logarithms of the differences between successive cuts.
  VectorXd parameters() const override {
    VectorXd out = cuts_;
    for (Index j = 1; j < out.size(); ++j) out[j] = std::log(cuts_[j] - cuts_[j - 1]);
    return out;
  }
  std::unique_ptr<const Likelihood> with(const VectorXd& parameters) const override {
    VectorXd cuts = parameters;
    for (Index j = 1; j < cuts.size(); ++j) cuts[j] = cuts[j - 1] + std::exp(parameters[j]);
    return std::make_unique<Ordinal>(cuts);
  }
  MatrixXd parameter_slopes(double f, const Data& data) const override {
    return product(cut_slopes(f, data), cuts_by_parameters());
  }
  void pool(double value, double size, double weight, Data& data) const override {
    const Index level = static_cast<Index>(std::llround(value));
    if (level < 1 || level > cuts_.size() + 1) throw_invalid("there is no such level");
    data.resize(static_cast<std::size_t>(cuts_.size() + 1), 0.0);
    data[static_cast<std::size_t>(level - 1)] += weight * size;
  }
  Slope at(double f, const Data& data) const override {
    Slope out;
    for (std::size_t j = 0; j < data.size(); ++j) {
      if (data[j] == 0.0) continue;
      Slope one = of_level(f, static_cast<Index>(j));
      one.value *= data[j];
      one.first *= data[j];
      one.second *= data[j];
      one.third *= data[j];
      out += one;
    }
    return out;
  }
  double expected_weight(double f) const override {
    double out = 0.0;
    for (Index j = 0; j <= cuts_.size(); ++j) {
      const Slope one = of_level(f, j);
      out -= std::exp(one.value) * one.second;
    }
    return out;
  }

 private:
  // A row per cut, a column per parameter.
  virtual MatrixXd cuts_by_parameters() const {
    MatrixXd out = MatrixXd::Zero(cuts_.size(), cuts_.size());
    for (Index j = 0; j < cuts_.size(); ++j) {
      out(j, 0) = 1.0;
      for (Index k = 1; k <= j; ++k) out(j, k) = cuts_[k] - cuts_[k - 1];
    }
    return out;
  }
  // Derivatives as in parameter_slopes(), by the cuts.
  MatrixXd cut_slopes(double f, const Data& data) const {
    MatrixXd out = MatrixXd::Zero(3, cuts_.size());
    for (Index j = 0; j < cuts_.size(); ++j) {
      const auto level = static_cast<std::size_t>(j);
      const double below = data.empty() ? 0.0 : data[level], above = data.empty() ? 0.0 : data[level + 1];
      const double p = logistic(cuts_[j] - f), q = logistic(f - cuts_[j]);
      out(1, j) = (below + above) * p * q;
      out(2, j) = (below + above) * p * q * (q - p);
      out(0, j) = below * q - above * p;
      if (j > 0) out(0, j) += below / std::expm1(cuts_[j] - cuts_[j - 1]);
      if (j + 1 < cuts_.size()) out(0, j) -= above / std::expm1(cuts_[j + 1] - cuts_[j]);
    }
    return out;
  }
  // log(s(a) - s(b)) = log s(a) + log s(-b) + log(1 - e^(b-a)), for cuts a and b minus f.
  Slope of_level(double f, Index j) const {
    const double a = j < cuts_.size() ? cuts_[j] - f : kInf, b = j > 0 ? cuts_[j - 1] - f : -kInf;
    Slope out;
    if (std::isfinite(a)) {
      const double p = logistic(a), q = logistic(-a);
      out += {-softplus(-a), -q, -p * q, p * q * (q - p)};
    }
    if (std::isfinite(b)) {
      const double p = logistic(b), q = logistic(-b);
      out += {-softplus(b), p, -p * q, p * q * (q - p)};
    }
    if (std::isfinite(a) && std::isfinite(b)) out.value += std::log1p(-std::exp(b - a));
    return out;
  }

  VectorXd cuts_;
};

// Comparisons with ties: lost, tied, won (0, 1/2, 1) are levels of a difference of f.
class Tied final : public Ordinal {
 public:
  explicit Tied(double tau) : Ordinal((VectorXd(2) << -tau, tau).finished()), tau_(tau) {}
  VectorXd parameters() const override { return VectorXd::Constant(1, std::log(tau_)); }
  std::unique_ptr<const Likelihood> with(const VectorXd& parameters) const override {
    return std::make_unique<Tied>(std::exp(parameters[0]));
  }
  void pool(double value, double size, double weight, Data& data) const override {
    Ordinal::pool(1.0 + 2.0 * value, size, weight, data);
  }

 private:
  MatrixXd cuts_by_parameters() const override { return (MatrixXd(2, 1) << -tau_, tau_).finished(); }

  double tau_;
};

}  // namespace

// ---- outliers -----------------------------------------------------------------------------------

namespace {

// Student's t with `df` degrees of freedom and scale sqrt(lambda). Data: value and weight of each reward.
class Student final : public Likelihood {
 public:
  Student(double df, double noise_var) : df_(df), noise_var_(noise_var) {}
  void pool(double value, double size, double weight, Data& data) const override {
    data.push_back(value);
    data.push_back(size * weight);
  }
  Slope at(double f, const Data& data) const override {
    Slope out;
    const double scale = df_ * noise_var_;
    const double constant = std::lgamma((df_ + 1.0) / 2.0) - std::lgamma(df_ / 2.0) -
                            0.5 * std::log(scale * 3.14159265358979323846);
    for (std::size_t k = 0; k < data.size(); k += 2) {
      const double r = data[k] - f, w = data[k + 1], d = scale + r * r;
      out += {w * (constant - 0.5 * (df_ + 1.0) * std::log1p(r * r / scale)),
              w * (df_ + 1.0) * r / d, w * (df_ + 1.0) * (r * r - scale) / (d * d), kNaN};
    }
    return out;
  }
  double expected_weight(double) const override { return (df_ + 1.0) / (df_ + 3.0) / noise_var_; }
  bool concave() const override { return false; }
  // The sites of the EM algorithm; at first those of Huber's likelihood, which is log-concave.
  void majorise(double f, const Data& data, bool begins, double& weight,
                double& weighted) const override {
    constexpr double kHuber = 1.345;
    weight = weighted = 0.0;
    for (std::size_t k = 0; k < data.size(); k += 2) {
      const double r = std::abs(data[k] - f) / std::sqrt(noise_var_);
      const double w = begins ? std::min(1.0, kHuber / std::max(r, 1e-300))
                              : (df_ + 1.0) / (df_ + r * r);
      weight += data[k + 1] * w / noise_var_;
      weighted += data[k + 1] * w / noise_var_ * data[k];
    }
  }

 private:
  double df_, noise_var_;
};

}  // namespace

// ---- minimised rewards --------------------------------------------------------------------------

namespace {

// The likelihood of rewards that depend on -f.
class Reflected final : public Likelihood {
 public:
  explicit Reflected(LikelihoodPtr base) : base_(std::move(base)) {}
  void pool(double value, double size, double weight, Data& data) const override {
    base_->pool(value, size, weight, data);
  }
  Slope at(double f, const Data& data) const override {
    Slope out = base_->at(-f, data);
    out.first = -out.first;
    out.third = -out.third;
    return out;
  }
  double expected_weight(double f) const override { return base_->expected_weight(-f); }
  double expected(double f, double& slope) const override {
    const double out = base_->expected(-f, slope);
    slope = -slope;
    return out;
  }
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return base_->least_curvature(-f, -upper, -lower, data);
  }
  VectorXd parameters() const override { return base_->parameters(); }
  std::unique_ptr<const Likelihood> with(const VectorXd& parameters) const override {
    return std::make_unique<Reflected>(base_->with(parameters));
  }
  MatrixXd parameter_slopes(double f, const Data& data) const override {
    MatrixXd out = base_->parameter_slopes(-f, data);
    out.row(1) *= -1.0;
    return out;
  }
  double weight_growth(double f) const override { return base_->weight_growth(-f); }
  bool concave() const override { return base_->concave(); }
  void majorise(double f, const Data& data, bool begins, double& weight,
                double& weighted) const override {
    base_->majorise(-f, data, begins, weight, weighted);
    weighted = -weighted;
  }

 private:
  LikelihoodPtr base_;
};

std::unique_ptr<const Likelihood> plain_likelihood(const Settings& settings, double noise_var) {
  const std::string kind = settings.text("kind");
  if (kind == "logit") return std::make_unique<Logit>();
  if (kind == "probit") return std::make_unique<Probit>();
  if (kind == "rankings") return std::make_unique<Ranked>();
  if (kind == "counts") return std::make_unique<Poisson>();
  if (kind == "ordinal") return std::make_unique<Ordinal>(settings.numbers("cuts"));
  if (kind == "ties") return std::make_unique<Tied>(settings.number("tau"));
  if (kind == "robust") return std::make_unique<Student>(settings.number("df"), noise_var);
  throw_invalid("unknown kind of rewards " + kind);
}

}  // namespace

LikelihoodPtr make_likelihood(const Settings& settings, double noise_var) {
  std::unique_ptr<const Likelihood> out = plain_likelihood(settings, noise_var);
  if (settings.flag("reflected")) out = std::make_unique<Reflected>(std::move(out));
  return out;
}

}  // namespace gpb
