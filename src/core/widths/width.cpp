// Widths, information gains and optimal designs. Uses base/, likelihoods/, linalg/, posteriors/ and spaces/.
#include "widths/gain.h"
#include "widths/width.h"
#include "widths/make_width.h"
#include "widths/information.h"
#include "widths/optimal_design.h"

#include "base/ties.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- information gains --------------------------------------------------------------------------

double FunctionGain::at(double s, double) {
  const double value = f_(s);
  if (!std::isfinite(value) || value < 0.0) {
    throw std::invalid_argument("`gain` must return one finite number >= 0, not " +
                                std::to_string(value) + " (at s = " + std::to_string(s) + ")");
  }
  return value;
}

double RateGain::at(double s, double) {
  if (s <= 1.0) return 0.0;
  return scale_ * std::pow(std::log(s), log_power_) * std::pow(s, power_);
}

double GreedyGain::at(double s, double) {
  constexpr double factor = 1.5819767068693264;  // e / (e - 1)
  return factor * greedy_.at(static_cast<Index>(s));
}

// ---- widths -------------------------------------------------------------------------------------

namespace {
constexpr double kPi = 3.14159265358979323846;
}

double FunctionWidth::at(const WidthState& state) {
  MatrixXd seen(1, 5);
  seen << state.t, state.log_det, state.noise_var, state.arms, state.rounds;
  const double value = f_(seen);
  if (!std::isfinite(value) || value < 0.0) {
    throw std::invalid_argument("`width` must return one finite number >= 0, not " +
                                std::to_string(value) + " (at t = " + std::to_string(state.t) +
                                ")");
  }
  return value;
}

double SrinivasFiniteWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor;
  const double beta = 2.0 * std::log(state.arms * state.t * state.t * kPi * kPi / (6.0 * delta));
  return std::sqrt(scale_ * std::max(0.0, beta));
}

double RandomisedWidth::at(const WidthState& state) {
  if (!state.rng) return kNaN;
  const double exponential = -2.0 * std::log(state.rng->uniform());
  return std::sqrt(std::max(0.0, 2.0 * std::log(0.5 * state.arms) + exponential));
}

double SrinivasCompactWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor, tt = state.t * state.t;
  const double per_axis = tt * d_ * b_ * r_ * std::sqrt(std::log(4.0 * d_ * a_ / delta));
  const double beta = 2.0 * std::log(tt * 2.0 * kPi * kPi / (3.0 * delta)) +
                      2.0 * d_ * std::log(std::max(1.0, per_axis));
  return std::sqrt(scale_ * std::max(0.0, beta));
}

double SrinivasBoxWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor, t = state.known + 1.0;
  const double steepest = b_ * std::sqrt(std::max(0.0, std::log(2.0 * d_ * a_ / delta)));
  const double m = std::max(1.0, std::ceil(steepest * d_ * r_ * t * t / (2.0 * slack_)));
  const double log_cells = d_ * std::log(m);
  const double log_count = log_cells + std::log1p(std::exp(-log_cells));
  return std::sqrt(2.0 * (log_count + std::log(kPi * kPi * t * t / (3.0 * delta))));
}

double SrinivasRkhsWidth::at(const WidthState& state) {
  const double gamma = gain_->at(state.t - (printed_ ? 0.0 : 1.0), state.log_det);
  const double log_term = std::log(state.t / (delta_ * state.failure_factor));
  return std::sqrt(scale_ * (2.0 * B_ * B_ + 300.0 * gamma * std::pow(log_term, 3.0)));
}

double IgpWidth::at(const WidthState& state) {
  const double gamma = gain_->at(state.t - 1.0, state.log_det);
  const double log_term = std::log(numerator_ / (delta_ * state.failure_factor));
  return B_ + R_ * state.noise_factor * std::sqrt(2.0 * (gamma + 1.0 + log_term));
}

double NoiseScale::at(const WidthState& state) const {
  const double own = bounded ? std::sqrt(state.own_noise().largest_ratio) : 1.0;
  return R * own * state.noise_factor;
}

