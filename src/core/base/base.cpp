#include "base/golden_points.h"
#include "base/arm_set.h"
#include "base/checksum.h"
#include "base/place.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gpb {

// ---- low-discrepancy points ---------------------------------------------------------------------

MatrixXd golden_points(Index n, Index d) {
  double phi = 2.0;  // the root of phi^(d + 1) = phi + 1, by fixed point
  for (int i = 0; i < 64; ++i) phi = std::pow(1.0 + phi, 1.0 / static_cast<double>(d + 1));
  MatrixXd out(n, d);
  for (Index c = 0; c < d; ++c) {
    const double step = std::pow(1.0 / phi, static_cast<double>(c + 1));
    for (Index i = 0; i < n; ++i) {
      const double u = 0.5 + step * static_cast<double>(i + 1);
      out(i, c) = u - std::floor(u);
    }
  }
  return out;
}

// ---- sets of arms as text -----------------------------------------------------------------------

std::string arm_set_text(const std::vector<char>& arms) {
  std::string out;
  const std::size_t n = arms.size();
  for (std::size_t first = 0; first < n; ++first) {
    if (!arms[first]) continue;
    std::size_t last = first;
    while (last + 1 < n && arms[last + 1]) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(first + 1);
    if (last > first) out += '-' + std::to_string(last + 1);
    first = last;
  }
  return out;
}

namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument("a query's eligible arms are not written as \"1-3,7\"");
}

// A whole number from `at` on, which moves behind it.
Index number_at(const std::string& text, std::size_t& at) {
  Index value = 0;
  const std::size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 10) {
    value = 10 * value + (text[at++] - '0');
  }
  if (at == begin) refuse();
  return value;
}

}  // namespace

ArmSet arm_set_of(const std::string& text, Index arms) {
  auto out = std::make_shared<std::vector<char>>(static_cast<std::size_t>(arms), char(0));
  Index before = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const Index first = number_at(text, at);
    Index last = first;
    if (at < text.size() && text[at] == '-') last = number_at(text, ++at);
    if (first <= before || last < first || last > arms) refuse();
    if (at < text.size() && text[at] != ',') refuse();
    for (Index arm = first; arm <= last; ++arm) (*out)[static_cast<std::size_t>(arm - 1)] = 1;
    before = last;
  }
  return out;
}

// ---- what can be played, as text ----------------------------------------------------------------

std::string offer_text(const Context& context) {
  std::string out = context.eligible ? arm_set_text(*context.eligible) : std::string();
  if (!context.fixed) return out;
  char between = '|';
  for (std::size_t k = 0; k < context.fixed->at.size(); ++k) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", context.fixed->values[static_cast<Index>(k)]);
    out += between + std::to_string(context.fixed->at[k] + 1) + '=' + number;
    between = ',';
  }
  return out;
}

namespace {

[[noreturn]] void refuse_fixed() {
  throw std::invalid_argument("a query's fixed inputs are not written as \"2=0.5,3=1\"");
}

// A number from `at` on, which moves behind it.
double value_at(const std::string& text, std::size_t& at) {
  const std::size_t end = std::min(text.find(',', at), text.size());
  const std::string word = text.substr(at, end - at);
  if (word.empty() || word.find_first_not_of("0123456789+-.eE") != std::string::npos) refuse_fixed();
  char* last = nullptr;
  const double value = std::strtod(word.c_str(), &last);
  if (*last != '\0' || !std::isfinite(value)) refuse_fixed();
  at = end;
  return value;
}

}  // namespace

void read_offer(const std::string& text, Index arms, Context& context) {
  const std::size_t middle = std::min(text.find('|'), text.size());
  if (middle > 0 || middle == text.size()) {
    context.eligible = arm_set_of(text.substr(0, middle), arms);
  }
  if (middle == text.size()) return;
  auto fixed = std::make_shared<Fixed>();
  std::vector<double> values;
  for (std::size_t at = middle + 1; at <= text.size(); ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') refuse_fixed();
    const Index input = number_at(text, at) - 1;
    if (input < 0 || (!fixed->at.empty() && input <= fixed->at.back())) refuse_fixed();
    if (at >= text.size() || text[at] != '=') refuse_fixed();
    fixed->at.push_back(input);
    values.push_back(value_at(text, ++at));
  }
  fixed->values = Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
  context.fixed = fixed;
}

// ---- checksums ----------------------------------------------------------------------------------

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32(const char* bytes, std::size_t size, std::uint32_t before) {
  std::uint32_t c = ~before;
  for (std::size_t k = 0; k < size; ++k) {
    c = kTable[(c ^ static_cast<unsigned char>(bytes[k])) & 0xFFu] ^ (c >> 8);
  }
  return ~c;
}

}  // namespace gpb
