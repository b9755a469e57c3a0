// Functions of played_posterior.h: engine 2, played points: the posterior covariance is k(i, j) - V_i' D V_j with a row
// of V per observation. Uses linalg/.
#include "posteriors/played_posterior.h"

#include "linalg/decompositions.h"
#include "linalg/products.h"
#include "linalg/sweeps.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kSlack = 32;               // rows beyond twice the distinct arms before compressing
constexpr double kKeptNumbers = 4e6;       // prior covariances kept (32 MB)

}  // namespace

PlayedPosterior::PlayedPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)) {
  V_.resize(table_->size(), 16);
  forget();
}

void PlayedPosterior::forget() {
  rows_ = 0;
  sign_.clear();
  distinct_ = 0;
  is_distinct_.assign(static_cast<std::size_t>(table_->size()), 0);
}

// A drifted posterior is not a function of the statistics.
bool PlayedPosterior::refit_due() const {
  if (drifted_) return false;
  return rows_ >= 2 * distinct_ + kSlack || 2 * drops_ >= distinct_ + kSlack;
}

const double* PlayedPosterior::prior_row(Index arm) {
  const auto found = kept_rows_.find(arm);
  if (found != kept_rows_.end()) return found->second.data();
  const Index n = table_->size();
  scratch_.resize(n);
  table_->kernel->cross(row_of(*table_->points, arm), *table_->points, scratch_);
  const double kept = static_cast<double>(kept_rows_.size() + 1) * static_cast<double>(n);
  if (kept > kKeptNumbers) return scratch_.data();
  return kept_rows_.emplace(arm, scratch_).first->second.data();
}

void PlayedPosterior::make_room() {
  if (rows_ < V_.cols()) return;
  V_.conservativeResize(Eigen::NoChange, 2 * V_.cols());
}

VectorXd PlayedPosterior::signed_row(Index arm) const {
  VectorXd out(rows_);
  for (Index k = 0; k < rows_; ++k) out[k] = V_(arm, k) * sign_[static_cast<std::size_t>(k)];
  return out;
}

double PlayedPosterior::condition(Index arm, double innovation, double noise) {
  make_room();
  if (!is_distinct_[static_cast<std::size_t>(arm)]) ++distinct_;
  is_distinct_[static_cast<std::size_t>(arm)] = 1;
  const double* prior = prior_row(arm);
  const VectorXd at_arm = signed_row(arm);
  const double variance = prior[arm] - at_arm.dot(V_.row(arm).head(rows_).transpose());
  const double s = noisy_pivot(variance, noise);
  const double sign = s > 0.0 ? 1.0 : -1.0, scale = std::sqrt(std::abs(s));
  // The sweep subtracts row^2 from the variance; for a removed observation it has to be added.
  VectorXd before;
  if (sign < 0.0) before = variance_;
  append_sweep(V_.data(), V_.rows(), V_.rows(), rows_, at_arm.data(), prior, 1.0 / scale,
               sign * innovation / scale, V_.col(rows_).data(), mean_.data(), variance_.data());
  if (sign < 0.0) {
    for (Index i = 0; i < before.size(); ++i) variance_[i] = before[i] + V_(i, rows_) * V_(i, rows_);
  }
  sign_.push_back(sign);
  ++rows_;
  return s;
}

void PlayedPosterior::respond(Index arm, double step) {
  const Index n = table_->size();
  const VectorXd at_arm = signed_row(arm);
  const double* prior = prior_row(arm);
  VectorXd c(n);
  product_sweep(V_.data(), n, n, rows_, at_arm.data(), -1.0, prior, c.data());
  mean_ += step * c;
}

// One row per distinct arm: V = L^-1 K(played, all), L L' = K(played, played) + lambda / W.
void PlayedPosterior::refit() {
  const std::vector<Index> seen = observed_arms();
  const Index m = static_cast<Index>(seen.size()), n = table_->size();
  std::fill(is_distinct_.begin(), is_distinct_.end(), 0);
  distinct_ = m;
  rows_ = m;
  sign_.assign(static_cast<std::size_t>(m), 1.0);
  if (V_.cols() < m) V_.resize(n, std::max<Index>(m, 2 * V_.cols()));
  MatrixXd K(m, m);
  VectorXd target(m), noise(m);
  for (Index k = 0; k < m; ++k) {
    const Index arm = seen[static_cast<std::size_t>(k)];
    is_distinct_[static_cast<std::size_t>(arm)] = 1;
    V_.col(k) = Eigen::Map<const VectorXd>(prior_row(arm), n);
    noise[k] = effective_noise(noise_var_ / weight_[arm], table_->prior_variance[arm]);
    target[k] = weighted_[arm] / weight_[arm];
  }
  for (Index k = 0; k < m; ++k) {
    copy_row(K, k, V_, seen[static_cast<std::size_t>(k)]);
    K(k, k) += noise[k];
  }
  const FlooredCholesky factor(std::move(K), noise);
  solve_lower(factor.lower(), target);  // half of the solution
  constexpr Index block = 256;
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    auto part = V_.block(first, 0, count, m);
    solve_lower_transposed_rows(factor.lower(), part);
    mean_.segment(first, count) = prior_mean_.segment(first, count);
    add_multiple(mean_.segment(first, count), 1.0, part, target);
    variance_.segment(first, count) =
        (table_->prior_variance.segment(first, count) - part.rowwise().squaredNorm()).cwiseMax(0.0);
  }
  log_det_ = factor.log_det() - noise.array().log().sum();
}

void PlayedPosterior::draw(Rng&, double, const VectorXd&, Index, Eigen::Ref<MatrixXd>) const {
  throw_logic("joint draws need the weight-space engine");
}

// (1 - rate) (K - V'V) + rate K = K - (keep V)'(keep V).
void PlayedPosterior::drift(double rate) {
  const double keep = std::sqrt(1.0 - rate);
  mean_ = prior_mean_ + keep * (mean_ - prior_mean_);
  variance_ = (1.0 - rate) * variance_ + rate * table_->prior_variance;
  V_.leftCols(rows_) *= keep;
  drifted_ = true;
}

VectorXd PlayedPosterior::covariance_with(Index arm) const {
  const Index n = table_->size();
  VectorXd out(n);
  table_->kernel->cross(row_of(*table_->points, arm), *table_->points, out);
  const VectorXd at_arm = signed_row(arm), prior = out;
  product_sweep(V_.data(), n, n, rows_, at_arm.data(), -1.0, prior.data(), out.data());
  return out;
}

MatrixXd PlayedPosterior::covariance(const std::vector<Index>& arms) const {
  const Index count = static_cast<Index>(arms.size());
  MatrixXd rows(count, rows_), signed_rows(count, rows_);
  Points points(count, table_->points->cols());
  for (Index k = 0; k < count; ++k) {
    copy_row(rows, k, V_, arms[static_cast<std::size_t>(k)]);
    set_row(signed_rows, k, signed_row(arms[static_cast<std::size_t>(k)]));
    copy_row(points, k, *table_->points, arms[static_cast<std::size_t>(k)]);
  }
  return table_->kernel->gram(points) - tcrossprod(signed_rows, rows);
}

}  // namespace gpb