double RealisedWidth::at(const WidthState& state) {
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  return B_ + noise_.at(state) / std::sqrt(state.noise_var) * std::sqrt(log_term + state.log_det);
}

double FixedWidth::at(const WidthState& state) {
  const double log_term = std::log(2.0 * state.arms * looks_ / (delta_ * state.failure_factor));
  const double noise = R_ * state.noise_factor;
  return std::sqrt(B_ * B_ + 2.0 * noise * noise / state.noise_var * log_term);
}

double AmmWidth::at(const WidthState& state) {
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  const double noise = noise_.at(state);
  return std::sqrt(B_ * B_ + noise * noise / state.noise_var * (state.log_det + log_term));
}

double GlmWidth::at(const WidthState& state) {
  const double information = state.information ? state.information() : 0.0;
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  const double squared = std::max(0.0, B_ * B_ + log_term + information);
  const SiteGap gap = state.site_gap ? state.site_gap() : SiteGap();
  return (gap.gradient + std::sqrt(squared + gap.gradient * gap.gradient)) * (1.0 + gap.sd);
}

double SdfWidth::at(const WidthState& state) {
  return base_->at(state) + B_y_ * state.recent_sd(pending_only_);
}

double MisspecifiedWidth::at(const WidthState& state) {
  const double precision = (state.t - 1.0) / state.noise_var + state.own_noise().precision;
  return base_->at(state) + epsilon_ * std::sqrt(std::max(0.0, precision));
}

double CorruptedWidth::at(const WidthState& state) {
  const double ratio = state.own_noise().largest_ratio;
  return base_->at(state) + total_ * std::sqrt(ratio / state.noise_var);
}

double CpdWidth::at(const WidthState& state) {
  const double dd = d_ * (d_ + 1.0);
  const double log_horizon = std::log(horizon_);
  return std::sqrt(D_ * std::pow(state.t, dd / (2.0 * nu_ + dd))) * log_horizon * log_horizon;
}

// R_t^2 = -2 R^2 log mean exp(-A_j / (2 R^2)) + 2 R^2 log(1 / delta). Here
//   A_j = alpha_j y' (K + alpha_j I)^-1 y + R^2 log det(I + K / alpha_j).
// Without noise R_t^2 is the least A_j.
double DmmBound::radius(const std::vector<DmmTerm>& prior_scales, const WidthState& state) const {
  const double noise = R * state.noise_factor, spread = 2.0 * noise * noise;
  std::vector<double> cost;
  for (const DmmTerm& term : prior_scales) {
    cost.push_back(term.alpha * term.quadratic + 0.5 * spread * term.log_det);
  }
  const double least = *std::min_element(cost.begin(), cost.end());
  if (!(spread > 0.0)) return least;
  double sum = 0.0;
  for (const double one : cost) sum += std::exp((least - one) / spread);
  return least - spread * std::log(sum / static_cast<double>(cost.size())) +
         spread * std::log(1.0 / (delta * state.failure_factor));
}

double DmmBound::multiplier(const DmmTerm& term, double radius) const {
  const double left = radius + term.alpha * B * B - term.alpha * term.quadratic;
  return std::sqrt(std::max(0.0, left) / term.alpha);
}

// ---- from settings ------------------------------------------------------------------------------

namespace {

VectorXd eigenvalues_of(const ArmSetting& arms, double noise_var) {
  if (arms.basis) return gram_eigenvalues(arms.basis->factor);
  const ArmTable& table = *arms.table;
  const double tolerance = pivot_tolerance(table.prior_scale * table.prior_scale, noise_var);
  return gram_eigenvalues(
      pivoted_cholesky(*table.kernel, *table.points, tolerance, table.size()).factor);
}

GainPtr make_gain(const Settings& gain, const ArmSetting* arms, double noise_var) {
  const std::string type = gain.text("type");
  if (type == "number") return std::make_shared<NumberGain>(gain.number("value"));
  if (type == "function") return std::make_shared<FunctionGain>(gain.function("f"));
  if (type == "realized") return std::make_shared<RealisedGain>();
  if (type == "rate") {
    return std::make_shared<RateGain>(gain.number("scale"), gain.number("log_power"),
                                      gain.number("power"));
  }
  if (!arms) throw std::invalid_argument("this gain needs finitely many arms");
  if (type == "spectral") {
    return std::make_shared<SpectralGain>(eigenvalues_of(*arms, noise_var), noise_var);
  }
  if (type != "greedy") throw std::invalid_argument("unknown gain " + type);
  return std::make_shared<GreedyGain>(
      arms->make_engine(noise_var, VectorXd::Zero(arms->table->size())));
}

}  // namespace

