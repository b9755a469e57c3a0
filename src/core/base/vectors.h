// Sums, differences and multiples of vectors, and rows of matrices, compiled once. Uses Eigen only.
// An expression of Eigen is a separate type with about a hundred members. Each file with such an expression would take
// a tenth of a second longer to compile. The operators here are for vectors only; operations with segments and arrays
// are still Eigen's. All results are bitwise equal to those of Eigen's expressions.
#ifndef GPB_VECTORS_H
#define GPB_VECTORS_H

#include "base/eigen.h"

#include <type_traits>
#include <utility>

namespace gpb {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Entry by entry: a b, a / b, ... (the logarithm is Eigen's function).
VectorXd times(const VectorXd& a, const VectorXd& b);
VectorXd over(const VectorXd& a, const VectorXd& b);
VectorXd roots(VectorXd x);
VectorXd logarithms(const VectorXd& x);
double largest_size(const VectorXd& x);  // max |x|
bool all_equal(const VectorXd& x, double value);
bool same(const VectorXd& a, const VectorXd& b);  // in length and numbers
// out = a + b, a - b, x factor, x / divisor; `out` may be one of them.
void add(const VectorXd& a, const VectorXd& b, VectorXd& out);
void subtract(const VectorXd& a, const VectorXd& b, VectorXd& out);
void scale(const VectorXd& x, double factor, VectorXd& out);
void divide(const VectorXd& x, double divisor, VectorXd& out);

// min(max(x, lower), upper) of each entry.
VectorXd clamped(VectorXd x, const VectorXd& lower, const VectorXd& upper);
// Entries `from` to from + count - 1.
VectorXd segment_of(const VectorXd& x, Index from, Index count);

// The second after the first.
VectorXd joined(const VectorXd& a, const VectorXd& b);
VectorXd joined(const VectorXd& a, double last);

// A row as a vector; a vector as a row: in X, or `times` times as a new matrix. X's row i becomes row j of another
// matrix.
VectorXd row_of(const MatrixXd& X, Index i);
VectorXd row_of(const MatrixXd& X, Index i, Index from, Index count);  // only these columns
void set_row(MatrixXd& X, Index i, const VectorXd& x);
MatrixXd as_rows(const VectorXd& x, Index times = 1);
void copy_row(MatrixXd& X, Index i, const MatrixXd& other, Index j);
bool is_row(const MatrixXd& X, Index i, const VectorXd& x);
// (Only for matrices: any other argument would be copied to one.)
template <class M>
VectorXd row_of(const M&, Index) = delete;
template <class M>
VectorXd row_of(const M&, Index, Index, Index) = delete;

template <class... A>
using IfVectors = std::enable_if_t<(std::is_same<std::decay_t<A>, VectorXd>::value && ...)>;
template <class A>
constexpr bool kSpare = std::is_same<A, VectorXd>::value;  // a temporary, whose memory the result may use

template <class A, class B, class = IfVectors<A, B>>
bool operator==(const A& a, const B& b) {
  return same(a, b);
}
template <class A, class B, class = IfVectors<A, B>>
bool operator!=(const A& a, const B& b) {
  return !same(a, b);
}

// The result of `of` (add(), subtract()) for two vectors, in the memory of a temporary one if possible.
template <void (*of)(const VectorXd&, const VectorXd&, VectorXd&), class A, class B>
VectorXd made_of(A&& a, B&& b) {
  if constexpr (kSpare<A>) {
    of(a, b, a);
    return std::move(a);
  } else if constexpr (kSpare<B>) {
    of(a, b, b);
    return std::move(b);
  } else {
    VectorXd out(a.size());
    of(a, b, out);
    return out;
  }
}

template <class A, class B, class = IfVectors<A, B>>
VectorXd operator+(A&& a, B&& b) {
  return made_of<add>(std::forward<A>(a), std::forward<B>(b));
}

template <class A, class B, class = IfVectors<A, B>>
VectorXd operator-(A&& a, B&& b) {
  return made_of<subtract>(std::forward<A>(a), std::forward<B>(b));
}

// The same for a vector and a number: scale(), divide().
template <void (*of)(const VectorXd&, double, VectorXd&), class A>
VectorXd made_of(A&& x, double number) {
  if constexpr (kSpare<A>) {
    of(x, number, x);
    return std::move(x);
  } else {
    VectorXd out(x.size());
    of(x, number, out);
    return out;
  }
}

template <class A, class = IfVectors<A>>
VectorXd operator*(double factor, A&& x) {
  return made_of<scale>(std::forward<A>(x), factor);
}

template <class A, class = IfVectors<A>>
VectorXd operator/(A&& x, double divisor) {
  return made_of<divide>(std::forward<A>(x), divisor);
}

}  // namespace gpb

#endif
