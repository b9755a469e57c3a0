// Functions that throw, out of line: at each of two hundred checks the code of a `throw` would take 200 bytes. Uses the
// standard library only.
#ifndef GPB_FAILURES_H
#define GPB_FAILURES_H

#include <string>

namespace gpb {

// std::invalid_argument: a value that the function does not allow.
[[noreturn]] void throw_invalid(const char* what);
[[noreturn]] void throw_invalid(const std::string& what);
// std::logic_error: a call that the caller must not make.
[[noreturn]] void throw_logic(const char* what);
[[noreturn]] void throw_logic(const std::string& what);
// std::runtime_error: the state of an object, the data or the system do not allow it.
[[noreturn]] void throw_runtime(const char* what);
[[noreturn]] void throw_runtime(const std::string& what);

}  // namespace gpb

#endif