WidthPtr one_multiplier(WidthPtr width) {
  if (!width) throw std::invalid_argument("the width must be one multiplier of sd, and there is none");
  return width;
}

WidthPtr make_width(const Settings& w, const ArmSetting* arms, double noise_var) {
  const std::string type = w.text("type");
  const auto number = [&w](const char* name) { return w.number(name); };
  const auto gain = [&] { return make_gain(*w.part("gain"), arms, noise_var); };
  const auto base = [&] { return one_multiplier(make_width(*w.part("base"), arms, noise_var)); };
  if (type == "dmm") return nullptr;
  if (type == "constant") return std::make_shared<ConstantWidth>(number("value"));
  if (type == "function") return std::make_shared<FunctionWidth>(w.table_function("f"));
  if (type == "srinivas_finite") {
    return std::make_shared<SrinivasFiniteWidth>(number("delta"), number("scale"));
  }
  if (type == "irgp") return std::make_shared<RandomisedWidth>();
  if (type == "srinivas_compact") {
    return std::make_shared<SrinivasCompactWidth>(number("delta"), number("a"), number("b"),
                                                  number("r"), number("d"), number("scale"));
  }
  if (type == "srinivas_box") {
    return std::make_shared<SrinivasBoxWidth>(number("delta"), number("a"), number("b"),
                                              number("r"), number("d"), number("slack"));
  }
  if (type == "srinivas_rkhs") {
    return std::make_shared<SrinivasRkhsWidth>(number("B"), number("delta"), gain(),
                                               number("scale"), w.flag("printed"));
  }
  if (type == "igp" || type == "gp_ts") {
    return std::make_shared<IgpWidth>(number("B"), number("R"), number("delta"),
                                      type == "igp" ? 1.0 : 2.0, gain());
  }
  const auto noise = [&] {
    return NoiseScale{number("R"), w.has("noise") && w.text("noise") == "bounded"};
  };
  if (type == "realized") {
    return std::make_shared<RealisedWidth>(number("B"), noise(), number("delta"));
  }
  if (type == "fixed") {
    return std::make_shared<FixedWidth>(number("B"), number("R"), number("delta"), number("looks"));
  }
  if (type == "glm") return std::make_shared<GlmWidth>(number("B"), number("delta"));
  if (type == "amm") return std::make_shared<AmmWidth>(number("B"), noise(), number("delta"));
  if (type == "sdf") {
    return std::make_shared<SdfWidth>(base(), number("B_y"), w.text("over") == "pending");
  }
  if (type == "ec") {
    return std::make_shared<MisspecifiedWidth>(base(), number("epsilon"));
  }
  if (type == "corrupt") {
    return std::make_shared<CorruptedWidth>(base(), number("total"));
  }
  if (type == "cpd") {
    return std::make_shared<CpdWidth>(number("D"), number("nu"), number("d"), number("horizon"));
  }
  throw std::invalid_argument("unknown width " + type);
}

// ---- greedy designs and eigenvalues -------------------------------------------------------------

namespace {

// Ties, in prior standard deviations. Far smaller than the tie of the policies, which would change the gain itself: the
// prior variances of distant points differ by less than that.
constexpr double kGreedyTie = 1e-12;

}  // namespace

GreedyInformation::GreedyInformation(std::unique_ptr<ArmPosterior> posterior)
    : posterior_(std::move(posterior)) {}

