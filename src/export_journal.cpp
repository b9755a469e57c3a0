// The journal for R, which keeps an end as a list.
#include <Rcpp.h>

#include "r_journal_file.h"

namespace {

Rcpp::List list_of(const gpb::JournalEnd& end) {
  using Rcpp::_;
  return Rcpp::List::create(_["size"] = end.size, _["line"] = end.line, _["open"] = end.open,
                            _["checksum"] = static_cast<double>(end.checksum));
}

gpb::JournalEnd end_of(const Rcpp::List& list) {
  gpb::JournalEnd end;
  end.size = Rcpp::as<double>(list["size"]);
  end.line = Rcpp::as<double>(list["line"]);
  end.open = Rcpp::as<bool>(list["open"]);
  end.checksum = static_cast<std::uint32_t>(Rcpp::as<double>(list["checksum"]));
  return end;
}

constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::invalid_argument("not a hexadecimal digit");
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_create(const std::string& path, const std::string& text) {
  return list_of(gpb::journal_create(path, text));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_append(const std::string& path, const std::string& text,
                              const Rcpp::List& end) {
  return list_of(gpb::journal_append(path, text, end_of(end)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_read(const std::string& path) {
  const gpb::JournalContents contents = gpb::journal_read(path);
  using Rcpp::_;
  return Rcpp::List::create(_["lines"] = Rcpp::wrap(contents.lines), _["end"] = list_of(contents.end),
                            _["damaged"] = static_cast<double>(contents.damaged),
                            _["damaged_last"] = contents.damaged_last);
}

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
