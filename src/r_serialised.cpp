// Checks of R's serialised format. Uses the standard library only.

#include "r_serialised.h"

#include <cstring>
#include <string>
#include <vector>

// The format is R's own (R Internals, "Serialization Formats"): a tree of items with big-endian numbers. Each item
// begins with flags whose low byte is the type.

namespace gpb {

namespace {

// Numbers of R's types, and of types that exist in the format only.
enum Type : unsigned {
  kSymbol = 1, kPairs = 2, kClosure = 3, kEnvironment = 4, kPromise = 5, kCall = 6, kSpecial = 7, kBuiltin = 8,
  kCharacters = 9, kLogicals = 10, kIntegers = 13, kReals = 14, kComplexes = 15, kStrings = 16, kDots = 17, kList = 19,
  kExpressions = 20, kBytecode = 21, kPointer = 22, kWeakReference = 23, kRaw = 24, kS4 = 25,
  kCompact = 238, kCallPairs = 239, kCallWithAttributes = 240, kBaseEnvironment = 241, kEmptyEnvironment = 242,
  kRepeated = 243, kRepeatable = 244, kPackage = 248, kNamespace = 249, kBaseNamespace = 250, kMissing = 251,
  kUnbound = 252, kGlobal = 253, kNull = 254, kReference = 255
};

// The location of an item. Only a value bound in a frame may be a promise, as for arguments.
enum class Location { function, environment, frame, frames, binding, name, inside };

struct Invalid {
  std::string words;
};

[[noreturn]] void invalid(const std::string& words) { throw Invalid{words}; }

class Stream {
 public:
  Stream(const unsigned char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  void whole() {
    need(2);
    if (at_[0] != 'X' || at_[1] != '\n') invalid("bytes of another form");
    at_ += 2;
    if (number() != 2) invalid("a serialisation of another version");
    number();
    number();
    item(Location::function);
    if (at_ != end_) invalid("bytes behind the end");
  }

 private:
  enum class Known { symbol, environment, other };

  void need(std::size_t bytes) const {
    if (static_cast<std::size_t>(end_ - at_) < bytes) invalid("an end before the end");
  }
  void skip(std::size_t count, std::size_t width) {
    if (count > static_cast<std::size_t>(end_ - at_) / width) invalid("an end before the end");
    at_ += count * width;
  }
  std::uint32_t number() {
    need(4);
    std::uint32_t found = 0;
    for (int k = 0; k < 4; ++k) found = found << 8 | *at_++;
    return found;
  }
  // Reads the number of items that take at least `width` bytes each.
  std::size_t length(std::size_t width) {
    const std::uint32_t found = number();
    if (found > 0x7FFFFFFFu || found > static_cast<std::size_t>(end_ - at_) / width) invalid("a length that is none");
    return found;
  }

  static unsigned type_of(std::uint32_t flags) { return flags & 0xFFu; }
  static bool has_attributes(std::uint32_t flags) { return (flags & (1u << 9)) != 0; }
  static bool has_tag(std::uint32_t flags) { return (flags & (1u << 10)) != 0; }

  void item(Location location) { item(number(), location); }

  void item(std::uint32_t flags, Location location) {
    if (++depth_ > 5000) invalid("a nest without end");
    const unsigned type = type_of(flags);
    check_stored_point(type, location);
    switch (type) {
      case kReference: reference(flags, location); break;
      case kSymbol:
        item(Location::name);
        known_.push_back(Known::symbol);
        break;
      case kNamespace:
      case kPackage: named_environment(); break;
      case kEnvironment: environment(); break;
      case kPairs: pairs(flags, location); break;
      case kCall: pairs(flags, Location::inside); break;
      case kDots: pairs(flags, Location::frame); break;
      case kClosure:
      case kPromise: function_or_promise(flags); break;
      case kPointer:
        known_.push_back(Known::other);
        item(Location::inside);
        item(Location::inside);
        attributes(flags);
        break;
      case kWeakReference:
        known_.push_back(Known::other);
        attributes(flags);
        break;
      case kBytecode: {
        const std::size_t outer = repeatable_;
        repeatable_ = length(4);
        bytecode();
        repeatable_ = outer;
        attributes(flags);
        break;
      }
      default: vector(type, flags, location);
    }
    --depth_;
  }

  static void check_stored_point(unsigned type, Location location) {
    if (type == kCompact) invalid("a compact vector (ALTREP)");
    if (type == kPromise && location != Location::binding) invalid("a promise");
    if (type == kDots && location != Location::binding) invalid("arguments (...)");
    switch (location) {
      case Location::function:
        if (type == kEnvironment || is_named_environment(type)) invalid("an environment");
        if (type != kClosure && type != kSpecial && type != kBuiltin && type != kCall) invalid("no function");
        return;
      case Location::environment:
        if (type != kEnvironment && type != kReference && type != kNull && !is_named_environment(type)) {
          invalid("a function whose environment is none");
        }
        return;
      case Location::frame:
        if (type != kPairs && type != kNull) invalid("a frame that is none");
        return;
      case Location::frames:
        if (type != kList && type != kNull) invalid("a frame that is none");
        return;
      case Location::name:
        if (type != kCharacters) invalid("a name that is none");
        return;
      case Location::binding:
      case Location::inside: return;
    }
  }

  static bool is_named_environment(unsigned type) {
    return type == kNamespace || type == kPackage || type == kGlobal || type == kBaseEnvironment ||
           type == kBaseNamespace || type == kEmptyEnvironment;
  }

  void reference(std::uint32_t flags, Location location) {
    const std::size_t which = flags >> 8 != 0 ? flags >> 8 : number();
    if (which == 0 || which > known_.size()) invalid("a reference to nothing");
    if (location == Location::environment && known_[which - 1] != Known::environment) {
      invalid("a function whose environment is none");
    }
  }

  void named_environment() {
    if (number() != 0) invalid("names that have names");
    items(Location::name);
    known_.push_back(Known::environment);
  }

  void environment() {
    number();  // is it locked?
    known_.push_back(Known::environment);
    item(Location::environment);
    item(Location::frame);
    item(Location::frames);
    item(Location::inside);
  }

  void attributes(std::uint32_t flags) {
    if (has_attributes(flags)) item(Location::inside);
  }

  void function_or_promise(std::uint32_t flags) {
    attributes(flags);
    if (has_tag(flags)) item(Location::environment);
    item(Location::inside);
    item(Location::inside);
  }

  // Reads pairs to the end of their chain.
  void pairs(std::uint32_t flags, Location location) {
    while (true) {
      attributes(flags);
      if (has_tag(flags)) item(Location::inside);
      item(location == Location::frame ? Location::binding : Location::inside);
      flags = number();
      if (type_of(flags) != kPairs) break;
    }
    if (type_of(flags) != kNull && location == Location::frame) invalid("a frame that is none");
    if (type_of(flags) == kPromise) invalid("a promise");
    item(flags, Location::inside);
  }

  void vector(unsigned type, std::uint32_t flags, Location location) {
    switch (type) {
      case kSpecial:
      case kBuiltin: skip(length(1), 1); return;
      case kCharacters: {
        const std::uint32_t size = number();
        if (size != 0xFFFFFFFFu) skip(size, 1);  // otherwise it is NA
        break;
      }
      case kLogicals:
      case kIntegers: skip(length(4), 4); break;
      case kReals: skip(length(8), 8); break;
      case kComplexes: skip(length(16), 16); break;
      case kRaw: skip(length(1), 1); break;
      case kStrings: items(Location::name); break;
      case kList:
      case kExpressions: items(location == Location::frames ? Location::frame : Location::inside); break;
      case kS4: break;
      case kBaseEnvironment:
      case kEmptyEnvironment:
      case kBaseNamespace:
      case kMissing:
      case kUnbound:
      case kGlobal:
      case kNull: return;
      default: invalid("an item of an unknown type");
    }
    attributes(flags);
  }

  void items(Location location) {
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) item(location);
  }

