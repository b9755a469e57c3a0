// R's own L-BFGS-B as a minimiser of the core. Uses the core and R's C routine.

#include "r_lbfgsb.h"

#include <R.h>
#include <R_ext/Applic.h>

#include <cmath>
#include <exception>
#include <limits>
#include <vector>

namespace gpb {

namespace {

// One minimisation. The C routine requests value and gradient separately, at the same point, so both are computed once.
// Exceptions must not pass through it.
struct Call {
  const Objective* f;
  VectorXd x, gradient;
  double value = kInf;
  std::exception_ptr failure;

  void evaluate(int n, const double* at) {
    if (failure) return;
    const Eigen::Map<const VectorXd> asked(at, n);
    if (x.size() == n && x == asked) return;
    x = asked;
    try {
      value = (*f)(x, gradient);
    } catch (...) {
      failure = std::current_exception();
    }
    // A value that is not finite ends the search.
    if (failure || !std::isfinite(value) || !gradient.allFinite()) {
      value = 1e300;
      gradient = VectorXd::Zero(n);
    }
  }
};

double value_at(int n, double* at, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  return call->value;
}

void gradient_at(int n, double* at, double* out, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  for (int i = 0; i < n; ++i) out[i] = call->gradient[i];
}

}  // namespace

BoxMinimizer lbfgsb_minimizer(int max_iterations, double tolerance) {
  const double factor = tolerance / std::numeric_limits<double>::epsilon();
  return [max_iterations, factor](VectorXd& x, const Objective& f) {
    const int n = static_cast<int>(x.size());
    Call call{&f, VectorXd(), VectorXd(), kInf, nullptr};
    VectorXd lower = VectorXd::Zero(n), upper = VectorXd::Ones(n);
    std::vector<int> bounded(static_cast<std::size_t>(n), 2);
    double minimum = 0.0;
    int fail = 0, value_calls = 0, gradient_calls = 0;
    char message[60];
    lbfgsb(n, 5, x.data(), lower.data(), upper.data(), bounded.data(), &minimum, value_at,
           gradient_at, &fail, &call, factor, 0.0, &value_calls, &gradient_calls, max_iterations,
           message, 0, 10);
    if (call.failure) std::rethrow_exception(call.failure);
    return minimum;
  };
}

}  // namespace gpb
