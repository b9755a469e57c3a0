// A reader of JSON (RFC 8259) for text that anybody may have written: text in, values out, and nothing of it quoted.
#ifndef GPB_JSON_H
#define GPB_JSON_H

#include <string>
#include <vector>

namespace gpb {

// An array of numbers only, or of strings only, is kept as such: settings hold long ones.
struct Json {
  enum class Kind { null, boolean, number, string, numbers, strings, array, object };
  Kind kind = Kind::null;
  bool yes = false;
  double number = 0;
  std::string text;                   // UTF-8, without a NUL
  std::vector<double> numbers;
  std::vector<std::string> strings, names;
  std::vector<Json> items;            // of an array, or of an object beside their names
};

// Throws std::invalid_argument: no JSON, two members of one name, numbers that are too large, text that is no UTF-8,
// more than `depth` levels.
Json read_json(const std::string& text, int depth = 200);

// The double that words tell to the last bit: decimal or hexadecimal, "Inf", "-Inf". False for others.
bool read_number(const std::string& words, double& number);

// The number's shortest exact words: fifteen digits where they are exact, a hexadecimal fraction otherwise.
bool has_fifteen_digits(double number);
std::string words_of_number(double number);

// Is this UTF-8 (RFC 3629)?
bool is_utf8(const std::string& bytes);

// Between quotes, in ASCII. (A semicolon too is escaped: it parts what stands in a journal's line.)
std::string json_string(const std::string& utf8);

}  // namespace gpb

#endif