  // The compiled form of a function: code, and constants that may share calls.
  void bytecode() {
    if (++depth_ > 5000) invalid("a nest without end");
    item(Location::inside);
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) constant(number());
    --depth_;
  }

  void constant(unsigned type) {
    if (type == kBytecode) bytecode();
    else if (is_code(type)) code(type);
    else item(Location::inside);
  }

  static bool is_code(unsigned type) {
    return type == kCall || type == kPairs || type == kRepeated || type == kRepeatable || type == kCallPairs ||
           type == kCallWithAttributes;
  }

  void code(unsigned type) {
    if (++depth_ > 5000) invalid("a nest without end");
    while (is_code(type) && type != kRepeated) {
      if (type == kRepeatable) {
        if (number() >= repeatable_) invalid("a reference to nothing");
        type = number();
        if (!is_code(type) || type == kRepeated || type == kRepeatable) invalid("a call that is none");
      }
      if (type == kCallPairs || type == kCallWithAttributes) item(Location::inside);
      item(Location::inside);  // its tag
      code(number());
      type = number();
    }
    if (type == kRepeated) {
      if (number() >= repeatable_) invalid("a reference to nothing");
    } else {
      item(Location::inside);
    }
    --depth_;
  }

  const unsigned char* at_;
  const unsigned char* end_;
  std::vector<Known> known_;
  std::size_t repeatable_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string invalid_in_function(const unsigned char* bytes, std::size_t size) {
  try {
    Stream(bytes, size).whole();
  } catch (const Invalid& found) {
    return found.words;
  }
  return "";
}

}  // namespace gpb
