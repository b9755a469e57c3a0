// Functions of point.h: the point and the context of a query.
#include "base/point.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gpb {

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
  throw_invalid("a query's fixed inputs are not written as \"2=0.5,3=1\"");
}

// Reads a number at `at`, which moves behind it.
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

}  // namespace gpb
