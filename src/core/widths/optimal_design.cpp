// Functions of optimal_design.h: upper bounds of the maximal information gain by D-optimal design with fractional
// numbers of plays. Uses base/ and linalg/.
#include "widths/optimal_design.h"

#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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
