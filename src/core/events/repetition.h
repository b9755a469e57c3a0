// The number of times that a point chosen by the policy is still to be played. Uses events/bandit_state.h.
// The total is max(1, floor((C^2 - 1) lambda / sd^2)), with sd at the first play (Calandriello et al. 2022).
#ifndef GPB_REPETITION_H
#define GPB_REPETITION_H

#include "events/bandit_state.h"

namespace gpb {

class Repetition {
 public:
  // `spare`: (C^2 - 1) lambda. Queries must come in the order of their ids.
  void note(Index id, const Query& q, double spare) {
    if (q.action != Action::policy) return;
    if (left_ < 1.0 || !same_point(q.point, point_)) {
      id_ = id;
      point_ = q.point;
      left_ = std::max(1.0, std::floor(spare / (q.sd * q.sd)));
    }
    left_ -= 1.0;
  }
  void forget() { left_ = 0.0; }
  // The query whose point is to be played again; 0 if there is none.
  Index due() const { return left_ < 1.0 ? 0 : id_; }

 private:
  static bool same_point(const Point& a, const Point& b) {
    return a.kind == b.kind && a.row == b.row && a.arm == b.arm && a.x == b.x;
  }

  Index id_ = 0;
  Point point_;
  double left_ = 0.0;
};

}  // namespace gpb

#endif
