// Vectors, low-discrepancy points, text of arms and points, checksums, JSON, local searches by values. Uses base/ only.
#include "base/golden_points.h"
#include "base/arm_set.h"
#include "base/checksum.h"
#include "base/local_search_by_values.h"
#include "base/multipliers.h"
#include "base/point.h"
#include "base/json.h"
#include "base/ordering.h"
#include "base/vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace gpb {

std::vector<Index> stable_order(Index n, const std::function<bool(Index, Index)>& earlier) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return earlier(a, b); });
  return order;
}

// ---- vectors ------------------------------------------------------------------------------------

void add(const VectorXd& a, const VectorXd& b, VectorXd& out) {
  const double *from = a.data(), *more = b.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] + more[i];
}

void subtract(const VectorXd& a, const VectorXd& b, VectorXd& out) {
  const double *from = a.data(), *less = b.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] - less[i];
}

void scale(const VectorXd& x, double factor, VectorXd& out) {
  const double* from = x.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = factor * from[i];
}

void divide(const VectorXd& x, double divisor, VectorXd& out) {
  const double* from = x.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] / divisor;
}

bool same(const VectorXd& a, const VectorXd& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

VectorXd times(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size());
  for (Index i = 0; i < a.size(); ++i) out[i] = a[i] * b[i];
  return out;
}

VectorXd over(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size());
  for (Index i = 0; i < a.size(); ++i) out[i] = a[i] / b[i];
  return out;
}

double largest_size(const VectorXd& x) { return x.cwiseAbs().maxCoeff(); }

VectorXd roots(VectorXd x) {
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sqrt(x[i]);
  return x;
}

VectorXd logarithms(const VectorXd& x) { return x.array().log(); }

bool all_equal(const VectorXd& x, double value) {
  return std::all_of(x.data(), x.data() + x.size(), [value](double one) { return one == value; });
}

VectorXd clamped(VectorXd x, const VectorXd& lower, const VectorXd& upper) {
  for (Index i = 0; i < x.size(); ++i) x[i] = std::min(std::max(x[i], lower[i]), upper[i]);
  return x;
}

VectorXd segment_of(const VectorXd& x, Index from, Index count) {
  VectorXd out(count);
  std::copy(x.data() + from, x.data() + from + count, out.data());
  return out;
}

VectorXd joined(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size() + b.size());
  std::copy(b.data(), b.data() + b.size(), std::copy(a.data(), a.data() + a.size(), out.data()));
  return out;
}

VectorXd joined(const VectorXd& a, double last) {
  VectorXd out(a.size() + 1);
  *std::copy(a.data(), a.data() + a.size(), out.data()) = last;
  return out;
}

VectorXd row_of(const MatrixXd& X, Index i, Index from, Index count) {
  VectorXd out(count);
  for (Index c = 0; c < count; ++c) out[c] = X(i, from + c);
  return out;
}

VectorXd row_of(const MatrixXd& X, Index i) { return row_of(X, i, 0, X.cols()); }

void set_row(MatrixXd& X, Index i, const VectorXd& x) {
  for (Index c = 0; c < X.cols(); ++c) X(i, c) = x[c];
}

MatrixXd as_rows(const VectorXd& x, Index times) {
  MatrixXd out(times, x.size());
  for (Index i = 0; i < times; ++i) set_row(out, i, x);
  return out;
}

void copy_row(MatrixXd& X, Index i, const MatrixXd& other, Index j) {
  for (Index c = 0; c < X.cols(); ++c) X(i, c) = other(j, c);
}

bool is_row(const MatrixXd& X, Index i, const VectorXd& x) {
  for (Index c = 0; c < X.cols(); ++c) {
    if (X(i, c) != x[c]) return false;
  }
  return true;
}

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

// Reads an integer at `at`, which moves behind it.
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

// ---- restrictions of a query as text ------------------------------------------------------------

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

// ---- JSON ---------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(why); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The number of bytes of the UTF-8 character with this first byte; 0 if there is none.
std::size_t width_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

