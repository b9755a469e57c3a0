// All likelihoods of rewards, rankings, and Laplace's approximation. Uses base/, linalg/ and scores/normal.h.
#include "likelihoods/likelihood.h"
#include "likelihoods/ranking.h"
#include "likelihoods/laplace.h"

#include "linalg/decompositions.h"
#include "scores/normal.h"

#include <algorithm>
#include <array>
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

LikelihoodPtr Likelihood::with(const VectorXd&) const {
  throw std::logic_error("nothing of this likelihood is fitted");
}

MatrixXd Likelihood::parameter_slopes(double, const Data&) const { return MatrixXd(3, 0); }

void Likelihood::majorise(double, const Data&, bool, double&, double&) const {
  throw std::logic_error("a concave likelihood needs no majorant");
}

namespace {

// ---- k of n -------------------------------------------------------------------------------------

// Data: k and n - k.
class Binary : public Likelihood {
 public:
  void pool(double value, double size, double weight, Data& data) const override {
    if (!(value >= 0.0 && value <= size)) {
      throw std::invalid_argument("a number of successes must be between 0 and that of trials");
    }
    data.resize(2, 0.0);
    data[0] += weight * value;
    data[1] += weight * (size - value);
  }
};

class Logit : public Binary {
 public:
  Slope at(double f, const Data& data) const override {
    const double n = data[0] + data[1], p = logistic(f), q = logistic(-f);
    return {-data[0] * softplus(-f) - data[1] * softplus(f), data[0] * q - data[1] * p, -n * p * q,
            -n * p * q * (q - p)};
  }
  double expected_weight(double f) const override { return logistic(f) * logistic(-f); }
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return least_ratio(*this, f, lower, upper, data);
  }
};

