// The point and the context of a query. Uses base/ only.
#ifndef GPB_POINT_H
#define GPB_POINT_H

#include "base/arm_set.h"

#include <cstdint>

namespace gpb {

// One of three kinds, made by spaces. A tabled one is a row of the table of all arms in all known contexts. A numbered
// one is an arm (or a row of a product) with further inputs that are not tabulated. The third is a point of a box.
// (Numbers are as narrow as R's, because long runs have millions of points.)
struct Point {
  enum class Kind : std::int8_t { tabled, numbered, point };
  Kind kind = Kind::point;
  std::int32_t arm = -1;  // number of the arm or of the product's row; -1 for a point
  std::int32_t row = -1;  // of the table, if tabled
  VectorXd x;             // the kernel's inputs, the arm's number last if numbered; empty if tabled

  static Point tabled(Index arm, Index row) {
    return {Kind::tabled, static_cast<std::int32_t>(arm), static_cast<std::int32_t>(row), VectorXd()};
  }
  static Point numbered(Index arm, VectorXd x) {
    return {Kind::numbered, static_cast<std::int32_t>(arm), -1, std::move(x)};
  }
  static Point point(VectorXd x) { return {Kind::point, -1, -1, std::move(x)}; }
};

// Inputs with given values, which the policy does not choose.
struct Fixed {
  std::vector<Index> at;  // which of the kernel's inputs, in order
  VectorXd values;        // the values of these inputs
  // Initial points of a search, for spaces that need them from the caller. (Not in the log.)
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

// The context of a round.
struct Context {
  Index row = 0;    // which of the known contexts
  VectorXd values;  // its values, if they are not tabulated
  // The arms, or rows of a product, that can be played now; null: all.
  ArmSet eligible;
  FixedInputs fixed;  // null: none

  bool allows(Index arm) const { return !eligible || (*eligible)[static_cast<std::size_t>(arm)]; }
};

inline bool same_fixed(const FixedInputs& a, const FixedInputs& b) {
  return a == b || (a && b && a->same_as(*b));
}

// What a query could choose from, in the log's text: "1-3,7" are arms (from 1), "|2=0.5" is an input (from 1) that was
// fixed, "1-3|2=0.5,4=1" is both. Empty without a restriction.
std::string offer_text(const Context& context);
// Throws unless the text has that form, with some of the numbers 1 to `arms`.
void read_offer(const std::string& text, Index arms, Context& context);

}  // namespace gpb

#endif