double GreedyInformation::at(Index s) {
  const double tie = kGreedyTie * posterior_->table().prior_scale;
  while (static_cast<Index>(gain_.size()) <= s) {
    sd_ = posterior_->variance().cwiseSqrt();
    posterior_->add(first_best(sd_.data(), sd_.size(), tie), 0.0);
    gain_.push_back(0.5 * posterior_->log_det());
  }
  return gain_[static_cast<std::size_t>(std::max<Index>(0, s))];
}

SpectralInformation::SpectralInformation(const VectorXd& eigenvalues, double noise_var)
    : cost_sum_(1, 0.0), log_cost_sum_(1, 0.0) {
  std::vector<double> sorted(eigenvalues.data(), eigenvalues.data() + eigenvalues.size());
  std::sort(sorted.begin(), sorted.end(), std::greater<double>());
  for (double lambda : sorted) {
    if (!(lambda > 0.0) || !std::isfinite(noise_var / lambda)) break;
    const double cost = noise_var / lambda;
    entry_.push_back(cost * static_cast<double>(entry_.size()) - cost_sum_.back());
    cost_sum_.push_back(cost_sum_.back() + cost);
    log_cost_sum_.push_back(log_cost_sum_.back() + std::log(cost));
  }
}

double SpectralInformation::at(double s) const {
  if (!(s > 0.0) || entry_.empty()) return 0.0;
  const auto active = static_cast<std::size_t>(
      std::lower_bound(entry_.begin(), entry_.end(), s) - entry_.begin());
  const double q = static_cast<double>(active);
  const double level = (s + cost_sum_[active]) / q;
  return 0.5 * (q * std::log(level) - log_cost_sum_[active]);
}

VectorXd gram_eigenvalues(const MatrixXd& factor) {
  if (factor.cols() == 0) return VectorXd();
  return symmetric_eigenvalues(crossprod(factor, factor)).reverse().cwiseMax(0.0);
}

// ---- D-optimal designs --------------------------------------------------------------------------

namespace {

constexpr int kNewtonSteps = 80;
constexpr int kExtensions = 40;
constexpr double kAlike = 0.98;       // of points with a higher prior correlation only one joins at a time
constexpr double kNegligible = 1e-5;  // proportion of the mass below which a point is removed

// Value, gradient (scores) and curvature of F on the working set.
struct Local {
  double gain;
  VectorXd score;
  MatrixXd curvature;   // 1/2 (C o C) / noise^2, C the posterior covariance: minus the Hessian
};

Local evaluate(const MatrixXd& gram, double noise_var, const VectorXd& mass) {
  const VectorXd root = roots(mass / noise_var);
  MatrixXd system = scaled_both(root, gram);
  add_to_diagonal(system, 1.0);
  const FlooredCholesky chol(system, 1.0);
  Local out;
  out.gain = 0.5 * chol.log_det();
  MatrixXd explained = scaled_rows(root, gram);
  solve_lower_columns(chol.lower(), explained);
  MatrixXd covariance = gram;
  subtract_crossprod(covariance, explained, explained);
  const Index m = gram.rows();
  out.score.resize(m);
  for (Index i = 0; i < m; ++i) out.score[i] = std::max(covariance(i, i), 0.0) / (2.0 * noise_var);
  out.curvature.resize(m, m);
  const double scale = 2.0 * noise_var * noise_var;
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) out.curvature(i, j) = covariance(i, j) * covariance(i, j) / scale;
  }
  return out;
}

// The longest step <= 1 that keeps x + step * dx positive, with a margin.
double positive_step(const VectorXd& x, const VectorXd& dx) {
  double step = 1.0;
  for (Index i = 0; i < x.size(); ++i) {
    if (dx[i] < 0.0) step = std::min(step, -0.95 * x[i] / dx[i]);
  }
  return step;
}

}  // namespace

