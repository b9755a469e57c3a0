#include "posteriors/posterior.h"

#include <cmath>

namespace gpb {

VectorXd SampledFunction::at(const Points&) const {
  throw std::logic_error("this draw is known at the candidates only");
}

double SampledFunction::at(const VectorXd&, VectorXd*) const {
  throw std::logic_error("this draw is known at the candidates only");
}

PriorMean::PriorMean(VectorXd values) : values_(std::move(values)) {
  if (values_.size() < 1) throw std::invalid_argument("a prior mean needs a number");
  if ((values_.array() == values_[0]).all()) values_.conservativeResize(1);
}

Index PriorMean::arm_of(double number) const {
  if (values_.size() == 1) return 0;
  const Index arm = static_cast<Index>(std::llround(number));
  if (arm < 0 || arm >= values_.size()) {
    throw std::invalid_argument("the prior mean differs by arm, and this point is none");
  }
  return arm;
}

MatrixXd Posterior::covariance(const Candidates&, const std::vector<Index>&) const {
  throw std::invalid_argument("engine \"" + engine() + "\" has no joint covariance of candidates");
}

VectorXd PriorMean::at(const Points& X) const {
  if (values_.size() == 1) return VectorXd::Constant(X.rows(), values_[0]);
  VectorXd out(X.rows());
  for (Index i = 0; i < X.rows(); ++i) out[i] = of_arm(arm_of(X(i, X.cols() - 1)));
  return out;
}

VectorXd Posterior::mean_of(const Points& X) const {
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  return mean;
}

double Posterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  double mean, sd;
  VectorXd ignored;
  local(x, mean, sd, gradient, ignored);
  return mean;
}

void Posterior::local(const VectorXd&, double&, double&, VectorXd&, VectorXd&) const {
  throw std::logic_error("a table of arms has no gradient");
}

}  // namespace gpb
