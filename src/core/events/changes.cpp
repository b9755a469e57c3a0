#include "events/change_sweep.h"
#include "events/changes.h"

#include "kernels/make_kernel.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- the detector -------------------------------------------------------------------------------

namespace {

constexpr double kPi = 3.14159265358979323846;

// Of K + ridge I.
FlooredCholesky ridged_factor(MatrixXd K, double ridge) {
  const double noise = effective_noise(ridge, K.diagonal().maxCoeff());
  K.diagonal().array() += noise;
  return FlooredCholesky(K, noise);
}

// L L' <- L L' + v v' on the lower triangle (plane rotations); v is spoilt.
void rank_one_update(Eigen::Ref<MatrixXd> L, VectorXd& v) {
  const Index n = L.rows();
  for (Index k = 0; k < n; ++k) {
    const double r = std::hypot(L(k, k), v[k]);
    const double c = r / L(k, k), s = v[k] / L(k, k);
    L(k, k) = r;
    const Index rest = n - k - 1;
    if (rest == 0) break;
    L.col(k).tail(rest) = (L.col(k).tail(rest) + s * v.tail(rest)) / c;
    v.tail(rest) = c * v.tail(rest) - s * L.col(k).tail(rest);
  }
}

void grow(MatrixXd& m, Index size) {
  if (m.rows() >= size) return;
  const Index wanted = std::max<Index>(16, 2 * size);
  MatrixXd larger = MatrixXd::Zero(wanted, wanted);
  larger.topLeftCorner(m.rows(), m.cols()) = m;
  m.swap(larger);
}

}  // namespace

void PointAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                          MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1, n = domain_->rows();
  if (over_domain_.cols() <= t) {
    over_domain_.conservativeResize(n, std::max<Index>(16, 2 * (t + 1)));
  }
  VectorXd row(n);
  kernel_->cross(points.back(), *domain_, row);
  over_domain_.col(t) = row;
  const VectorXd averages =
      multiply_transposed(over_domain_.leftCols(t + 1), row) / static_cast<double>(n);
  products.row(t).head(t + 1) = averages.transpose();
  products.col(t).head(t + 1) = averages;
}

// The new point enters every entry's sum, and all points make up the new row.
void SampledAverage::append(const std::vector<VectorXd>& points, const MatrixXd& gram,
                            MatrixXd& products) {
  pairs_ = static_cast<Index>(points.size());
  const Index t = pairs_ - 1;
  const VectorXd row = gram.col(t).head(t);
  products.topLeftCorner(t, t) += row * row.transpose();
  const VectorXd sums = multiply(gram.topLeftCorner(t + 1, t + 1), gram.col(t).head(t + 1));
  products.row(t).head(t + 1) = sums.transpose();
  products.col(t).head(t + 1) = sums;
}

double SquaredExponentialAverage::value(const VectorXd& a, const VectorXd& b) const {
  double out = variance_ * variance_;
  for (Index c = 0; c < lower_.size(); ++c) {
    const double l = lengthscale_[c];
    if (!std::isfinite(l)) continue;
    const double gap = (a[c] - b[c]) / (2.0 * l), m = 0.5 * (a[c] + b[c]);
    out *= std::exp(-gap * gap) * 0.5 * std::sqrt(kPi) * l / (upper_[c] - lower_[c]) *
           (std::erf((upper_[c] - m) / l) - std::erf((lower_[c] - m) / l));
  }
  return out;
}

void SquaredExponentialAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                                       MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1;
  for (Index a = 0; a <= t; ++a) {
    products(t, a) = value(points[static_cast<std::size_t>(a)], points.back());
    products(a, t) = products(t, a);
  }
}

ChangeSweep::ChangeSweep(KernelPtr kernel, std::shared_ptr<Averaging> average, Rate threshold,
                         Rate ridge, bool dyadic)
    : kernel_(std::move(kernel)),
      average_(std::move(average)),
      threshold_(std::move(threshold)),
      ridge_(std::move(ridge)),
      dyadic_(dyadic) {}