// Reads the character at `at`, which moves behind it; a negative number if there is none.
std::int32_t next_character(const std::string& bytes, std::size_t& at) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  const std::size_t width = width_of(first);
  if (width == 0 || bytes.size() - at < width) return -1;
  std::int32_t code = width == 1 ? first : first & (0x7F >> width);
  for (std::size_t k = 1; k < width; ++k) {
    const auto byte = static_cast<unsigned char>(bytes[at + k]);
    if ((byte & 0xC0) != 0x80) return -1;
    code = (code << 6) | (byte & 0x3F);
  }
  const bool overlong = (width == 3 && code < 0x800) || (width == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return -1;
  at += width;
  return code;
}

void append_utf8(std::int32_t code, std::string& text) {
  const auto rest = [&](int shift) { text.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3F))); };
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text.push_back(static_cast<char>(0xC0 | (code >> 6)));
    rest(0);
  } else if (code < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | (code >> 12)));
    rest(6);
    rest(0);
  } else {
    text.push_back(static_cast<char>(0xF0 | (code >> 18)));
    rest(12);
    rest(6);
    rest(0);
  }
}

class Reader {
 public:
  Reader(const std::string& text, int depth) : text_(text), depth_(depth) {}

  Json whole() {
    Json found = value();
    skip_blanks();
    if (at_ < text_.size()) refuse("something stands behind its end");
    return found;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void take_word(const char* word) {
    for (; *word != '\0'; ++word, ++at_) {
      if (peek() != *word) refuse("a word is no JSON");
    }
  }

  Json value() {
    skip_blanks();
    Json out;
    switch (peek()) {
      case '{': return object();
      case '[': return array();
      case '"':
        out.kind = Json::Kind::string;
        out.text = string();
        return out;
      case 'n': take_word("null"); return out;
      case 't':
      case 'f':
        out.kind = Json::Kind::boolean;
        out.yes = peek() == 't';
        take_word(out.yes ? "true" : "false");
        return out;
      default:
        out.kind = Json::Kind::number;
        out.number = number();
        return out;
    }
  }

  void go_down() {
    if (--depth_ < 0) refuse("it is nested too deeply");
    ++at_;
  }
  void come_up() { ++depth_; }

  Json object() {
    go_down();
    Json out;
    out.kind = Json::Kind::object;
    if (!take('}')) {
      do {
        skip_blanks();
        if (peek() != '"') refuse("a member has no name");
        std::string name = string();
        if (!take(':')) refuse("a member has no value");
        out.items.push_back(value());
        out.names.push_back(std::move(name));
      } while (take(','));
      if (!take('}')) refuse("an object has no end");
    }
    check_names(out.names);
    come_up();
    return out;
  }

  static void check_names(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) refuse("two members have one name");
  }

  Json array() {
    go_down();
    Json out;
    out.kind = Json::Kind::array;
    if (!take(']')) {
      do add(value(), out);
      while (take(','));
      if (!take(']')) refuse("an array has no end");
    }
    come_up();
    return out;
  }

  static void add(Json item, Json& array) {
    const bool first = array.kind == Json::Kind::array && array.items.empty();
    if (item.kind == Json::Kind::number && (first || array.kind == Json::Kind::numbers)) {
      array.kind = Json::Kind::numbers;
      array.numbers.push_back(item.number);
    } else if (item.kind == Json::Kind::string && (first || array.kind == Json::Kind::strings)) {
      array.kind = Json::Kind::strings;
      array.strings.push_back(std::move(item.text));
    } else {
      spread(array);
      array.items.push_back(std::move(item));
    }
  }

  // Converts an array of numbers or strings to a general one, when an item of another type follows.
  static void spread(Json& array) {
    for (const double number : array.numbers) {
      Json item;
      item.kind = Json::Kind::number;
      item.number = number;
      array.items.push_back(std::move(item));
    }
    for (std::string& text : array.strings) {
      Json item;
      item.kind = Json::Kind::string;
      item.text = std::move(text);
      array.items.push_back(std::move(item));
    }
    array.numbers.clear();
    array.strings.clear();
    array.kind = Json::Kind::array;
  }

