// Stable sorts of structs by the one sort of indices that is compiled: one of its own for each kind costs five kilobytes.
#ifndef GPB_ORDERING_H
#define GPB_ORDERING_H

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace gpb {

// 0, ..., n - 1, those first that are `earlier`; equal ones stay as they are.
std::vector<std::size_t> stable_order(std::size_t n, const std::function<bool(std::size_t, std::size_t)>& earlier);

template <class T, class Earlier>
void put_in_order(std::vector<T>& items, const Earlier& earlier) {
  const auto order = stable_order(items.size(), [&](std::size_t a, std::size_t b) { return earlier(items[a], items[b]); });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const std::size_t i : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace gpb

#endif