Design::Design(const MatrixXd& factor, double noise_var, VectorXd mass_in, double total_in)
    : mass(std::move(mass_in)), total(total_in) {
  const MatrixXd weighted = scaled_rows(mass / noise_var, factor);
  MatrixXd system = crossprod(weighted, factor);
  strength = symmetric_eigenvalues(system).cwiseMax(0.0);
  add_to_diagonal(system, 1.0);
  root = FlooredCholesky(system, 1.0).matrix();
  MatrixXd inverse = MatrixXd::Identity(root.rows(), root.cols());
  solve_lower_columns(root, inverse);
  const MatrixXd X = crossprod(inverse, inverse);
  trace = X.trace();
  gain = gain_at(total);
  score = product(factor, X).cwiseProduct(factor).rowwise().sum() / (2.0 * noise_var);
  top = score.maxCoeff();
}

double Design::gain_at(double other) const {
  return 0.5 * (strength.array() * (other / total)).log1p().sum();
}

double Design::bound() const {
  return gain + 0.5 * (trace - static_cast<double>(strength.size())) + total * top;
}

namespace {

// The certificate at masses between those of two designs, for X = a X_low + b X_high with a + b = 1 and 1/T
// interpolated. It is exact at both ends. Between them it is exact to second order if X_i = 1 / (1 + T e_i) is nearly
// linear in T or in 1/T.
class Between {
 public:
  Between(const Design& low, const Design& high) : low_(low), high_(high) {
    MatrixXd ratio = low.root;
    solve_lower_columns(high.root, ratio);
    theta_ = symmetric_eigenvalues(crossprod(ratio, ratio)).cwiseMax(0.0);   // X_high relative to X_low
  }

  double bound(double t) const {
    const double a = (1.0 / t - 1.0 / high_.total) / (1.0 / low_.total - 1.0 / high_.total);
    const double b = 1.0 - a;
    const double log_det = (a + b * theta_.array()).log().sum();
    const double trace = a * low_.trace + b * high_.trace;
    return low_.gain - 0.5 * log_det + 0.5 * (trace - static_cast<double>(theta_.size())) +
           t * (a * low_.top + b * high_.top);
  }

 private:
  const Design& low_;
  const Design& high_;
  VectorXd theta_;
};

}  // namespace

DesignSolver::DesignSolver(const MatrixXd& factor, double noise_var, double tolerance)
    : factor_(factor),
      noise_var_(noise_var),
      tolerance_(tolerance),
      working_(static_cast<std::size_t>(factor.rows()), 0) {}

VectorXd DesignSolver::bounds(Index rounds, const std::vector<Index>& start,
                              const std::function<void()>& called) {
  if (factor_.cols() == 0) return VectorXd::Zero(rounds);
  called_ = called;
  bounds_ = VectorXd::Constant(rounds, kInf);
  VectorXd guess = VectorXd::Zero(factor_.rows());
  for (Index x : start) guess[x] = 1.0;
  const DesignPtr last = solve(static_cast<double>(rounds), guess);
  if (rounds > 1) fill(solve(1.0, last->mass), last);
  // gamma_T <= gamma_{T+1}
  for (Index t = rounds - 1; t > 0; --t) bounds_[t - 1] = std::min(bounds_[t - 1], bounds_[t]);
  return bounds_;
}

// The two designs certify all masses between them if they do so at the geometric mean, which is the worst case.
// Otherwise the geometric mean gets a separate design.
void DesignSolver::fill(const DesignPtr& low, const DesignPtr& high) {
  const Index from = static_cast<Index>(low->total), to = static_cast<Index>(high->total);
  if (to - from < 2) return;
  const Index middle = std::clamp(static_cast<Index>(std::lround(std::sqrt(low->total * high->total))),
                                  from + 1, to - 1);
  const double t = static_cast<double>(middle);
  const double gain = std::max(low->gain_at(t), high->gain_at(t));
  const Between between(*low, *high);
  if (between.bound(t) - gain <= tolerance_ * gain) {
    for (Index s = from + 1; s < to; ++s) bounds_[s - 1] = between.bound(static_cast<double>(s));
    return;
  }
  const DesignPtr own = solve(t, 0.5 * (low->mass / low->total + high->mass / high->total));
  fill(low, own);
  fill(own, high);
}

