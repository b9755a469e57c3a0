// Functions of failures.h: the exceptions of failed checks. Uses the standard library only.
#include "base/failures.h"

#include <stdexcept>

namespace gpb {

void throw_invalid(const char* what) { throw std::invalid_argument(what); }
void throw_invalid(const std::string& what) { throw std::invalid_argument(what); }
void throw_logic(const char* what) { throw std::logic_error(what); }
void throw_logic(const std::string& what) { throw std::logic_error(what); }
void throw_runtime(const char* what) { throw std::runtime_error(what); }
void throw_runtime(const std::string& what) { throw std::runtime_error(what); }

}  // namespace gpb
