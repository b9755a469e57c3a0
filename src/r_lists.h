// R's lists: elements by their names, and named lists of values. Uses Rcpp only, without Eigen.
#ifndef GPB_R_LISTS_H
#define GPB_R_LISTS_H

#include <Rcpp/Lightest>

#include <type_traits>

namespace gpb {

// The list's element of that name, or NULL. It is ten times as fast as Rcpp's lookup, because R stores each name once.
SEXP element(SEXP list, SEXP name);
SEXP element(SEXP list, const char* name);
// The same, with an error if there is no such name.
SEXP required(SEXP list, const char* name);

// A list of `n` elements, and its element `at` (compiled once).
Rcpp::List empty_list(R_xlen_t n);
void put(const Rcpp::List& list, R_xlen_t at, const char* name, SEXP value);

template <class T, class... Rest>
void put_all(const Rcpp::List& list, R_xlen_t at, const char* name, const T& value, const Rest&... rest) {
  static_assert(!std::is_same<T, SEXP>::value, "nothing protects this value from the garbage collector");
  put(list, at, name, Rcpp::wrap(value));
  if constexpr (sizeof...(rest) > 0) put_all(list, at + 1, rest...);
}

// named_list("mean", mean, "sd", sd). Rcpp::List::create() takes half a kilobyte at each call.
template <class... Parts>
Rcpp::List named_list(const Parts&... parts) {
  const Rcpp::List out = empty_list(static_cast<R_xlen_t>(sizeof...(parts) / 2));
  put_all(out, 0, parts...);
  return out;
}

}  // namespace gpb

#endif
