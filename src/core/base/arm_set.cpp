// Functions of arm_set.h: sets of arms, and their text in the log: "1-3,7" counts from 1.
#include "base/arm_set.h"

namespace gpb {

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
  throw_invalid("a query's eligible arms are not written as \"1-3,7\"");
}

}  // namespace

Index number_at(const std::string& text, std::size_t& at) {
  Index value = 0;
  const std::size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 10) {
    value = 10 * value + (text[at++] - '0');
  }
  if (at == begin) refuse();
  return value;
}

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

}  // namespace gpb
