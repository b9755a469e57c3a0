#include "events/observations.h"

#include <algorithm>

namespace gpb {

Observations::Item& Observations::item(Index id) {
  const auto k = static_cast<std::size_t>(id - first_);
  if (k >= items_.size()) items_.resize(k + 1);
  return items_[k];
}

Index Observations::slot(Index id) const {
  const auto k = static_cast<std::size_t>(id - first_);
  return id >= first_ && k < items_.size() ? items_[k].slot : -1;
}

void Observations::enter(Index id) {
  Item& one = item(id);
  const double age = static_cast<double>(round_ - id);
  posterior_->add({one.place, one.value, one.weight * forgetting_.weight(age), id});
  one.slot = slots_++;
  oldest_ = entered_ == 0 ? id : std::min(oldest_, id);
  ++entered_;
}

void Observations::leave(Index id) {
  Item& one = item(id);
  posterior_->drop(one.slot);
  one.slot = -1;
  --entered_;
}

void Observations::put(Index id, const Place& place, double value, double weight) {
  Item& one = item(id);
  if (one.known && one.weight == weight) {
    one.value = value;
    if (one.slot >= 0) posterior_->set_value(one.slot, value);
    return;
  }
  if (one.slot >= 0) leave(id);
  one.known = true;
  one.value = value;
  one.weight = weight;
  one.place = place;
  if (windowed() && entered_ >= forgetting_.window && id < oldest_) return;
  if (forgetting_.weight(static_cast<double>(round_ - id)) <= kNoWeight) return;
  enter(id);
  if (windowed()) shrink_window();
}

// The latest observations stay, whatever the order in which they came.
void Observations::shrink_window() {
  while (entered_ > forgetting_.window) {
    while (slot(oldest_) < 0) ++oldest_;
    leave(oldest_++);
  }
}

// One has left for good: the latest of those that were passed over comes in.
void Observations::refill_window() {
  for (Index id = first_ + static_cast<Index>(items_.size()) - 1; id >= first_; --id) {
    if (entered_ >= forgetting_.window) return;
    const Item& one = item(id);
    if (one.known && one.slot < 0) enter(id);
  }
}

void Observations::drop(Index id) {
  Item& one = item(id);
  if (!one.known) return;
  one.known = false;
  if (one.slot < 0) return;
  leave(id);
  if (windowed()) refill_window();
}

void Observations::clear(Index first) {
  posterior_->clear();
  items_.clear();
  first_ = first;
  slots_ = entered_ = oldest_ = 0;
}

void Observations::drop_weightless() {
  const Index end = first_ + static_cast<Index>(items_.size());
  while (oldest_ < end && entered_ > 0 &&
         forgetting_.weight(static_cast<double>(round_ - oldest_)) <= kNoWeight) {
    if (slot(oldest_) >= 0) leave(oldest_);
    ++oldest_;
  }
}

void Observations::advance(Index round) {
  const double passed = static_cast<double>(round - round_);
  round_ = round;
  posterior_->advance(round);
  if (forgetting_.kind != Forgetting::Kind::weights || passed == 0.0 || entered_ == 0) return;
  posterior_->rescale(forgetting_.weight(passed));
  drop_weightless();
}

const Place* Observations::best() const {
  const Index slot = posterior_->best_slot();
  if (slot < 0) return nullptr;
  for (const Item& one : items_) {
    if (one.slot == slot) return &one.place;
  }
  return nullptr;
}

}  // namespace gpb
