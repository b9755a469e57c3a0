// Functions of elementwise.h: scaled distances, correlations of them, cosines. Uses base/.
#include "linalg/elementwise.h"

#include "linalg/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gpb {

namespace {

constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: x + kRounder has the integer next to x in its last bits
constexpr double kLeastExponent = -708.0;        // exp(x) is 0 below it
constexpr double kLargestAngle = 1e5;            // up to which multiples of pi are subtracted exactly

// Integers in a register. (The registers are passed by reference: their calling conventions differ.)
template <class Isa>
struct Bits {
  typedef std::uint64_t Register __attribute__((vector_size(sizeof(typename Isa::Register))));
};

template <class Isa>
GPB_INLINE void put(double value, typename Isa::Register& x) {
  x = value - typename Isa::Register{};
}

// x = sum_k c_k x^k for an even number of coefficients from the highest one: odd and even powers side by side, since
// each step waits for the one before.
template <class Isa, int count>
GPB_INLINE void polynomial(const double* c, typename Isa::Register& x) {
  typename Isa::Register odd = {}, even = {};
  const typename Isa::Register square = x * x;
  odd += c[0];
  even += c[1];
#pragma GCC unroll 8
  for (int k = 2; k < count; k += 2) {
    odd = odd * square + c[k];
    even = even * square + c[k + 1];
  }
  x = odd * x + even;
}

// exp(x) for x <= 0: with x = k log(2) + r, exp(x) = 2^k exp(r), and |r| <= log(2) / 2.
template <class Isa>
GPB_INLINE void exponential(typename Isa::Register& x) {
  using Register = typename Isa::Register;
  using Whole = typename Bits<Isa>::Register;
  static const double kTaylor[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                   1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0,
                                   1.0 / 6.0, 0.5, 1.0, 1.0};
  const Whole vanishes = (Whole)(x < kLeastExponent);
  Register least;
  put<Isa>(kLeastExponent, least);
  const Register inside = x < kLeastExponent ? least : x;
  const Register shifted = inside * 1.44269504088896340736 + kRounder;
  const Register k = shifted - kRounder;
  Register rest = (inside - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  polynomial<Isa, 14>(kTaylor, rest);
  x = (Register)(((Whole)rest + ((Whole)shifted << 52)) & ~vanishes);
}

// sqrt(x) for x >= 0. Compilers need flags to make a vector instruction of it. Two steps of third order improve the
// reciprocal root from the exponent's half, and one of Newton's the root.
template <class Isa>
GPB_INLINE void square_root(typename Isa::Register& x) {
  using Register = typename Isa::Register;
  using Whole = typename Bits<Isa>::Register;
  Register y = (Register)(0x5FE6EB50C7B537A9u - ((Whole)x >> 1));
#pragma GCC unroll 2
  for (int step = 0; step < 2; ++step) {
    const Register off = 1.0 - (x * y) * y;
    y += y * off * (0.5 + 0.375 * off);
  }
  const Register root = x * y;
  x = root + 0.5 * y * (x - root * root);
}

template <class Isa>
GPB_INLINE void matern(int order, typename Isa::Register& s, typename Isa::Register& slope) {
  using Register = typename Isa::Register;
  Register r = s * static_cast<double>(order);
  square_root<Isa>(r);
  Register e = -r;
  exponential<Isa>(e);
  if (order == 1) {
    slope = s > 0.0 ? -0.5 * e / r : Register{};
    s = e;
  } else if (order == 3) {
    slope = -1.5 * e;
    s = (1.0 + r) * e;
  } else {
    slope = (-5.0 / 6.0) * (1.0 + r) * e;
    s = (1.0 + r + r * r * (1.0 / 3.0)) * e;
  }
}

// Fills the lanes of a register with up to that number of values, and back. (Zeros are in the others.)
template <class Isa>
GPB_INLINE void load(const double* from, Index count, typename Isa::Register& x) {
  if (count >= Isa::lanes) {
    x = at<Isa>(from).value;
    return;
  }
  x = typename Isa::Register{};
  for (Index k = 0; k < count; ++k) x[k] = from[k];
}

template <class Isa>
GPB_INLINE void store(const typename Isa::Register& x, Index count, double* to) {
  if (count >= Isa::lanes) at<Isa>(to).value = x;
  else for (Index k = 0; k < count; ++k) to[k] = x[k];
}

template <class Isa>
GPB_INLINE void matern_all(int order, Index n, double* s, double* slope) {
  for (Index j = 0; j < n; j += Isa::lanes) {
    typename Isa::Register own, from;
    load<Isa>(s + j, n - j, own);
    matern<Isa>(order, own, from);
    store<Isa>(own, n - j, s + j);
    if (slope) store<Isa>(from, n - j, slope + j);
  }
}

// (The order is a constant in each loop.)
template <class Isa>
GPB_INLINE void matern_correlations_for(int order, Index n, double* s, double* slope) {
  if (order == 1) matern_all<Isa>(1, n, s, slope);
  else if (order == 3) matern_all<Isa>(3, n, s, slope);
  else matern_all<Isa>(5, n, s, slope);
}

template <class Isa>
GPB_INLINE void gaussian_correlations_for(Index n, double* s) {
  for (Index j = 0; j < n; j += Isa::lanes) {
    typename Isa::Register own;
    load<Isa>(s + j, n - j, own);
    own *= -0.5;
    exponential<Isa>(own);
    store<Isa>(own, n - j, s + j);
  }
}

// With x = k pi + y: (-1)^k cos(y), and |y| <= pi / 2.
template <class Isa>
GPB_INLINE void cosine(typename Isa::Register& x) {
  using Register = typename Isa::Register;
  using Whole = typename Bits<Isa>::Register;
  static const double kTaylor[] = {-1.0 / 1124000727777607680000.0, 1.0 / 2432902008176640000.0,
                                   -1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0,
                                   1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5,
                                   1.0};
  const Register shifted = x * 0.318309886183790671538 + kRounder;
  const Register k = shifted - kRounder;
  const Register most = x - k * 3.14159250259399414062;
  const Register y = (most - k * 1.50995788317231927067e-7) - k * 1.07806057163162381058e-14;
  Register square = y * y;
  polynomial<Isa, 12>(kTaylor, square);
  x = (Register)((Whole)square ^ ((Whole)shifted << 63));
}

template <class Isa>
GPB_INLINE void near_cosines_for(Index n, double* x) {
  for (Index j = 0; j < n; j += Isa::lanes) {
    typename Isa::Register own;
    load<Isa>(x + j, n - j, own);
    cosine<Isa>(own);
    store<Isa>(own, n - j, x + j);
  }
}

template <class Isa>
GPB_INLINE void add_squared_distances_for(const double* const* y, const double* x, const double* inverse, Index d,
                                          double farthest, Index n, double* s) {
  using Register = typename Isa::Register;
  constexpr Index kStep = 2 * Isa::lanes;
  Register most;
  put<Isa>(farthest, most);
  Index j = 0;
  for (; j + kStep <= n; j += kStep) {
    Register sum = at<Isa>(s + j).value, next = at<Isa>(s + j + Isa::lanes).value;
    for (Index c = 0; c < d; ++c) {
      const double* const own = y[c] + j;
      const Register gap = (at<Isa>(own).value - x[c]) * inverse[c];
      const Register other = (at<Isa>(own + Isa::lanes).value - x[c]) * inverse[c];
      sum += gap * gap;
      next += other * other;
    }
    at<Isa>(s + j).value = sum < most ? sum : most;
    at<Isa>(s + j + Isa::lanes).value = next < most ? next : most;
  }
  for (; j < n; j += Isa::lanes) {
    Register sum;
    load<Isa>(s + j, n - j, sum);
    for (Index c = 0; c < d; ++c) {
      Register gap;
      load<Isa>(y[c] + j, n - j, gap);
      gap = (gap - x[c]) * inverse[c];
      sum += gap * gap;
    }
    sum = sum < most ? sum : most;
    store<Isa>(sum, n - j, s + j);
  }
}

template <class Isa>
GPB_INLINE void add_weighted_squares_for(const double* const* y, const double* x, const double* inverse, Index d,
                                         const double* weight, Index n, double* sums) {
  using Register = typename Isa::Register;
  for (Index c = 0; c < d; ++c) {
    Register total = {};
    Index j = 0;
    for (; j + Isa::lanes <= n; j += Isa::lanes) {
      const Register gap = (at<Isa>(y[c] + j).value - x[c]) * inverse[c];
      total += at<Isa>(weight + j).value * gap * gap;
    }
    if (j < n) {
      Register gap, own;
      load<Isa>(y[c] + j, n - j, gap);
      load<Isa>(weight + j, n - j, own);
      gap = (gap - x[c]) * inverse[c];
      total += own * gap * gap;
    }
    for (int k = 0; k < Isa::lanes; ++k) sums[c] += total[k];
  }
}

template <class Isa>
GPB_INLINE void multiply_where_unequal_for(const double* y, double x, double factor, Index n, double* out) {
  using Register = typename Isa::Register;
  for (Index j = 0; j < n; j += Isa::lanes) {
    Register level, own;
    load<Isa>(y + j, n - j, level);
    load<Isa>(out + j, n - j, own);
    own = level == x ? own : own * factor;
    store<Isa>(own, n - j, out + j);
  }
}

template <class Isa>
GPB_INLINE void add_where_unequal_for(const double* y, double x, const double* weight, Index n, double* sum) {
  using Register = typename Isa::Register;
  Register total = {};
  for (Index j = 0; j < n; j += Isa::lanes) {
    Register level, own;
    load<Isa>(y + j, n - j, level);
    load<Isa>(weight + j, n - j, own);
    total += level == x ? Register{} : own;
  }
  for (int k = 0; k < Isa::lanes; ++k) *sum += total[k];
}

GPB_FOR_EACH_PROCESSOR(near_cosines, (Index n, double* x), (n, x))

}  // namespace

GPB_FOR_EACH_PROCESSOR(add_squared_distances,
                       (const double* const* y, const double* x, const double* inverse, Index d, double farthest,
                        Index n, double* s),
                       (y, x, inverse, d, farthest, n, s))

GPB_FOR_EACH_PROCESSOR(add_weighted_squares,
                       (const double* const* y, const double* x, const double* inverse, Index d, const double* weight,
                        Index n, double* sums),
                       (y, x, inverse, d, weight, n, sums))

GPB_FOR_EACH_PROCESSOR(matern_correlations, (int order, Index n, double* s, double* slope), (order, n, s, slope))

GPB_FOR_EACH_PROCESSOR(gaussian_correlations, (Index n, double* s), (n, s))

GPB_FOR_EACH_PROCESSOR(multiply_where_unequal, (const double* y, double x, double factor, Index n, double* out),
                       (y, x, factor, n, out))

GPB_FOR_EACH_PROCESSOR(add_where_unequal, (const double* y, double x, const double* weight, Index n, double* sum),
                       (y, x, weight, n, sum))

void cosines(Index n, double* x) {
  if (std::all_of(x, x + n, [](double one) { return std::abs(one) < kLargestAngle; })) return near_cosines(n, x);
  for (Index j = 0; j < n; ++j) x[j] = std::cos(x[j]);
}

}  // namespace gpb
