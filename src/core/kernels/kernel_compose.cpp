// Functions of kernel_compose.h: sums and products of kernels.
#include "kernels/kernel_compose.h"

#include "kernels/kernel_scaling.h"

#include <cmath>

namespace gpb {

CompositeKernel::CompositeKernel(std::vector<std::unique_ptr<Kernel>> parts)
    : parts_(std::move(parts)) {
  if (parts_.empty()) throw_invalid("a sum or product of kernels needs parts");
}

CompositeKernel::CompositeKernel(const CompositeKernel& other) : Kernel(other) {
  for (const auto& part : other.parts_) parts_.push_back(part->clone());
}

Index CompositeKernel::parameter_count() const {
  Index count = 0;
  for (const auto& part : parts_) count += part->parameter_count();
  return count;
}

VectorXd CompositeKernel::log_parameters() const {
  VectorXd theta(parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    theta.segment(first, part->parameter_count()) = part->log_parameters();
    first += part->parameter_count();
  }
  return theta;
}

void CompositeKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    part->set_log_parameters(segment_of(theta, first, part->parameter_count()));
    first += part->parameter_count();
  }
}

void SumKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  parts_[0]->cross(x, Y, out);
  VectorXd term(Y.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, term);
    out += term;
  }
}

void SumKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  parts_[0]->diagonal(X, out);
  VectorXd term(X.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->diagonal(X, term);
    out += term;
  }
}

void SumKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  parts_[0]->input_gradient(x, Y, out);
  MatrixXd term;
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->input_gradient(x, Y, term);
    out += term;
  }
}

VectorXd SumKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  VectorXd gradient(parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    gradient.segment(first, part->parameter_count()) = part->parameter_gradient(X, W);
    first += part->parameter_count();
  }
  return gradient;
}

// In a product: one of the n parts at random, multiplied by sqrt(n) so that the covariance is that of the sum.
void SumKernel::draw_feature(Rng& rng, Feature& feature) const {
  const Index n = static_cast<Index>(parts_.size());
  feature.amplitude *= std::sqrt(static_cast<double>(n));
  parts_[static_cast<std::size_t>(rng.index(n))]->draw_feature(rng, feature);
}

PriorPath SumKernel::draw_prior_path(Rng& rng, Index inputs, Index features) const {
  PriorPath path;
  for (const auto& part : parts_) path.add(part->draw_prior_path(rng, inputs, features));
  return path;
}

std::unique_ptr<Kernel> SumKernel::clone() const { return std::make_unique<SumKernel>(*this); }

void ProductKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  parts_[0]->cross(x, Y, out);
  VectorXd factor(Y.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, factor);
    out.array() *= factor.array();
  }
}

void ProductKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  parts_[0]->diagonal(X, out);
  VectorXd factor(X.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->diagonal(X, factor);
    out.array() *= factor.array();
  }
}

// (f g)' = f'g + f g', one factor after the other.
void ProductKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  parts_[0]->input_gradient(x, Y, out);
  VectorXd product(Y.rows());
  VectorXd factor(Y.rows());
  MatrixXd slope;
  parts_[0]->cross(x, Y, product);
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, factor);
    parts_[p]->input_gradient(x, Y, slope);
    out.array().colwise() *= factor.array();
    out.array() += slope.array().colwise() * product.array();
    product.array() *= factor.array();
  }
}

// The gradient of one factor, with weights multiplied by the Gram matrices of the others.
VectorXd ProductKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  std::vector<MatrixXd> grams;
  for (const auto& part : parts_) grams.push_back(part->gram(X));
  VectorXd gradient(parameter_count());
  Index first = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Index count = parts_[p]->parameter_count();
    if (count == 0) continue;
    MatrixXd weights = W;
    for (std::size_t q = 0; q < parts_.size(); ++q) {
      for (Index k = 0; q != p && k < weights.size(); ++k) weights.data()[k] *= grams[q].data()[k];
    }
    gradient.segment(first, count) = parts_[p]->parameter_gradient(X, weights);
    first += count;
  }
  return gradient;
}

void ProductKernel::draw_feature(Rng& rng, Feature& feature) const {
  for (const auto& part : parts_) part->draw_feature(rng, feature);
}

std::unique_ptr<Kernel> ProductKernel::clone() const {
  return std::make_unique<ProductKernel>(*this);
}

}  // namespace gpb
