// R's entry points for values as text: JSON, for the notation of values in journals and stores (R/utils-text.R), and
// checks of R's serialised format. Uses base/ and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <Rcpp/Lightest>

#include "base/checksum.h"
#include "base/failures.h"
#include "base/json.h"
#include "r_lists.h"
#include "r_serialised.h"

// JSON for R: the notation of values in journals and stores, see R/utils-text.R.

namespace {

using gpb::Json;

SEXP character_of(const std::string& utf8) {
  return Rf_mkCharLenCE(utf8.data(), static_cast<int>(utf8.size()), CE_UTF8);
}

Rcpp::CharacterVector characters_of(const std::vector<std::string>& texts) {
  Rcpp::CharacterVector out(static_cast<R_xlen_t>(texts.size()));
  for (std::size_t k = 0; k < texts.size(); ++k) {
    SET_STRING_ELT(out, static_cast<R_xlen_t>(k), character_of(texts[k]));
  }
  return out;
}

template <typename Values>
Rcpp::List singles(const Values& values) {
  Rcpp::List out(values.size());
  for (R_xlen_t k = 0; k < values.size(); ++k) {
    Values one(1);
    one[0] = values[k];
    out[k] = one;
  }
  return out;
}

// `vectors`: arrays of numbers or of strings become vectors.
SEXP r_value(const Json& found, bool vectors) {
  switch (found.kind) {
    case Json::Kind::null: return R_NilValue;
    case Json::Kind::boolean: return Rf_ScalarLogical(found.yes ? 1 : 0);
    case Json::Kind::number: return Rf_ScalarReal(found.number);
    case Json::Kind::string: return characters_of({found.text});
    case Json::Kind::numbers: {
      const Rcpp::NumericVector numbers(found.numbers.begin(), found.numbers.end());
      return vectors ? SEXP(numbers) : SEXP(singles(numbers));
    }
    case Json::Kind::strings: {
      const Rcpp::CharacterVector strings = characters_of(found.strings);
      return vectors ? SEXP(strings) : SEXP(singles(strings));
    }
    default: {
      Rcpp::List out(static_cast<R_xlen_t>(found.items.size()));
      for (std::size_t k = 0; k < found.items.size(); ++k) {
        out[static_cast<R_xlen_t>(k)] = r_value(found.items[k], vectors);
      }
      if (found.kind == Json::Kind::object) out.names() = characters_of(found.names);
      return out;
    }
  }
}

std::uint64_t bits_of(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

constexpr char kOtherNaN[] = "NaN:";

// NA and NaN in R's notation, and NaNs with other bits.
std::string value_strings(double number) {
  if (bits_of(number) == bits_of(NA_REAL)) return "NA";
  if (bits_of(number) == bits_of(R_NaN)) return "NaN";
  if (!std::isnan(number)) return gpb::text_of_number(number);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits_of(number)));
  return kOtherNaN + std::string(digits);
}

double number_of(const std::string& words) {
  if (words == "NA") return NA_REAL;
  if (words == "NaN") return R_NaN;
  double number = 0;
  const std::size_t digits = sizeof kOtherNaN - 1;
  if (words.compare(0, digits, kOtherNaN) == 0 && words.size() == digits + 16 &&
      words.find_first_not_of("0123456789abcdef", digits) == std::string::npos) {
    const std::uint64_t bits = std::strtoull(words.c_str() + digits, nullptr, 16);
    std::memcpy(&number, &bits, sizeof number);
    if (std::isnan(number)) return number;
  } else if (gpb::read_number(words, number)) {
    return number;
  }
  gpb::throw_invalid("a text is not a number");
}

// A string that is not UTF-8, marked as such.
std::string raw_string(SEXP x) {
  std::string out = "{\"bytes\":\"";
  for (const char* byte = CHAR(x); *byte != '\0'; ++byte) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned int>(static_cast<unsigned char>(*byte)));
    out += digits;
  }
  return out + (Rf_getCharCE(x) == CE_BYTES ? "\",\"encoding\":\"bytes\"}" : "\",\"encoding\":\"unknown\"}");
}

