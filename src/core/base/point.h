// Where a query is made, and in which context.
#ifndef GPB_POINT_H
#define GPB_POINT_H

#include "base/arm_set.h"

#include <cstdint>

namespace gpb {

// One of three: a row of the table of all arms in all known contexts; an arm (or a row of a
// product) whose other inputs no table has; a point of a box. Spaces make them.
// (Numbers are as narrow as R's: long lives have millions of places.)
struct Point {
  enum class Kind : std::int8_t { tabled, numbered, point };
  Kind kind = Kind::point;
  std::int32_t arm = -1;  // number of the arm or of the product's row; none for a point
  std::int32_t row = -1;  // of the table, if tabled
  VectorXd x;             // the kernel's inputs, the arm's number last if numbered; none if tabled

  static Point tabled(Index arm, Index row) {
    return {Kind::tabled, static_cast<std::int32_t>(arm), static_cast<std::int32_t>(row), VectorXd()};
  }
  static Point numbered(Index arm, VectorXd x) {
    return {Kind::numbered, static_cast<std::int32_t>(arm), -1, std::move(x)};
  }
  static Point point(VectorXd x) { return {Kind::point, -1, -1, std::move(x)}; }
};

// Inputs that are not to be chosen now.
struct Fixed {
  std::vector<Index> at;  // which of the kernel's inputs, in order
  VectorXd values;        // theirs
  // Points to begin a search with, where a space is told them from outside. (No part of the log.)
  Points candidates;
  bool same_as(const Fixed& other) const { return at == other.at && values == other.values; }
  bool holds(const VectorXd& inputs) const {
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (at[k] >= inputs.size() || inputs[at[k]] != values[static_cast<Index>(k)]) return false;
    }
    return true;
  }
};
using FixedInputs = std::shared_ptr<const Fixed>;

// The circumstances of a round.
struct Context {
  Index row = 0;    // which of the known contexts
  VectorXd values;  // its values, where they are not tabulated
  // The arms, or rows of a product, that can be played now; null: all.
  ArmSet eligible;
  FixedInputs fixed;  // null: none

  bool allows(Index arm) const { return !eligible || (*eligible)[static_cast<std::size_t>(arm)]; }
};

inline bool same_fixed(const FixedInputs& a, const FixedInputs& b) {
  return a == b || (a && b && a->same_as(*b));
}

// What could be played at a query, as the log writes it: "1-3,7" are arms (from 1), "|2=0.5" an input (from 1)
// that was fixed, "1-3|2=0.5,4=1" both. Nothing where all could.
std::string offer_text(const Context& context);
// Throws unless the text is of that form, with some of so many arms.
void read_offer(const std::string& text, Index arms, Context& context);

}  // namespace gpb

#endif