// The working set: the points that carry mass.
void DesignSolver::begin_with(const VectorXd& mass) {
  points_.clear();
  const double enough = kNegligible * mass.sum();
  for (Index x = 0; x < mass.size(); ++x) {
    working_[x] = mass[x] > enough;
    if (working_[x]) points_.push_back(x);
  }
}

// Newton steps on the working set; then the points at which the certificate is violated join it.
DesignSolver::DesignPtr DesignSolver::solve(double total, const VectorXd& guess) {
  begin_with(guess);
  VectorXd mass = guess;
  DesignPtr design;
  for (int i = 0; i < kExtensions; ++i) {
    called_();
    mass = improve(total, mass);
    design = std::make_shared<const Design>(factor_, noise_var_, mass, total);
    if (design->bound() - design->gain <= tolerance_ * design->gain || !extend(design->score)) break;
  }
  bounds_[static_cast<Index>(total) - 1] = design->bound();
  return design;
}

// The best design on the working set.
VectorXd DesignSolver::improve(double total, const VectorXd& guess) const {
  const Index m = static_cast<Index>(points_.size());
  MatrixXd rows(m, factor_.cols());
  VectorXd local(m);
  for (Index j = 0; j < m; ++j) {
    copy_row(rows, j, factor_, points_[j]);
    local[j] = guess[points_[j]];
  }
  local = newton(tcrossprod(rows, rows), total, local);
  VectorXd mass = VectorXd::Zero(factor_.rows());
  for (Index j = 0; j < m; ++j) mass[points_[j]] = local[j];
  return (total / mass.sum()) * mass;
}

// Adds the points that violate the certificate most to the working set; highly correlated points are not added at the
// same time. False if no point violates the certificate.
bool DesignSolver::extend(const VectorXd& scores) {
  double inside = 0.0;
  for (Index x : points_) inside = std::max(inside, scores[x]);
  std::vector<Index> order;
  for (Index x = 0; x < scores.size(); ++x) {
    if (!working_[x] && scores[x] > inside) order.push_back(x);
  }
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return scores[a] > scores[b]; });
  const std::size_t old = points_.size();
  for (Index x : order) {
    const double size = factor_.row(x).norm();
    bool alike = false;
    for (std::size_t j = old; j < points_.size() && !alike; ++j) {
      const auto other = factor_.row(points_[j]);
      alike = factor_.row(x).dot(other) > kAlike * size * other.norm();
    }
    if (alike) continue;
    working_[x] = 1;
    points_.push_back(x);
  }
  return points_.size() > old;
}

// Primal-dual interior point method for max F(w), w >= 0, sum w = T: s(w) + z = nu 1, w z = mu.
VectorXd DesignSolver::newton(const MatrixXd& gram, double total, VectorXd mass) const {
  const Index m = mass.size();
  mass = (total * 0.9 / mass.sum()) * mass;
  mass.array() += 0.1 * total / static_cast<double>(m);
  Local at = evaluate(gram, noise_var_, mass);
  VectorXd slack = at.score.maxCoeff() * 1.1 - at.score.array();
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double gap = total * at.score.maxCoeff() - mass.dot(at.score);
    if (gap <= 0.25 * tolerance_ * at.gain) break;
    const double target = 0.1 * mass.dot(slack) / static_cast<double>(m);
    MatrixXd system = at.curvature;
    const VectorXd inverse = over(VectorXd::Ones(m), mass), barrier = over(slack, mass);
    add_to_diagonal(system, barrier);
    const FlooredCholesky chol(std::move(system), barrier);
    const VectorXd pull = chol.solve(at.score + target * inverse);
    const VectorXd level = chol.solve(VectorXd::Ones(m));
    const double nu = (pull.sum() + mass.sum() - total) / level.sum();
    const VectorXd move = pull - nu * level;
    const VectorXd slack_move =
        target * inverse - slack - over(times(slack, move), mass);
    mass += positive_step(mass, move) * move;
    slack += positive_step(slack, slack_move) * slack_move;
    at = evaluate(gram, noise_var_, mass);
  }
  return mass;
}

}  // namespace gpb
