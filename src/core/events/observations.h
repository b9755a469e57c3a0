// The observations that a posterior is to know, by the ids of their queries, which are their
// rounds: what is told comes in, what a forgetting rule leaves of it goes to the posterior.
#ifndef GPB_OBSERVATIONS_H
#define GPB_OBSERVATIONS_H

#include "posteriors/forgetting.h"
#include "posteriors/posterior.h"

namespace gpb {

class Observations {
 public:
  Observations(std::unique_ptr<Posterior> posterior, const Forgetting& forgetting)
      : posterior_(std::move(posterior)), forgetting_(forgetting) {}

  // A value at a place; or another value, or weight, of one that is known.
  void put(Index id, const Place& place, double value, double weight);
  void drop(Index id);
  // Nothing is known any more; the next ids are `first` and above.
  void clear(Index first);
  // The next query is of this round.
  void advance(Index round);
  // Another value for everything that is known.
  template <class ValueOf>
  void revalue(ValueOf value_of) {
    std::vector<double> values(static_cast<std::size_t>(slots_));
    for (std::size_t k = 0; k < items_.size(); ++k) {
      Item& item = items_[k];
      if (item.known) item.value = value_of(first_ + static_cast<Index>(k));
      if (item.slot >= 0) values[static_cast<std::size_t>(item.slot)] = item.value;
    }
    if (slots_ > 0) posterior_->set_values(values);
  }

  const Posterior& posterior() const { return *posterior_; }
  // Of the posterior; -1 for what it does not know.
  Index slot(Index id) const;
  // The place with the largest posterior mean among those observed; null if there is none.
  const Place* best() const;

 private:
  struct Item {
    bool known = false;
    Index slot = -1;
    double value = 0.0, weight = 1.0;
    Place place;
  };
  Item& item(Index id);
  bool windowed() const { return forgetting_.kind == Forgetting::Kind::window; }
  void enter(Index id);
  void leave(Index id);
  void shrink_window();
  void refill_window();
  void drop_weightless();

  std::unique_ptr<Posterior> posterior_;
  Forgetting forgetting_;
  Index first_ = 1;          // the id of items_[0]
  std::vector<Item> items_;  // by id
  Index slots_ = 0;          // that the posterior has given out
  Index entered_ = 0;        // observations that the posterior knows
  Index oldest_ = 0;         // no id before it is entered, windows and weights only
  Index round_ = 1;
};

}  // namespace gpb

#endif