// Rankings: for two points they are logistic comparisons.
class Ranked final : public Logit {
 public:
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

// ---- counts -------------------------------------------------------------------------------------

// Data: k, exposure, and a constant that does not depend on f.
class Poisson final : public Likelihood {
 public:
  void pool(double value, double size, double weight, Data& data) const override {
    if (!(value >= 0.0)) throw std::invalid_argument("a count must be at least 0");
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
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return least_ratio(*this, f, lower, upper, data);
  }
};

// ---- levels -------------------------------------------------------------------------------------

// P(y <= j) = s(c_j - f), levels from 1, s the logistic function. Data: the number of rewards of each level.
class Ordinal : public Likelihood {
 public:
  explicit Ordinal(VectorXd cuts) : cuts_(std::move(cuts)) {
    for (Index j = 1; j < cuts_.size(); ++j) {
      if (!(cuts_[j] > cuts_[j - 1])) throw std::invalid_argument("cuts must rise");
    }
  }
  // The first cut, and the logarithms of the differences between successive cuts.
  VectorXd parameters() const override {
    VectorXd out = cuts_;
    for (Index j = 1; j < out.size(); ++j) out[j] = std::log(cuts_[j] - cuts_[j - 1]);
    return out;
  }
  LikelihoodPtr with(const VectorXd& parameters) const override {
    VectorXd cuts = parameters;
    for (Index j = 1; j < cuts.size(); ++j) cuts[j] = cuts[j - 1] + std::exp(parameters[j]);
    return std::make_shared<Ordinal>(cuts);
  }
  MatrixXd parameter_slopes(double f, const Data& data) const override {
    return product(cut_slopes(f, data), cuts_by_parameters());
  }
  void pool(double value, double size, double weight, Data& data) const override {
    const Index level = static_cast<Index>(std::llround(value));
    if (level < 1 || level > cuts_.size() + 1) throw std::invalid_argument("there is no such level");
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
  LikelihoodPtr with(const VectorXd& parameters) const override {
    return std::make_shared<Tied>(std::exp(parameters[0]));
  }
  void pool(double value, double size, double weight, Data& data) const override {
    Ordinal::pool(1.0 + 2.0 * value, size, weight, data);
  }

 private:
  MatrixXd cuts_by_parameters() const override { return (MatrixXd(2, 1) << -tau_, tau_).finished(); }

  double tau_;
};

// ---- outliers -----------------------------------------------------------------------------------

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

// ---- minimised rewards --------------------------------------------------------------------------

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
  double least_curvature(double f, double lower, double upper, const Data& data) const override {
    return base_->least_curvature(-f, -upper, -lower, data);
  }
  VectorXd parameters() const override { return base_->parameters(); }
  LikelihoodPtr with(const VectorXd& parameters) const override {
    return std::make_shared<Reflected>(base_->with(parameters));
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

LikelihoodPtr plain_likelihood(const Settings& settings, double noise_var) {
  const std::string kind = settings.text("kind");
  if (kind == "logit") return std::make_shared<Logit>();
  if (kind == "probit") return std::make_shared<Probit>();
  if (kind == "rankings") return std::make_shared<Ranked>();
  if (kind == "counts") return std::make_shared<Poisson>();
  if (kind == "ordinal") return std::make_shared<Ordinal>(settings.numbers("cuts"));
  if (kind == "ties") return std::make_shared<Tied>(settings.number("tau"));
  if (kind == "robust") return std::make_shared<Student>(settings.number("df"), noise_var);
  throw std::invalid_argument("unknown kind of rewards " + kind);
}

}  // namespace

LikelihoodPtr make_likelihood(const Settings& settings, double noise_var) {
  LikelihoodPtr out = plain_likelihood(settings, noise_var);
  return settings.flag("reflected") ? std::make_shared<Reflected>(std::move(out)) : out;
}

// ---- rankings -----------------------------------------------------------------------------------

template <class Use>
double RankingTerms::each_stage(const VectorXd& f, Use use) const {
  double sum = 0.0;
  VectorXd p;
  for (const RankingSites& ranking : rankings_) {
    for (Index s = 0; s < std::min(ranking.stages, ranking.size - 1); ++s) {
      // f minus f of the chosen point.
      p.setZero(ranking.size - s);
      for (Index k = s + 1; k < ranking.size; ++k) {
        const PairSite& pair = ranking.pair(s, k);
        p[k - s] = -pair.sign * f[pair.functional];
      }
      const double largest = p.maxCoeff();
      p = (p.array() - largest).exp();
      const double total = p.sum();
      sum += ranking.weight * (-largest - std::log(total));
      p /= total;
      use(ranking, s, p);
    }
  }
  return sum;
}

double RankingTerms::log_likelihood(const VectorXd& f) const {
  return each_stage(f, [](const RankingSites&, Index, const VectorXd&) {});
}

double RankingTerms::sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const {
  weight.setZero(f.size());
  weighted.setZero(f.size());
  const double sum = each_stage(f, [&](const RankingSites& ranking, Index s, const VectorXd& p) {
    for (Index i = s; i < ranking.size; ++i) {
      for (Index j = i + 1; j < ranking.size; ++j) {
        const PairSite& pair = ranking.pair(i, j);
        if (pair.sign == 0.0) continue;
        weight[pair.functional] += ranking.weight * p[i - s] * p[j - s];
        if (i == s) weighted[pair.functional] += ranking.weight * pair.sign * p[j - s];
      }
    }
  });
  weight = weight.cwiseMax(kLeastWeight);
  weighted += times(weight, f);
  return sum;
}

// dp_i/df_k = p_i ([i = k] - p_k). The slopes of a stage sum to zero, so that they can be assigned to the differences
// from the chosen point.
VectorXd RankingTerms::weight_slope(const VectorXd& f, const VectorXd& v) const {
  VectorXd out = VectorXd::Zero(f.size()), slope;
  each_stage(f, [&](const RankingSites& ranking, Index s, const VectorXd& p) {
    slope.setZero(p.size());
    double sum = 0.0;
    for (Index i = s; i < ranking.size; ++i) {
      for (Index j = i + 1; j < ranking.size; ++j) {
        const PairSite& pair = ranking.pair(i, j);
        if (pair.sign == 0.0) continue;
        const double one = ranking.weight * v[pair.functional] * p[i - s] * p[j - s];
        slope[i - s] += one;
        slope[j - s] += one;
        sum += one;
      }
    }
    slope -= 2.0 * sum * p;
    for (Index k = s + 1; k < ranking.size; ++k) {
      const PairSite& pair = ranking.pair(s, k);
      out[pair.functional] -= pair.sign * slope[k - s];
    }
  });
  return out;
}

// ---- Laplace's approximation --------------------------------------------------------------------

namespace {
constexpr double kSettled = 1e-10;       // of the fit, in prior standard deviations
constexpr int kNewtonSteps = 100;
constexpr double kLeastNewtonStep = 1e-30;
constexpr int kMajorisingSteps = 20000;
constexpr double kBallEdge = 1e-9;       // relative distance from the radius at which a norm counts as at the edge
constexpr int kBallSteps = 60;
constexpr int kVariationalSteps = 500;
constexpr double kLeastStep = 1e-6;
constexpr double kLeastRadius = 1e-9;
constexpr double kMostShrinkage = 300.0;  // a logarithm
}  // namespace

// ---- Gaussian sites -----------------------------------------------------------------------------

VectorXd SitePrior::variance() const {
  VectorXd out = has_features() ? VectorXd(features.rowwise().squaredNorm()) : VectorXd(gram.diagonal());
  if (left_out.size() > 0) out += left_out;
  return out;
}

SiteSystem::SiteSystem(SitePrior prior) : prior_(std::move(prior)) {
  if (prior_.has_features() && prior_.features.cols() >= size()) {
    prior_.gram = tcrossprod(prior_.features, prior_.features);
    prior_.features.resize(0, 0);
  }
  by_features_ = prior_.has_features();
}

double SiteSystem::scale() const {
  return size() > 0 ? std::sqrt(std::max(0.0, prior_.variance().maxCoeff())) : 0.0;
}

// The factor of I + Phi'W Phi, or of I + W^1/2 G W^1/2.
void SiteSystem::factorise(const VectorXd& weight) {
  root_weight_ = roots(weight);
  MatrixXd A;
  if (by_features_) {
    A = MatrixXd::Identity(prior_.features.cols(), prior_.features.cols());
    add_crossprod_below(A, 1.0, scaled_rows(root_weight_, prior_.features));
  } else {
    A = scaled_both(root_weight_, prior_.gram);
    add_to_diagonal(A, 1.0);
  }
  factor_ = FlooredCholesky(A, 1.0).lower();
}

void SiteSystem::solve(const VectorXd& weight, const VectorXd& weighted, VectorXd& f,
                       VectorXd& alpha) {
  factorise(weight);
  const VectorXd r = weighted - times(weight, prior_.mean);
  VectorXd moved;
  if (by_features_) {
    VectorXd w = multiply_transposed(prior_.features, r);
    solve_lower(factor_, w);
    solve_lower_transposed(factor_, w);
    moved = multiply(prior_.features, w);
    alpha = r - times(weight, moved);
  } else {
    VectorXd v = times(root_weight_, multiply(prior_.gram, r));
    solve_lower(factor_, v);
    solve_lower_transposed(factor_, v);
    alpha = r - times(root_weight_, v);
    moved = multiply(prior_.gram, alpha);
  }
  f = prior_.mean + moved;
}

double SiteSystem::log_det() const { return 2.0 * factor_.diagonal().array().log().sum(); }

VectorXd SiteSystem::variances() const {
  MatrixXd half;
  if (by_features_) {
    half = prior_.features.transpose();
    solve_lower_columns(factor_, half);
    return half.colwise().squaredNorm().transpose();
  }
  half = scaled_rows(root_weight_, prior_.gram);
  solve_lower_columns(factor_, half);
  return (prior_.gram.diagonal() - half.colwise().squaredNorm().transpose()).cwiseMax(0.0);
}

MatrixXd SiteSystem::precision() const {
  if (by_features_) throw std::logic_error("features have no such matrix");
  MatrixXd half = root_weight_.asDiagonal();
  solve_lower_columns(factor_, half);
  return crossprod(half, half);
}

// ---- likelihood terms ---------------------------------------------------------------------------

namespace {

// Nodes and weights for E g(Z), Z standard normal, exact for polynomials of degree 63.
struct NormalRule {
  static constexpr int kNodes = 32;
  std::array<double, kNodes> node, weight;
  // Newton's iteration on the orthonormal Hermite polynomial, with starting values from the nodes found before.
  NormalRule() {
    const double scale = std::sqrt(2.0);
    double z = 0.0;
    for (int i = 0; i < kNodes / 2; ++i) {
      if (i == 0) z = std::sqrt(2.0 * kNodes + 1) - 1.85575 * std::pow(2.0 * kNodes + 1, -1.0 / 6.0);
      else if (i == 1) z -= 1.14 * std::pow(1.0 * kNodes, 0.426) / z;
      else if (i == 2) z = 1.86 * z - 0.86 * node[0] / scale;
      else if (i == 3) z = 1.91 * z - 0.91 * node[1] / scale;
      else z = 2.0 * z - node[static_cast<std::size_t>(i - 2)] / scale;
      double slope = 1.0;
      for (int step = 0; step < 100; ++step) {
        double before = 0.0, p = 0.7511255444649425;  // pi^(-1/4)
        for (int j = 0; j < kNodes; ++j) {
          const double next = z * std::sqrt(2.0 / (j + 1)) * p - std::sqrt(1.0 * j / (j + 1)) * before;
          before = p;
          p = next;
        }
        slope = std::sqrt(2.0 * kNodes) * before;
        const double by = p / slope;
        z -= by;
        if (std::abs(by) < 1e-15 * std::max(1.0, std::abs(z))) break;
      }
      const auto k = static_cast<std::size_t>(i), mirrored = static_cast<std::size_t>(kNodes - 1 - i);
      node[k] = scale * z;
      node[mirrored] = -node[k];
      weight[k] = weight[mirrored] = 2.0 / (slope * slope) / 1.7724538509055160273;
    }
  }
};

}  // namespace

double SiteTerms::expected_sites(const VectorXd&, const VectorXd&, VectorXd&, VectorXd&) const {
  throw std::logic_error("no expectations of these rewards");
}

void SiteTerms::majorise(const VectorXd&, bool, VectorXd&, VectorXd&) const {
  throw std::logic_error("a concave likelihood needs no majorant");
}

double PooledTerms::log_likelihood(const VectorXd& f) const {
  double sum = 0.0;
  for (Index i = 0; i < f.size(); ++i) sum += likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]).value;
  return sum;
}