void ChangeSweep::clear() {
  x_.clear();
  y_.clear();
  windows_.clear();
  average_->clear();
}

void ChangeSweep::grow_matrices(const VectorXd& x) {
  const Index t = static_cast<Index>(x_.size());
  grow(gram_, t + 1);
  grow(products_, t + 1);
  x_.push_back(x);
  for (Index a = 0; a <= t; ++a) {
    gram_(t, a) = kernel_->value(x_[static_cast<std::size_t>(a)], x);
    gram_(a, t) = gram_(t, a);
  }
  average_->append(x_, gram_, products_);
}

// The window of the last q pairs: without its oldest pair, with the newest.
void ChangeSweep::slide(Window& window, Index q) {
  const Index end = size(), first = end - q;
  MatrixXd& L = window.factor;
  if (L.rows() != q) {
    L = ridged_factor(gram_.block(first, first, q, q), window.ridge).matrix();
  } else {
    if (q > 1) {
      VectorXd dropped = L.col(0).tail(q - 1);
      MatrixXd rest = L.bottomRightCorner(q - 1, q - 1);
      rank_one_update(rest, dropped);
      VectorXd row = gram_.row(end - 1).segment(first, q - 1).transpose();
      solve_lower(rest, row);
      L.topLeftCorner(q - 1, q - 1) = rest;
      L.row(q - 1).head(q - 1) = row.transpose();
    }
    const double variance = gram_(end - 1, end - 1);
    const double left = variance - L.row(q - 1).head(q - 1).squaredNorm();
    L(q - 1, q - 1) = std::sqrt(noisy_pivot(left, effective_noise(window.ridge, variance)));
  }
  VectorXd weights = Eigen::Map<const VectorXd>(y_.data() + first, q);
  solve_lower(L, weights);
  solve_lower_transposed(L, weights);
  window.weights.push_back(std::move(weights));
}

double ChangeSweep::statistic(const VectorXd& older, const VectorXd& newer) const {
  const Index q = older.size();
  VectorXd w(2 * q);
  w << older, -newer;
  const Index first = size() - 2 * q;
  return w.dot(multiply(products_.block(first, first, 2 * q, 2 * q), w)) / average_->divisor();
}

bool ChangeSweep::add(const VectorXd& x, double y) {
  grow_matrices(x);
  y_.push_back(y);
  bool alarm = false;
  for (Index q = 1; q <= size(); ++q) {
    // Windows that no tail can use yet as its older half are needed later all the same.
    if (static_cast<Index>(windows_.size()) < q) windows_.emplace_back();
    if (dyadic_ && (q & (q - 1)) != 0) continue;
    Window& window = windows_[static_cast<std::size_t>(q - 1)];
    if (window.ridge == 0.0) {
      window.ridge = ridge_(static_cast<double>(q));
      window.threshold = threshold_(static_cast<double>(q));
    }
    slide(window, q);
    const auto kept = static_cast<Index>(window.weights.size());
    if (kept <= q) continue;
    const double difference =
        statistic(window.weights[static_cast<std::size_t>(kept - 1 - q)], window.weights.back());
    if (difference > window.threshold) {
      alarm = true;
      break;
    }
    window.weights.erase(window.weights.begin());
  }
  return alarm;
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        const Points& domain) {
  const Index q = y.size() / 2;
  VectorXd difference = VectorXd::Zero(domain.rows());
  for (Index half = 0; half < 2; ++half) {
    const Points part = x.middleRows(half * q, q);
    const VectorXd weights =
        ridged_factor(kernel.gram(part), ridge).solve(y.segment(half * q, q));
    difference += (half == 0 ? 1.0 : -1.0) * multiply(kernel.gram(domain, part), weights);
  }
  return difference.squaredNorm() / static_cast<double>(domain.rows());
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        Averaging& average) {
  const Index q = y.size() / 2;
  const MatrixXd gram = kernel.gram(x);
  MatrixXd products = MatrixXd::Zero(2 * q, 2 * q);
  std::vector<VectorXd> points;
  VectorXd w(2 * q);
  for (Index i = 0; i < 2 * q; ++i) {
    points.push_back(x.row(i).transpose());
    average.append(points, gram, products);
  }
  for (Index half = 0; half < 2; ++half) {
    const FlooredCholesky factor =
        ridged_factor(gram.block(half * q, half * q, q, q), ridge);
    w.segment(half * q, q) =
        (half == 0 ? 1.0 : -1.0) * factor.solve(y.segment(half * q, q));
  }
  return w.dot(multiply(products, w)) / average.divisor();
}

