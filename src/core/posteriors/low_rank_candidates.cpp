#include "posteriors/low_rank_candidates.h"

#include <algorithm>

#include "linalg/sweeps.h"

namespace gpb {

namespace {
constexpr Index kFewColumns = 16;
// So many steps beyond the rank cost more than to begin anew.
constexpr Index kRestartSteps = 16;
}

LowRankCandidates::LowRankCandidates(Points X) : X_(std::move(X)) {}

VectorXd LowRankCandidates::product(const VectorXd& weights) const {
  const VectorXd zero = VectorXd::Zero(X_.rows());
  VectorXd out(X_.rows());
  product_sweep(features_.data(), X_.rows(), X_.rows(), weights.size(), weights.data(), 1.0,
                zero.data(), out.data());
  return out;
}

void LowRankCandidates::restart(const LowRankPosterior& posterior) {
  lineage_ = posterior.lineage();
  next_step_ = posterior.steps_end();
  rank_ = posterior.rank();
  Panels phi(X_.rows());
  phi.reserve(rank_, 0);
  posterior.basis().at(X_, phi);
  features_.resize(X_.rows(), std::max(kFewColumns, rank_ + rank_ / 4));
  unclipped_.resize(X_.rows());
  posterior.basis().kernel().diagonal(X_, unclipped_);
  for (Index q = 0; q < rank_; ++q) {
    for (Index j = 0; j < X_.rows(); ++j) features_(j, q) = phi(q, j);
    unclipped_ -= features_.col(q).cwiseAbs2();
  }
  forward_solve(posterior.precision().packed(), 0, rank_, phi);
  for (Index q = 0; q < rank_; ++q) {
    for (Index j = 0; j < X_.rows(); ++j) unclipped_[j] += phi(q, j) * phi(q, j);
  }
}

void LowRankCandidates::grow(const LowRankPosterior& posterior, const LowRankStep& step) {
  const GrowingCholesky& factor = posterior.basis().factor();
  const VectorXd at_new = Eigen::Map<const VectorXd>(factor.row(rank_), rank_);
  VectorXd column(X_.rows());
  posterior.basis().kernel().cross(posterior.basis().point(rank_), X_, column);
  column = (column - product(at_new)) / factor.diagonal(rank_);
  unclipped_ += (column - product(step.along)).cwiseAbs2() / step.scale - column.cwiseAbs2();
  if (rank_ == features_.cols()) features_.conservativeResize(Eigen::NoChange, 2 * rank_);
  features_.col(rank_++) = column;
}

void LowRankCandidates::observe(const LowRankStep& step) {
  unclipped_ -= product(step.along).cwiseAbs2() / step.scale;
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
  mean_ = product(posterior.weights());
}

}  // namespace gpb