double PooledTerms::sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const {
  double sum = 0.0;
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    const Slope slope = likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]);
    weight[i] = std::max(-slope.second, kLeastWeight);
    weighted[i] = weight[i] * f[i] + slope.first;
    sum += slope.value;
  }
  return sum;
}

double PooledTerms::expected_sites(const VectorXd& f, const VectorXd& variance, VectorXd& weight,
                                   VectorXd& weighted) const {
  static const NormalRule rule;
  double sum = 0.0;
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    double first = 0.0, second = 0.0;
    for (std::size_t k = 0; k < rule.node.size(); ++k) {
      const Slope slope = likelihood_.at(f[i] + sd * rule.node[k], data_[static_cast<std::size_t>(i)]);
      sum += rule.weight[k] * slope.value;
      first += rule.weight[k] * slope.first;
      second += rule.weight[k] * slope.second;
    }
    weight[i] = std::max(-second, kLeastWeight);
    weighted[i] = weight[i] * f[i] + first;
  }
  return sum;
}

VectorXd PooledTerms::weight_slope(const VectorXd& f, const VectorXd& v) const {
  VectorXd out(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    out[i] = -v[i] * likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]).third;
  }
  return out;
}

double PooledTerms::weight_growth(const VectorXd& f) const {
  double most = 0.0;
  for (Index i = 0; i < f.size(); ++i) most = std::max(most, likelihood_.weight_growth(f[i]));
  return most;
}

