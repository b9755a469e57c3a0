// R's entry points for the rows of stores as text with their checksums, and for bytes as text. Uses base/ and the
// adapters r_*.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <Rcpp/Lightest>

#include "base/checksum.h"
#include "base/failures.h"
#include "r_lists.h"

// ---- bytes as text -----------------------------------------------------------------------------

namespace {

constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  gpb::throw_invalid("not a hexadecimal digit");
}

}  // namespace

// [[Rcpp::export(rng = false)]]
std::string cpp_hex_from_raw(const Rcpp::RawVector& bytes) {
  std::string out;
  out.reserve(2 * static_cast<std::size_t>(bytes.size()));
  for (const unsigned char byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector cpp_raw_from_hex(const std::string& text) {
  Rcpp::RawVector out(static_cast<R_xlen_t>(text.size() / 2));
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    const auto at = static_cast<std::size_t>(2 * k);
    out[k] = static_cast<unsigned char>(16 * digit(text[at]) + digit(text[at + 1]));
  }
  return out;
}

// ---- rows of stores -----------------------------------------------------------------------------

namespace {

// A number as R's sprintf("%d") and sprintf("%a") write it.
void append_exact(std::string& out, SEXP x, R_xlen_t k) {
  char digits[40];
  if (TYPEOF(x) == INTSXP) {
    out += INTEGER(x)[k] == NA_INTEGER ? "NA" : std::to_string(INTEGER(x)[k]);
    return;
  }
  const double value = REAL(x)[k];
  if (R_IsNA(value)) out += "NA";
  else if (std::isnan(value)) out += "NaN";
  else if (std::isinf(value)) out += value > 0.0 ? "Inf" : "-Inf";
  else out.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%a", value)));
}

// Fields of rows, as text or exactly, separated by bars. (SQLite has no negative zero.)
class RowFields {
 public:
  explicit RowFields(const Rcpp::List& columns) : columns_(columns) {}
  void text(std::string& out, const char* name, R_xlen_t k, const char* missing = "NA") const {
    const SEXP field = STRING_ELT(column(name, STRSXP), k);
    out += field == NA_STRING ? missing : Rf_translateCharUTF8(field);
  }
  void number(std::string& out, const char* name, R_xlen_t k) const {
    const SEXP field = column(name, REALSXP);
    if (REAL(field)[k] == 0.0) out += "0x0p+0";
    else append_exact(out, field, k);
  }
  R_xlen_t size() const { return Rf_xlength(column("numbers", STRSXP)); }
  bool is(const char* name, R_xlen_t k, const char* word) const {
    return std::strcmp(CHAR(STRING_ELT(column(name, STRSXP), k)), word) == 0;
  }

 private:
  // (Each column is converted once.)
  SEXP column(const char* name, SEXPTYPE type) const {
    for (const auto& one : found_) {
      if (std::strcmp(one.first, name) == 0) return one.second;
    }
    found_.emplace_back(name, Rcpp::RObject(Rf_coerceVector(gpb::required(columns_, name), type)));
    return found_.back().second;
  }

  Rcpp::List columns_;
  mutable std::vector<std::pair<const char*, Rcpp::RObject>> found_;
};

}  // namespace

// The numbers of each row of some columns, exactly, separated by spaces.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_number_rows(const Rcpp::List& columns, int count) {
  std::vector<Rcpp::RObject> numbers;
  for (R_xlen_t c = 0; c < columns.size(); ++c) {
    const SEXP column = VECTOR_ELT(columns, c);
    numbers.emplace_back(TYPEOF(column) == INTSXP ? column : Rf_coerceVector(column, REALSXP));
    if (Rf_xlength(column) != count) gpb::throw_invalid("columns differ in length");
  }
  Rcpp::CharacterVector out(count);
  for (R_xlen_t k = 0; k < count; ++k) {
    std::string text;
    for (const Rcpp::RObject& one : numbers) {
      if (!text.empty()) text += ' ';
      append_exact(text, one, k);
    }
    SET_STRING_ELT(out, k, Rf_mkChar(text.c_str()));
  }
  return out;
}

// The text of a store's checksums: each event, with its query if the event makes one. `queries`, `events`: columns of
// rows in the database.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_row_texts(const Rcpp::List& queries, const Rcpp::List& events) {
  const RowFields asked(queries), happened(events);
  Rcpp::CharacterVector out(Rf_xlength(gpb::required(events, "number")));
  R_xlen_t query = 0;
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    std::string text;
    for (const char* name : {"number", "kind", "query"}) {
      happened.text(text, name, k);
      text += '|';
    }
    for (const char* name : {"reward", "time"}) {
      happened.number(text, name, k);
      text += '|';
    }
    happened.text(text, "numbers", k);
    text += '|';
    happened.text(text, "parameters", k, "");
    if (happened.is("kind", k, "query") || happened.is("kind", k, "given")) {
      if (query >= asked.size()) gpb::throw_invalid("a query without a row");
      for (const char* name : {"arm", "context", "action", "segment"}) asked.text(text += '|', name, query);
      for (const char* name : {"mean", "sd", "width"}) asked.number(text += '|', name, query);
      asked.text(text += '|', "numbers", query);
      ++query;
    }
    SET_STRING_ELT(out, k, Rf_mkCharCE(text.c_str(), CE_UTF8));
  }
  return out;
}

// ---- checksums of stores ------------------------------------------------------------------------
// Checksums of a store's rows, each computed from the one of the row before.

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
