#include "posteriors/low_rank_candidates.h"

#include <algorithm>

#include "linalg/floors.h"
#include "linalg/sweeps.h"

namespace gpb {

namespace {
constexpr Index kFewColumns = 4;
// So many steps beyond the rank cost more than to begin anew.
constexpr Index kRestartSteps = 16;
}

LowRankCandidates::LowRankCandidates(Points X, Index centre)
    : X_(std::move(X)), centre_(centre) {}

VectorXd LowRankCandidates::product(const VectorXd& weights) const {
  const VectorXd zero = VectorXd::Zero(X_.rows());
  VectorXd out(X_.rows());
  product_sweep(features_.data(), X_.rows(), X_.rows(), weights.size(), weights.data(), 1.0,
                zero.data(), out.data());
  return out;
}

// The variances gain scale * along^2, and those of differences accordingly.
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
  lineage_ = posterior.lineage();
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
  const VectorXd at_new = Eigen::Map<const VectorXd>(factor.row(rank_), rank_);
  VectorXd column(X_.rows());
  posterior.basis().kernel().cross(posterior.basis().point(rank_), X_, column);
  column = (column - product(at_new)) / factor.diagonal(rank_);
  if (step.along.size() > 0) {
    add_square(column - product(step.along), 1.0 / step.scale);
    add_square(column, -1.0);
  } else if (step.scale != 1.0) {
    add_square(column, 1.0 / step.scale - 1.0);
  }
  if (rank_ == features_.cols()) features_.conservativeResize(Eigen::NoChange, 2 * rank_);
  features_.col(rank_++) = column;
}

void LowRankCandidates::observe(const LowRankStep& step) {
  add_square(product(step.along), -1.0 / step.scale);
}

void LowRankCandidates::follow(const LowRankPosterior& posterior) {
  const Index missed = posterior.steps_end() - next_step_;
  if (lineage_ != posterior.lineage() || next_step_ < posterior.steps_begin() ||
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
  mean_ = product(posterior.weights());
}

}  // namespace gpb
