// Functions of json.h: a reader of JSON (RFC 8259) for untrusted text.
#include "base/json.h"

#include "base/ordering.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace gpb {

namespace {

[[noreturn]] void refuse(const char* why) { throw_invalid(why); }

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

  static void check_names(const std::vector<std::string>& names) {
    const auto name = [&](Index i) -> const std::string& { return names[static_cast<std::size_t>(i)]; };
    const auto order = stable_order(static_cast<Index>(names.size()),
                                    [&](Index a, Index b) { return name(a) < name(b); });
    const auto alike = [&](Index a, Index b) { return name(a) == name(b); };
    if (std::adjacent_find(order.begin(), order.end(), alike) != order.end()) refuse("two members have one name");
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

std::string text_of_number(double number) {
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
    } else if (code < 0x20 || code > 0x7E) {
      escaped(code);
    } else {
      out.push_back(static_cast<char>(code));
    }
  }
  return out + "\"";
}

}  // namespace gpb