std::string string_text(SEXP x) {
  if (x == NA_STRING) return "null";
  const cetype_t encoding = Rf_getCharCE(x);
  if (encoding == CE_BYTES) return raw_string(x);
  std::string utf8 = CHAR(x);
  const bool ascii = std::all_of(utf8.begin(), utf8.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii && encoding != CE_UTF8) {
    utf8 = Rf_reEnc(CHAR(x), encoding, CE_UTF8, 1);
    // A string in the native encoding may be invalid.
    if (encoding == CE_NATIVE && std::strcmp(Rf_reEnc(utf8.c_str(), CE_UTF8, CE_NATIVE, 1), CHAR(x)) != 0) {
      return raw_string(x);
    }
  }
  return gpb::is_utf8(utf8) ? gpb::json_string(utf8) : raw_string(x);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_json_read(const std::string& text, bool vectors) {
  const Rcpp::RObject found = r_value(gpb::read_json(text), vectors);
  return found;
}

// An array of these numbers: JSON numbers if fifteen digits are exact for all, otherwise strings.
// [[Rcpp::export(rng = false)]]
std::string cpp_json_numbers(const Rcpp::NumericVector& x) {
  const bool plain = std::all_of(x.begin(), x.end(), gpb::has_fifteen_digits);
  const std::string quote = plain ? "" : "\"";
  std::string out = "[";
  for (const double number : x) {
    if (out.size() > 1) out += ",";
    out += quote + value_strings(number) + quote;
  }
  return out + "]";
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_numbers_from_text(const Rcpp::CharacterVector& words) {
  Rcpp::NumericVector out(words.size());
  for (R_xlen_t k = 0; k < words.size(); ++k) out[k] = number_of(CHAR(STRING_ELT(words, k)));
  return out;
}

// Each string in JSON notation, NA as null.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_strings(const Rcpp::CharacterVector& x) {
  Rcpp::CharacterVector out(x.size());
  for (R_xlen_t k = 0; k < x.size(); ++k) out[k] = string_text(STRING_ELT(x, k));
  return out;
}

namespace {

// A quoted JSON string in UTF-8; spaces replace control characters.
void append_quoted(std::string& out, const char* utf8) {
  out += '"';
  for (; *utf8 != '\0'; ++utf8) {
    const auto byte = static_cast<unsigned char>(*utf8);
    if (byte == '"' || byte == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? ' ' : *utf8;
  }
  out += '"';
}

// One element of a vector: a number with fifteen digits, a logical value or a string; null if it is none of them.
void append_scalar(std::string& out, SEXP x, R_xlen_t k) {
  char digits[32];
  if (TYPEOF(x) == STRSXP && STRING_ELT(x, k) != NA_STRING) {
    append_quoted(out, Rf_translateCharUTF8(STRING_ELT(x, k)));
  } else if (TYPEOF(x) == REALSXP && std::isfinite(REAL(x)[k])) {
    std::snprintf(digits, sizeof digits, "%.15g", REAL(x)[k]);
    out += digits;
  } else if (TYPEOF(x) == INTSXP && INTEGER(x)[k] != NA_INTEGER) {
    out += std::to_string(INTEGER(x)[k]);
  } else if (TYPEOF(x) == LGLSXP && LOGICAL(x)[k] != NA_LOGICAL) {
    out += LOGICAL(x)[k] != 0 ? "true" : "false";
  } else {
    out += "null";
  }
}

SEXP utf8_of(const std::string& text) { return Rf_mkCharLenCE(text.data(), static_cast<int>(text.size()), CE_UTF8); }

}  // namespace

// Each element of a vector as JSON, for people and other programs.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_scalars(const Rcpp::RObject& x) {
  const Rcpp::RObject plain = Rf_isFactor(x) ? Rf_asCharacterFactor(x) : static_cast<SEXP>(x);
  Rcpp::CharacterVector out(Rf_xlength(plain));
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    std::string text;
    append_scalar(text, plain, k);
    SET_STRING_ELT(out, k, utf8_of(text));
  }
  return out;
}

// One JSON object for each row of a named list of columns.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_rows(const Rcpp::List& columns) {
  Rcpp::List plain(columns.size());
  std::vector<std::string> fields;
  const Rcpp::CharacterVector names(Rf_getAttrib(columns, R_NamesSymbol));
  const R_xlen_t rows = columns.size() > 0 ? Rf_xlength(columns[0]) : 0;
  for (R_xlen_t c = 0; c < columns.size(); ++c) {
    const SEXP column = VECTOR_ELT(columns, c);
    plain[c] = Rf_isFactor(column) ? Rf_asCharacterFactor(column) : column;
    if (Rf_xlength(column) != rows) gpb::throw_invalid("columns differ in length");
    fields.emplace_back(c > 0 ? "," : "{");
    append_quoted(fields.back(), Rf_translateCharUTF8(STRING_ELT(names, c)));
    fields.back() += ':';
  }
  Rcpp::CharacterVector out(rows);
  for (R_xlen_t k = 0; k < rows; ++k) {
    std::string text;
    for (R_xlen_t c = 0; c < plain.size(); ++c) {
      text += fields[static_cast<std::size_t>(c)];
      append_scalar(text, VECTOR_ELT(plain, c), k);
    }
    SET_STRING_ELT(out, k, utf8_of(text + "}"));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
std::string cpp_invalid_in_function(const Rcpp::RawVector& bytes) {
  return gpb::invalid_in_function(RAW(bytes), static_cast<std::size_t>(bytes.size()));
}
