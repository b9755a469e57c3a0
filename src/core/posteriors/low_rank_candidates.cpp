// Functions of low_rank_candidates.h: mean and variance at fixed points that are evaluated repeatedly; the counterpart
// of PredictionCache for the low-rank posterior. Uses linalg/.
#include "posteriors/low_rank_candidates.h"

#include "linalg/floors.h"
#include "linalg/sweeps.h"

#include <algorithm>

namespace gpb {

namespace {

constexpr Index kFewColumns = 4;
// More than this number of steps beyond the rank cost more than a restart.
constexpr Index kRestartSteps = 16;

}  // namespace

LowRankCandidates::LowRankCandidates(Points X, Index centre)
    : X_(std::move(X)),
      centre_(centre),
      zero_(VectorXd::Zero(X_.rows())),
      column_(X_.rows()),
      product_(X_.rows()),
      mean_(X_.rows()) {}

void LowRankCandidates::product(const double* weights, Index count, VectorXd& out) const {
  product_sweep(features_.data(), X_.rows(), X_.rows(), count, weights, 1.0, zero_.data(), out.data());
}

// Adds scale * along^2 to the variances, and the corresponding terms to those of differences.
void LowRankCandidates::add_square(const VectorXd& along, double scale) {
  unclipped_.array() += scale * along.array().square();
  if (centre_ < 0) return;
  unclipped_apart_.array() += scale * (along.array() - along[centre_]).square();
}

void LowRankCandidates::start_from_prior(const Kernel& kernel) {
  unclipped_.resize(X_.rows());
  kernel.diagonal(X_, unclipped_);
  if (centre_ < 0) return;
  unclipped_apart_.resize(X_.rows());
  kernel.cross(X_.row(centre_).transpose(), X_, unclipped_apart_);
  unclipped_apart_ = (unclipped_ - 2.0 * unclipped_apart_).array() + unclipped_[centre_];
  hidden_apart_ = kBasisPivot * unclipped_.maxCoeff();
}

// variance = k(x, x) - |phi|^2 + |M^-1 phi|^2.
void LowRankCandidates::restart(const LowRankPosterior& posterior) {
  posterior_id_ = posterior.posterior_id();
  next_step_ = posterior.steps_end();
  rank_ = posterior.rank();
  start_from_prior(posterior.basis().kernel());
  Panels phi(X_.rows());
  phi.reserve(rank_, 0);
  posterior.basis().at(X_, phi);
  features_.resize(X_.rows(), std::max(kFewColumns, rank_ + rank_ / 4));
  VectorXd column(X_.rows());
  const auto row = [&](Index q) -> const VectorXd& {
    for (Index j = 0; j < X_.rows(); ++j) column[j] = phi(q, j);
    return column;
  };
  for (Index q = 0; q < rank_; ++q) {
    features_.col(q) = row(q);
    add_square(column, -1.0);
  }
  forward_solve(posterior.precision().packed(), 0, rank_, phi);
  for (Index q = 0; q < rank_; ++q) add_square(row(q), 1.0);
}

void LowRankCandidates::grow(const LowRankPosterior& posterior, const LowRankStep& step) {
  const GrowingCholesky& factor = posterior.basis().factor();
  posterior.basis().kernel().cross(posterior.basis().point(rank_), X_, column_);
  product(factor.row(rank_), rank_, product_);
  column_ = (column_ - product_) / factor.diagonal(rank_);
  if (step.along.size() > 0) {
    product(step.along.data(), step.along.size(), product_);
    product_ = column_ - product_;
    add_square(product_, 1.0 / step.scale);
    add_square(column_, -1.0);
  } else if (step.scale != 1.0) {
    add_square(column_, 1.0 / step.scale - 1.0);
  }
  if (rank_ == features_.cols()) features_.conservativeResize(Eigen::NoChange, 2 * rank_);
  features_.col(rank_++) = column_;
}

void LowRankCandidates::observe(const LowRankStep& step) {
  product(step.along.data(), step.along.size(), product_);
  add_square(product_, -1.0 / step.scale);
}

void LowRankCandidates::follow(const LowRankPosterior& posterior) {
  const Index missed = posterior.steps_end() - next_step_;
  if (posterior_id_ != posterior.posterior_id() || next_step_ < posterior.steps_begin() ||
      missed > posterior.rank() + kRestartSteps) {
    restart(posterior);
  }
  for (; next_step_ < posterior.steps_end(); ++next_step_) {
    const LowRankStep& step = posterior.step(next_step_);
    if (step.grows) {
      grow(posterior, step);
    } else {
      observe(step);
    }
  }
  variance_ = unclipped_.cwiseMax(0.0);
  apart_ = unclipped_apart_.cwiseMax(0.0).array() + hidden_apart_;
  const VectorXd& weights = posterior.weights();
  product(weights.data(), weights.size(), mean_);
}

}  // namespace gpb