  double number() {
    const std::size_t first = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') ++at_;
    else digits();
    if (peek() == '.') {
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    double found = 0;
    if (!read_number(text_.substr(first, at_ - first), found) || !std::isfinite(found)) refuse("a number is too large");
    return found;
  }
  void digits() {
    if (!is_digit(peek())) refuse("a value is no JSON");
    while (is_digit(peek())) ++at_;
  }

  std::string string() {
    ++at_;
    std::string out;
    while (true) {
      if (at_ >= text_.size()) refuse("a string has no end");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        ++at_;
        escape(out);
        continue;
      }
      const std::size_t from = at_;
      const std::int32_t code = next_character(text_, at_);
      if (code < 0) refuse("a string is no UTF-8");
      if (code < 0x20) refuse("a string has a control character");
      out.append(text_, from, at_ - from);
    }
    ++at_;
    return out;
  }

  void escape(std::string& out) {
    const char c = peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/': out.push_back(c); return;
      case 'b': out.push_back('\b'); return;
      case 'f': out.push_back('\f'); return;
      case 'n': out.push_back('\n'); return;
      case 'r': out.push_back('\r'); return;
      case 't': out.push_back('\t'); return;
      case 'u': append_utf8(escaped_character(), out); return;
      default: refuse("an escape is no JSON");
    }
  }

  std::int32_t escaped_character() {
    const std::int32_t code = four_digits();
    if (code == 0) refuse("a string has a NUL");
    if (code < 0xD800 || code >= 0xE000) return code;
    if (code >= 0xDC00 || peek() != '\\') refuse("half a character");
    ++at_;
    if (peek() != 'u') refuse("half a character");
    ++at_;
    const std::int32_t low = four_digits();
    if (low < 0xDC00 || low >= 0xE000) refuse("half a character");
    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  std::int32_t four_digits() {
    std::int32_t code = 0;
    for (int k = 0; k < 4; ++k, ++at_) {
      const int digit = hex_digit(peek());
      if (digit < 0) refuse("an escape is no JSON");
      code = 16 * code + digit;
    }
    return code;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_;
};

}  // namespace

Json read_json(const std::string& text, int depth) { return Reader(text, depth).whole(); }

bool read_number(const std::string& words, double& number) {
  if (words == "Inf" || words == "-Inf") {
    number = words[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return true;
  }
  // Further forms that strtod() reads (blanks, "infinity", "nan(...)") are not accepted.
  const std::size_t first = !words.empty() && (words[0] == '-' || words[0] == '+') ? 1 : 0;
  if (first >= words.size() || !(is_digit(words[first]) || words[first] == '.')) return false;
  char* end = nullptr;
  number = std::strtod(words.c_str(), &end);
  return end == words.c_str() + words.size();
}

bool has_fifteen_digits(double number) {
  if (!std::isfinite(number) || (number == 0 && std::signbit(number))) return false;
  char words[40];
  std::snprintf(words, sizeof words, "%.15g", number);
  return std::strtod(words, nullptr) == number;
}

std::string words_of_number(double number) {
  if (std::isinf(number)) return number > 0 ? "Inf" : "-Inf";
  char words[40];
  std::snprintf(words, sizeof words, has_fifteen_digits(number) ? "%.15g" : "%a", number);
  return words;
}

bool is_utf8(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (next_character(bytes, at) < 0) return false;
  }
  return true;
}

