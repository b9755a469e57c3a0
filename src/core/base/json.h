// A reader of JSON (RFC 8259) for untrusted text. Uses the standard library only.
#ifndef GPB_JSON_H
#define GPB_JSON_H

#include <string>
#include <vector>

namespace gpb {

// An array that holds only numbers, or only strings, is stored as such, because settings have long ones.
struct Json {
  enum class Kind { null, boolean, number, string, numbers, strings, array, object };
  Kind kind = Kind::null;
  bool yes = false;
  double number = 0;
  std::string text;                   // UTF-8, without a NUL
  std::vector<double> numbers;
  std::vector<std::string> strings, names;
  std::vector<Json> items;            // of an array; of an object, with `names`
};

// Throws std::invalid_argument for text that is no JSON or no UTF-8, for two members of one name, for numbers that are
// too large, and for more than `depth` levels. Messages do not quote the text.
Json read_json(const std::string& text, int depth = 200);

// Reads a number exactly: decimal or hexadecimal, "Inf", "-Inf". False for other text.
bool read_number(const std::string& words, double& number);

// The shortest exact text of a number: fifteen decimal digits if these are exact, otherwise a hexadecimal fraction.
bool has_fifteen_digits(double number);
std::string text_of_number(double number);

// Is this UTF-8 (RFC 3629)?
bool is_utf8(const std::string& bytes);

// A quoted JSON string in ASCII.
std::string json_string(const std::string& utf8);

}  // namespace gpb

#endif
