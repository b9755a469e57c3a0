// Checksums of a store's rows, each going on from the row before.
#include <Rcpp.h>

#include "base/checksum.h"

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_checksums(const Rcpp::CharacterVector& rows, double before) {
  Rcpp::NumericVector out(rows.size());
  auto checksum = static_cast<std::uint32_t>(before);
  for (R_xlen_t k = 0; k < rows.size(); ++k) {
    const SEXP row = rows[k];
    checksum = gpb::crc32(CHAR(row), static_cast<std::size_t>(LENGTH(row)), checksum);
    out[k] = static_cast<double>(checksum);
  }
  return out;
}