// ---- the rules ----------------------------------------------------------------------------------

bool ChangeRule::explores(Index uniform, Index history) const {
  return explore_ > 0.0 &&
         static_cast<double>(uniform) <= explore_ * std::sqrt(static_cast<double>(history));
}

bool ChangeRule::due(Index, Index) const { return false; }

bool OracleChange::due(Index last, Index first) const {
  if (last < first) return false;  // nothing to forget
  return (times_.array() == static_cast<double>(last)).any();
}

bool EveryChange::due(Index last, Index first) const {
  return last >= first && static_cast<double>(last - first + 1) >= rounds_;
}

bool EventChange::alarmed(const Arrival& a) {
  const double log_term = std::log(2.0 * kPi * kPi * a.t * a.t / 6.0 / delta_);
  return std::abs(a.reward - a.mean) >
         std::sqrt(2.0 * log_term) * a.sd + std::sqrt(2.0 * a.noise_var * log_term);
}

bool DetectChange::alarmed(const Arrival& a) {
  return a.explored && sweep_.add(a.inputs(), a.reward - a.prior_mean);
}

std::shared_ptr<Averaging> make_averaging(const Settings& domain, const KernelPtr& kernel) {
  const std::string kind = domain.text("kind");
  if (kind == "sampled") return std::make_shared<SampledAverage>();
  if (kind == "box") {
    return std::make_shared<SquaredExponentialAverage>(
        domain.numbers("lower"), domain.numbers("upper"), domain.numbers("lengthscale"),
        domain.number("variance"));
  }
  return std::make_shared<PointAverage>(kernel,
                                        std::make_shared<const Points>(domain.matrix("points")));
}

std::unique_ptr<ChangeRule> make_changes(const Settings& changes) {
  const std::string kind = changes.text("kind");
  const double explore = changes.number("explore");
  if (kind == "never") return std::make_unique<NeverChange>(explore);
  if (kind == "oracle") return std::make_unique<OracleChange>(changes.numbers("times"), explore);
  if (kind == "every") return std::make_unique<EveryChange>(changes.number("rounds"), explore);
  if (kind == "event") return std::make_unique<EventChange>(changes.number("delta"), explore);
  if (kind == "function") {
    return std::make_unique<FunctionChange>(changes.table_function("f"), explore);
  }
  if (kind == "detect") {
    const KernelPtr kernel = make_kernel(*changes.part("kernel"));
    ChangeSweep sweep(kernel, make_averaging(*changes.part("domain"), kernel),
                      changes.function("threshold"), changes.function("ridge"),
                      changes.flag("dyadic"));
    return std::make_unique<DetectChange>(std::move(sweep), explore);
  }
  Forgetting forgetting;
  if (kind == "window") {
    forgetting.kind = Forgetting::Kind::window;
    forgetting.window = changes.count("window");
  } else if (kind == "weights" || kind == "fade") {
    forgetting.kind = kind == "fade" ? Forgetting::Kind::fade : Forgetting::Kind::weights;
    forgetting.rate = changes.number("rate");
  } else {
    throw std::invalid_argument("unknown change rule " + kind);
  }
  return std::make_unique<GradualChange>(forgetting, explore);
}

}  // namespace gpb
