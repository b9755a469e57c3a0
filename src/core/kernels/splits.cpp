// Functions of splits.h: detects kernels that are products over their inputs, and those of bounded rank.
#include "kernels/splits.h"

#include "kernels/interruptible.h"
#include "kernels/kernel_categorical.h"
#include "kernels/kernel_compose.h"
#include "kernels/kernel_levels.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_scaling.h"
#include "kernels/kernel_stationary.h"

#include <algorithm>

namespace gpb {

bool splits(const Kernel& kernel, Index first, Index count) {
  if (const auto* wrapped = dynamic_cast<const Interruptible*>(&kernel)) return splits(wrapped->inner(), first, count);
  if (const auto* product = dynamic_cast<const ProductKernel*>(&kernel)) {
    const auto& parts = product->parts();
    return std::all_of(parts.begin(), parts.end(),
                       [&](const std::unique_ptr<Kernel>& part) { return splits(*part, first, count); });
  }
  if (dynamic_cast<const SquaredExponential*>(&kernel)) return true;
  const auto* stationary = dynamic_cast<const StationaryKernel*>(&kernel);
  if (!stationary) return false;
  const std::vector<Index>& dims = stationary->scaling().dims;
  const auto among = std::count_if(dims.begin(), dims.end(), [&](Index c) { return c >= first && c < first + count; });
  return among == 0 || among == static_cast<std::ptrdiff_t>(dims.size());
}

namespace {

template <class... Classes>
bool is_one_of(const Kernel& kernel) {
  return (dynamic_cast<const Classes*>(&kernel) || ...);
}

}  // namespace

bool has_bounded_rank(const Kernel& kernel, Index first, Index count) {
  if (const auto* wrapped = dynamic_cast<const Interruptible*>(&kernel)) {
    return has_bounded_rank(wrapped->inner(), first, count);
  }
  if (const auto* composite = dynamic_cast<const CompositeKernel*>(&kernel)) {
    const auto& parts = composite->parts();
    return std::all_of(parts.begin(), parts.end(), [&](const std::unique_ptr<Kernel>& part) {
      return has_bounded_rank(*part, first, count);
    });
  }
  if (is_one_of<Linear, Categorical, LevelKernel, MatrixKernel>(kernel)) return true;
  const auto* stationary = dynamic_cast<const StationaryKernel*>(&kernel);
  if (!stationary) return false;
  const std::vector<Index>& dims = stationary->scaling().dims;
  return std::none_of(dims.begin(), dims.end(), [&](Index c) { return c >= first && c < first + count; });
}

}  // namespace gpb
