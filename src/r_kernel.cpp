#include "r_kernel.h"

#include "kernels/kernel_compose.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_periodic.h"
#include "kernels/kernel_stationary.h"

namespace gpb {

namespace {

// R's own function with its work space on the stack: orders stay below 200.
double r_bessel_k(double order, double x) {
  double work[256];
  return R::bessel_k_ex(x, order, 2.0, work);
}

template <typename T>
T field(const Rcpp::List& kernel, const char* name) {
  return Rcpp::as<T>(kernel[name]);
}

std::vector<Index> dims_of(const Rcpp::List& kernel) {
  const Rcpp::IntegerVector dims = kernel["dims"];
  return std::vector<Index>(dims.begin(), dims.end());
}

Scaling scaling_of(const Rcpp::List& kernel) {
  return Scaling(dims_of(kernel), field<VectorXd>(kernel, "lengthscale"),
                 field<bool>(kernel, "isotropic"));
}

std::unique_ptr<Kernel> parse(const Rcpp::List& kernel);

std::vector<std::unique_ptr<Kernel>> parts_of(const Rcpp::List& kernel) {
  const Rcpp::List parts = kernel["parts"];
  std::vector<std::unique_ptr<Kernel>> out;
  for (R_xlen_t p = 0; p < parts.size(); ++p) out.push_back(parse(parts[p]));
  return out;
}

std::unique_ptr<Kernel> parse(const Rcpp::List& kernel) {
  const std::string type = field<std::string>(kernel, "type");
  if (type == "sum") return std::make_unique<SumKernel>(parts_of(kernel));
  if (type == "product") return std::make_unique<ProductKernel>(parts_of(kernel));
  if (type == "matrix") {
    return std::make_unique<MatrixKernel>(field<MatrixXd>(kernel, "K"),
                                          field<int>(kernel, "arm_column"));
  }
  const double variance = field<double>(kernel, "variance");
  if (type == "linear") return std::make_unique<Linear>(dims_of(kernel), variance);
  if (type == "se") return std::make_unique<SquaredExponential>(scaling_of(kernel), variance);
  if (type == "matern") {
    return std::make_unique<Matern>(scaling_of(kernel), variance, field<double>(kernel, "nu"),
                                    &r_bessel_k);
  }
  if (type == "rq") {
    return std::make_unique<RationalQuadratic>(scaling_of(kernel), variance,
                                               field<double>(kernel, "alpha"));
  }
  if (type == "periodic") {
    return std::make_unique<Periodic>(scaling_of(kernel), field<VectorXd>(kernel, "period"),
                                      field<bool>(kernel, "one_period"), variance);
  }
  throw std::invalid_argument("unknown kernel type: " + type);
}

}  // namespace

KernelPtr kernel_from_list(const Rcpp::List& kernel) { return KernelPtr(parse(kernel)); }

}  // namespace gpb
