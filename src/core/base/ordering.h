// Sorts of indices, compiled once, and stable sorts by them: each further type would take five kilobytes. Uses base/.
#ifndef GPB_ORDERING_H
#define GPB_ORDERING_H

#include <functional>
#include <utility>
#include <vector>

#include "base/types.h"

namespace gpb {

// 0, ..., n - 1, sorted by `earlier`; equal ones keep their order.
std::vector<Index> stable_order(Index n, const std::function<bool(Index, Index)>& earlier);

void sort_increasing(std::vector<Index>& indices);

template <class T, class Earlier>
void put_in_order(std::vector<T>& items, const Earlier& earlier) {
  const auto at = [&](Index i) -> T& { return items[static_cast<std::size_t>(i)]; };
  const auto order = stable_order(static_cast<Index>(items.size()),
                                  [&](Index a, Index b) { return earlier(at(a), at(b)); });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const Index i : order) sorted.push_back(std::move(at(i)));
  items = std::move(sorted);
}

}  // namespace gpb

#endif