void PooledTerms::majorise(const VectorXd& f, bool begins, VectorXd& weight, VectorXd& weighted) const {
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    likelihood_.majorise(f[i], data_[static_cast<std::size_t>(i)], begins, weight[i], weighted[i]);
  }
}

// ---- fits ---------------------------------------------------------------------------------------

namespace {

void newton(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const VectorXd& prior = system.prior_mean();
  const auto objective = [&](const VectorXd& f, const VectorXd& alpha) {
    return terms.log_likelihood(f) - 0.5 * alpha.dot(f - prior);
  };
  double now = objective(fit.f, fit.alpha);
  const double enough = kSettled * system.scale();
  double before = kInf;
  for (fit.steps = 1; fit.steps <= kNewtonSteps; ++fit.steps) {
    terms.sites(fit.f, fit.weight, fit.weighted);
    // The step is computed from the gradient: differences of values would be rounding errors if weights are large.
    const VectorXd gradient = fit.weighted - times(fit.weight, fit.f) - fit.alpha;
    VectorXd by, alpha_by;
    system.solve(fit.weight, gradient + times(fit.weight, prior), by, alpha_by);
    by -= prior;
    VectorXd f = fit.f + by, alpha = fit.alpha + alpha_by;
    double step = 1.0, then = objective(f, alpha);
    // (NaN counts as a decrease.)
    const double unchanged = 1e-12 * std::abs(now);
    while (!(then >= now - unchanged) && step > kLeastNewtonStep) {
      step /= 2.0;
      f = fit.f + step * by;
      alpha = fit.alpha + step * alpha_by;
      then = objective(f, alpha);
    }
    const double moved = largest_size(f - fit.f);
    // (With very large weights, steps without any gain are rounding errors.)
    const bool rounding = moved > 0.5 * before && std::abs(then - now) <= unchanged;
    fit.f = f;
    fit.alpha = alpha;
    now = then;
    before = moved;
    if (moved <= enough || rounding) return;
  }
  throw std::runtime_error("Laplace's approximation has not converged within 100 steps");
}

// Steps of the majorants, each a Gaussian posterior; the objective never decreases.
void majorise(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const double enough = kSettled * system.scale();
  VectorXd f;
  for (const bool begins : {true, false}) {
    for (int k = 1;; ++k, ++fit.steps) {
      terms.majorise(fit.f, begins, fit.weight, fit.weighted);
      system.solve(fit.weight, fit.weighted, f, fit.alpha);
      const double moved = largest_size(f - fit.f);
      fit.f = f;
      if (moved <= enough) break;
      if (k == kMajorisingSteps) throw std::runtime_error("the robust fit has not converged");
    }
  }
}

}  // namespace

