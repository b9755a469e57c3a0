// Functions of ordering.h: sorts of indices.
#include "base/ordering.h"

#include <algorithm>
#include <numeric>

namespace gpb {

std::vector<Index> stable_order(Index n, const std::function<bool(Index, Index)>& earlier) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return earlier(a, b); });
  return order;
}

void sort_increasing(std::vector<Index>& indices) { std::sort(indices.begin(), indices.end()); }

}  // namespace gpb