std::string json_string(const std::string& utf8) {
  std::string out = "\"";
  const auto escaped = [&](std::int32_t code) {
    char words[16];
    std::snprintf(words, sizeof words, "\\u%04x", static_cast<unsigned int>(code));
    out += words;
  };
  std::size_t at = 0;
  while (at < utf8.size()) {
    const std::int32_t code = next_character(utf8, at);
    if (code < 0) refuse("a string is no UTF-8");
    if (code == '"' || code == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(code));
    } else if (code >= 0x10000) {
      escaped(0xD800 + ((code - 0x10000) >> 10));
      escaped(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else if (code < 0x20 || code > 0x7E || code == ';') {
      escaped(code);
    } else {
      out.push_back(static_cast<char>(code));
    }
  }
  return out + "\"";
}

// ---- local searches by values -------------------------------------------------------------------

namespace {

constexpr double kDifference = 1e-5;  // step of differences in the unit cube
constexpr int kOuter = 15;

constexpr double kWithin = 0.05;      // distance inside the limit that infeasible starts aim for
constexpr int kHalvings = 40;         // bisection steps from an infeasible end back to the limit

// The minimised function: minus the objective, plus the costs of the constraints.
class Lagrangian {
 public:
  explicit Lagrangian(const ValuesAndLimits& ask) : ask_(ask) {}

  // Differences by a step forward and a step back in each input, shorter at the cube's faces.
  double at(const VectorXd& u, VectorXd& gradient) {
    const Index d = u.size();
    MatrixXd points = as_rows(u, 2 * d + 1);
    for (Index i = 0; i < d; ++i) {
      points(1 + i, i) = std::min(u[i] + kDifference, 1.0);
      points(1 + d + i, i) = std::max(u[i] - kDifference, 0.0);
    }
    const MatrixXd reported = asked(points);
    if (!limited()) multipliers_ = Multipliers(reported.cols() - 1);
    gradient.resize(d);
    for (Index i = 0; i < d; ++i) {
      gradient[i] = (fall(reported, 1 + i) - fall(reported, 1 + d + i)) / (points(1 + i, i) - points(1 + d + i, i));
    }
    return fall(reported, 0);
  }

  bool limited() const { return multipliers_.size() > 0; }

  // Updates the multipliers; true if the constraints hold.
  bool settles(const VectorXd& u) {
    const MatrixXd reported = asked(as_rows(u));
    return multipliers_.settle(row_of(reported, 0, 1, multipliers_.size()));
  }

 private:
  MatrixXd asked(const MatrixXd& points) const {
    MatrixXd reported = ask_(points);
    if (reported.rows() != points.rows() || reported.cols() < 1) {
      throw std::invalid_argument("a climb is told something else than it asked");
    }
    return reported;
  }
  double fall(const MatrixXd& reported, Index i) const {
    return multipliers_.cost([&](Index j) { return reported(i, 1 + j); }) - reported(i, 0);
  }

  const ValuesAndLimits& ask_;
  Multipliers multipliers_;
};

// The last feasible point before an infeasible end, on the straight line from a feasible point; by bisection.
VectorXd last_within(const VectorXd& inside, const VectorXd& end, const LimitedFunction& at) {
  if (!(at(end).excess > 0.0)) return end;
  double good = 0.0, bad = 1.0;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = 0.5 * (good + bad);
    (at(inside + middle * (end - inside)).excess > 0.0 ? bad : good) = middle;
  }
  return inside + good * (end - inside);
}

}  // namespace

VectorXd local_search_by_values(VectorXd u, const ValuesAndLimits& ask, const BoxMinimizer& minimize) {
  Lagrangian lagrangian(ask);
  const Objective f = [&](const VectorXd& x, VectorXd& gradient) { return lagrangian.at(x, gradient); };
  for (int outer = 0; outer < kOuter; ++outer) {
    minimize(u, f);
    if (!lagrangian.limited() || lagrangian.settles(u)) break;
  }
  return u;
}

VectorXd search_within(VectorXd u, const LimitedFunction& at, const BoxMinimizer& minimize) {
  if (at(u).excess > 0.0) {
    minimize(u, [&](const VectorXd& x, VectorXd& gradient) {
      const LimitedValue here = at(x);
      const double over = std::max(here.excess + kWithin, 0.0);
      gradient = 2.0 * over * here.by_excess;
      return over * over;
    });
    if (at(u).excess > 0.0) return u;
  }
  const VectorXd inside = u;
  Multipliers multipliers(1);
  for (int outer = 0; outer < kOuter; ++outer) {
    minimize(u, [&](const VectorXd& x, VectorXd& gradient) {
      const LimitedValue here = at(x);
      gradient = multipliers.pressure(0, here.excess) * here.by_excess - here.by_value;
      return multipliers.cost([&](Index) { return here.excess; }) - here.value;
    });
    if (multipliers.settle(VectorXd::Constant(1, at(u).excess))) break;
  }
  return last_within(inside, u, at);
}

}  // namespace gpb