double evidence_bound(const SiteSystem& system, const SiteFit& fit, const SiteTerms& terms) {
  VectorXd variance = system.variances(), ignored, also_ignored;
  const double trace = fit.weight.dot(variance);
  for (Index i = 0; i < variance.size(); ++i) variance[i] += system.left_out(i);
  const double expected = terms.expected_sites(fit.f, variance, ignored, also_ignored);
  const double quadratic = fit.alpha.dot(fit.f - system.prior_mean());
  return expected - 0.5 * (quadratic - trace + system.log_det());
}

namespace {

// Computes the other numbers of a fit from its f, weights and weighted values.
void finish(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  system.solve(fit.weight, fit.weighted, fit.f, fit.alpha);
  fit.weight_growth = terms.weight_growth(fit.f);
  fit.log_likelihood = terms.log_likelihood(fit.f);
  fit.penalty = 0.5 * fit.alpha.dot(fit.f - system.prior_mean()) - fit.log_likelihood;
  fit.log_evidence = terms.concave() ? -fit.penalty - 0.5 * system.log_det() : kNaN;
}

SitePrior shrunk(const SitePrior& prior, double factor) {
  SitePrior out = prior;
  out.features /= std::sqrt(factor);
  out.gram /= factor;
  out.left_out /= factor;
  return out;
}

}  // namespace

