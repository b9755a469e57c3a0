// Functions of make_kernel.h: makes kernels from settings (those of resolve_kernel() in R). Uses base/.
#include "kernels/make_kernel.h"

#include "kernels/interruptible.h"
#include "kernels/kernel_categorical.h"
#include "kernels/kernel_compose.h"
#include "kernels/kernel_function.h"
#include "kernels/kernel_levels.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_periodic.h"
#include "kernels/kernel_scaling.h"
#include "kernels/kernel_stationary.h"

namespace gpb {

namespace {

std::vector<Index> dims_of(const Settings& kernel) {
  std::vector<Index> out;
  const VectorXd columns = kernel.numbers("dims");
  for (Index k = 0; k < columns.size(); ++k) out.push_back(static_cast<Index>(columns[k]));
  return out;
}

Scaling scaling_of(const Settings& kernel) {
  return Scaling(dims_of(kernel), kernel.numbers("lengthscale"), kernel.flag("isotropic"));
}

std::unique_ptr<Kernel> plain_kernel(const Settings& kernel);

std::vector<std::unique_ptr<Kernel>> parts_of(const Settings& kernel) {
  std::vector<std::unique_ptr<Kernel>> out;
  for (const auto& part : kernel.parts("parts")) {
    out.push_back(std::make_unique<Interruptible>(plain_kernel(*part), kernel.outside().pause));
  }
  return out;
}

std::unique_ptr<Kernel> plain_kernel(const Settings& kernel) {
  const std::string type = kernel.text("type");
  if (type == "sum") return std::make_unique<SumKernel>(parts_of(kernel));
  if (type == "product") return std::make_unique<ProductKernel>(parts_of(kernel));
  if (type == "matrix") {
    return std::make_unique<MatrixKernel>(kernel.matrix("K"), kernel.count("arm_column"));
  }
  const double variance = kernel.number("variance");
  if (type == "function") {
    return std::make_unique<FunctionKernel>(kernel.gram_function("f"), dims_of(kernel), variance);
  }
  if (type == "linear") return std::make_unique<Linear>(dims_of(kernel), variance);
  if (type == "se") return std::make_unique<SquaredExponential>(scaling_of(kernel), variance);
  if (type == "matern") {
    return std::make_unique<Matern>(scaling_of(kernel), variance, kernel.number("nu"),
                                    kernel.outside().bessel_k);
  }
  if (type == "rq") {
    return std::make_unique<RationalQuadratic>(scaling_of(kernel), variance, kernel.number("alpha"));
  }
  if (type == "periodic") {
    return std::make_unique<Periodic>(scaling_of(kernel), kernel.numbers("period"),
                                      kernel.flag("one_period"), variance);
  }
  if (type == "categorical") {
    return std::make_unique<Categorical>(dims_of(kernel), kernel.numbers("correlation"),
                                         kernel.flag("one_correlation"), variance);
  }
  if (type == "levels") {
    MatrixXd features = kernel.matrix("features");
    VectorXd lengthscale = kernel.numbers("lengthscale");
    const bool isotropic = lengthscale.size() == 1;
    std::vector<Index> columns;
    for (Index c = 0; c < features.cols(); ++c) columns.push_back(c);
    if (isotropic) lengthscale = VectorXd::Constant(features.cols(), lengthscale[0]).eval();
    auto inner = std::make_unique<Matern>(Scaling(std::move(columns), lengthscale, isotropic), 1.0,
                                          2.5, kernel.outside().bessel_k);
    return std::make_unique<LevelKernel>(dims_of(kernel).at(0), std::move(features),
                                         std::move(inner), kernel.number("own"), variance);
  }
  throw_invalid("unknown kernel type: " + type);
}

}  // namespace

KernelPtr make_kernel(const Settings& kernel) {
  return std::make_shared<Interruptible>(plain_kernel(kernel), kernel.outside().pause);
}

}  // namespace gpb
