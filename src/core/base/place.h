// Where a query is made, and in which context.
#ifndef GPB_PLACE_H
#define GPB_PLACE_H

#include "base/arm_set.h"

namespace gpb {

// One of three: a row of the table of all arms in all known contexts; an arm (or a row of a
// product) whose other inputs no table has; a point of a box. Spaces make them.
struct Place {
  enum class Kind { tabled, numbered, point };
  Kind kind = Kind::point;
  Index arm = -1;  // number of the arm or of the product's row; none for a point
  Index row = -1;  // of the table, if tabled
  VectorXd x;      // the kernel's inputs, the arm's number last if numbered; none if tabled

  static Place tabled(Index arm, Index row) { return {Kind::tabled, arm, row, VectorXd()}; }
  static Place numbered(Index arm, VectorXd x) { return {Kind::numbered, arm, -1, std::move(x)}; }
  static Place point(VectorXd x) { return {Kind::point, -1, -1, std::move(x)}; }
};

// The circumstances of a round.
struct Context {
  Index row = 0;    // which of the known contexts
  VectorXd values;  // its values, where they are not tabulated
  // The arms, or rows of a product, that can be played now; null: all.
  ArmSet eligible;

  bool allows(Index arm) const { return !eligible || (*eligible)[static_cast<std::size_t>(arm)]; }
};

}  // namespace gpb

#endif