SiteFit fit_sites(SiteSystem& system, const SiteTerms& terms) {
  SiteFit fit;
  fit.f = system.prior_mean();
  fit.alpha = VectorXd::Zero(fit.f.size());
  if (fit.f.size() == 0) return fit;
  if (terms.concave()) {
    newton(system, terms, fit);
    terms.sites(fit.f, fit.weight, fit.weighted);
  } else {
    majorise(system, terms, fit);
  }
  finish(system, terms, fit);
  return fit;
}

// For sites (W, b) the bound's natural gradient is the sites of the expectations minus (W, b).
SiteFit fit_variational(SiteSystem& system, const SiteTerms& terms) {
  SiteFit fit = fit_sites(system, terms);
  if (fit.f.size() == 0) return fit;
  const double scale = system.scale();
  VectorXd variance = system.variances(), weight, weighted;
  double bound = evidence_bound(system, fit, terms), step = 1.0;
  for (int k = 0; k < kVariationalSteps; ++k) {
    terms.expected_sites(fit.f, variance, weight, weighted);
    SiteFit next = fit;
    const VectorXd weight_by = weight - fit.weight, weighted_by = weighted - fit.weighted;
    double then = -kInf;
    for (step = std::min(1.0, 2.0 * step); step > kLeastStep; step /= 2.0) {
      next.weight = fit.weight + step * weight_by;
      next.weighted = fit.weighted + step * weighted_by;
      system.solve(next.weight, next.weighted, next.f, next.alpha);
      then = evidence_bound(system, next, terms);
      if (then >= bound - 1e-12 * std::abs(bound)) break;
    }
    if (step <= kLeastStep) break;
    const VectorXd before = variance;
    variance = system.variances();
    const double moved = std::max(largest_size(next.f - fit.f) / scale,
                                  largest_size(variance - before) / (scale * scale));
    next.steps = fit.steps + 1;
    fit = next;
    bound = then;
    if (moved <= kSettled * step) break;
  }
  finish(system, terms, fit);
  fit.log_evidence = evidence_bound(system, fit, terms);
  return fit;
}

// The norm decreases in 1 + mu. Solved by regula falsi on logarithms with the Illinois rule: the function value of an
// end that is kept twice is halved.
SiteFit fit_within(const SitePrior& prior, SiteSystem& system, const SiteTerms& terms, double radius) {
  SiteFit found = fit_sites(system, terms);
  const auto excess = [&](const SiteFit& one) {
    const double squared = one.alpha.dot(one.f - system.prior_mean()) / one.shrinkage;
    return 0.5 * std::log(std::max(squared, 1e-300)) - std::log(std::max(radius, kLeastRadius));
  };
  if (found.f.size() == 0 || excess(found) <= 0.0) return found;
  const auto at = [&](double log_shrinkage) {
    SiteSystem smaller(shrunk(prior, std::exp(log_shrinkage)));
    SiteFit out = fit_sites(smaller, terms);
    out.shrinkage = std::exp(log_shrinkage);
    return out;
  };
  double low = 0.0, above = excess(found), high = 0.5, below = 0.0;
  for (;; low = high, above = below, high *= 2.0) {
    found = at(high);
    below = excess(found);
    if (below <= 0.0 || high > kMostShrinkage) break;
  }
  for (int step = 0, side = 0; step < kBallSteps && excess(found) < -kBallEdge; ++step) {
    const double middle = low + (high - low) * above / (above - below);
    SiteFit one = at(middle);
    const double here = excess(one);
    if (here > 0.0) {
      low = middle;
      above = here;
      if (side > 0) below /= 2.0;
      side = 1;
    } else {
      high = middle;
      below = here;
      found = std::move(one);
      if (side < 0) above /= 2.0;
      side = -1;
    }
  }
  const double shrinkage = found.shrinkage;
  found.alpha /= shrinkage;
  terms.sites(found.f, found.weight, found.weighted);
  found.weighted = times(found.weight, found.f) + found.alpha;
  finish(system, terms, found);
  found.log_evidence = kNaN;
  return found;
}

}  // namespace gpb
