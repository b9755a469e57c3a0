#include "gpbandits_types.h"
#include "r_settings.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"
#include "r_serialised.h"

#include "kernels/make_kernel.h"
#include "r_interrupt.h"

#include <R.h>
#include <R_ext/Applic.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <stdexcept>
#include <vector>

// ---- Eigen's vectors and matrices ---------------------------------------------------------------

namespace Rcpp {

template <>
Eigen::VectorXd as(SEXP x) {
  const NumericVector values(x);
  return Eigen::Map<const Eigen::VectorXd>(values.begin(), values.size());
}

template <>
Eigen::MatrixXd as(SEXP x) {
  const NumericMatrix values(x);
  return Eigen::Map<const Eigen::MatrixXd>(values.begin(), values.nrow(), values.ncol());
}

template <>
SEXP wrap(const Eigen::VectorXd& x) {
  const Shield<SEXP> out(Rf_allocVector(REALSXP, x.size()));
  std::copy(x.data(), x.data() + x.size(), REAL(out));
  return out;
}

template <>
SEXP wrap(const Eigen::MatrixXd& x) {
  const Shield<SEXP> out(Rf_allocMatrix(REALSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols())));
  std::copy(x.data(), x.data() + x.size(), REAL(out));
  return out;
}

}  // namespace Rcpp

namespace gpb {

// ---- entries that fail --------------------------------------------------------------------------

// (As Rcpp's END_RCPP has it. Conditions stay protected until R's error takes the stack down.)
Failure failure_caught() {
  try {
    throw;
  } catch (Rcpp::internal::InterruptedException&) {
    return {Failure::Kind::interrupt, R_NilValue};
  } catch (Rcpp::LongjumpException& jump) {
    return {Failure::Kind::jump, jump.token};
  } catch (Rcpp::exception& error) {
    return {Failure::Kind::error, PROTECT(rcpp_exception_to_r_condition(error))};
  } catch (std::exception& error) {
    return {Failure::Kind::error, PROTECT(exception_to_r_condition(error))};
  } catch (...) {
    return {Failure::Kind::error, PROTECT(string_to_try_error("c++ exception (unknown reason)"))};
  }
}

void report(const Failure& failure) {
  if (failure.kind == Failure::Kind::interrupt) Rf_onintr();
  if (failure.kind == Failure::Kind::jump) Rcpp::internal::resumeJump(failure.condition);
  Rf_eval(PROTECT(Rf_lang2(Rf_install("stop"), failure.condition)), R_BaseEnv);
  Rf_error("an entry has failed");
}

// ---- settings -----------------------------------------------------------------------------------

bool RSettings::has(const char* name) const {
  return list_.containsElementNamed(name) && !Rf_isNull(list_[name]);
}

SEXP RSettings::value(const char* name) const {
  if (!has(name)) throw std::invalid_argument(std::string("a setting is missing: ") + name);
  return list_[name];
}

double RSettings::number(const char* name) const { return Rcpp::as<double>(value(name)); }

std::string RSettings::text(const char* name) const {
  return Rcpp::as<std::string>(value(name));
}

VectorXd RSettings::numbers(const char* name) const {
  const Rcpp::NumericVector values(value(name));
  VectorXd out(values.size());
  for (R_xlen_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return out;
}

MatrixXd RSettings::matrix(const char* name) const { return Rcpp::as<MatrixXd>(value(name)); }

RFunction RSettings::r_function(const char* name) const {
  return RFunction(Rcpp::Function(value(name)), handle_);
}

std::function<double(double)> RSettings::function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](double t) { return f.numbers<double>(t); };
}

std::function<double(const MatrixXd&)> RSettings::table_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& table) { return f.numbers<double>(table); };
}

Settings::PlacedAcquisition RSettings::placed_acquisition(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const VectorXd& mean, const VectorXd& sd, double round, const Points& X) {
    return f.numbers<VectorXd>(mean, sd, round, X);
  };
}

Settings::Acquisition RSettings::acquisition(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const VectorXd& mean, const VectorXd& sd, double round) {
    return f.numbers<VectorXd>(mean, sd, round);
  };
}

Settings::PointFunction RSettings::point_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const Points& X) { return f.numbers<VectorXd>(X); };
}

Settings::Settle RSettings::settle(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& points) {
    const Rcpp::List told(f(points));
    return std::make_pair(Rcpp::as<MatrixXd>(told["inputs"]), Rcpp::as<MatrixXd>(told["excess"]));
  };
}

Settings::GramFunction RSettings::gram_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& X, const MatrixXd& Y) { return f.numbers<MatrixXd>(X, Y); };
}

std::unique_ptr<Settings> RSettings::part(const char* name) const {
  return std::make_unique<RSettings>(Rcpp::List(value(name)), handle_);
}

std::vector<std::unique_ptr<Settings>> RSettings::parts(const char* name) const {
  std::vector<std::unique_ptr<Settings>> out;
  for (const SEXP one : Rcpp::List(value(name))) out.push_back(std::make_unique<RSettings>(Rcpp::List(one), handle_));
  return out;
}

// ---- kernels ------------------------------------------------------------------------------------

namespace {

// R's own function with its work space on the stack: orders stay below 200.
double r_bessel_k(double order, double x) {
  double work[256];
  return R::bessel_k_ex(x, order, 2.0, work);
}

}  // namespace

Settings::Outside RSettings::outside() const { return {&r_bessel_k, &check_interrupt}; }

KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle) {
  return make_kernel(RSettings(kernel, handle));
}

// ---- the minimiser ------------------------------------------------------------------------------

namespace {

// One minimisation. The C routine asks for value and gradient apart, at the same
// point: both are computed once. No exception may pass through it.
struct Call {
  const Objective* f;
  VectorXd x, gradient;
  double value = kInf;
  std::exception_ptr failure;

  void evaluate(int n, const double* at) {
    const Eigen::Map<const VectorXd> asked(at, n);
    if (x.size() == n && x == asked) return;
    x = asked;
    try {
      value = (*f)(x, gradient);
    } catch (...) {
      failure = std::current_exception();
    }
    // What is not finite ends the search where it is.
    if (failure || !std::isfinite(value) || !gradient.allFinite()) {
      value = 1e300;
      gradient = VectorXd::Zero(n);
    }
  }
};

double value_at(int n, double* at, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  return call->value;
}

void gradient_at(int n, double* at, double* out, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  for (int i = 0; i < n; ++i) out[i] = call->gradient[i];
}

}  // namespace

BoxMinimizer lbfgsb_minimizer(int max_iterations, double tolerance) {
  const double factor = tolerance / std::numeric_limits<double>::epsilon();
  return [max_iterations, factor](VectorXd& x, const Objective& f) {
    const int n = static_cast<int>(x.size());
    Call call{&f, VectorXd(), VectorXd(), kInf, nullptr};
    VectorXd lower = VectorXd::Zero(n), upper = VectorXd::Ones(n);
    std::vector<int> bounded(static_cast<std::size_t>(n), 2);
    double minimum = 0.0;
    int fail = 0, value_calls = 0, gradient_calls = 0;
    char message[60];
    lbfgsb(n, 5, x.data(), lower.data(), upper.data(), bounded.data(), &minimum, value_at,
           gradient_at, &fail, &call, factor, 0.0, &value_calls, &gradient_calls, max_iterations,
           message, 0, 10);
    if (call.failure) std::rethrow_exception(call.failure);
    return minimum;
  };
}

}  // namespace gpb

// ---- R's serialised format ----------------------------------------------------------------------

// The format is R's own (R Internals, "Serialization Formats"): a tree of items, each headed by flags whose low byte is
// the type, in big-endian numbers.

namespace gpb {

namespace {

// Numbers of R's types, and of what only the format has.
enum Type : unsigned {
  kSymbol = 1, kPairs = 2, kClosure = 3, kEnvironment = 4, kPromise = 5, kCall = 6, kSpecial = 7, kBuiltin = 8,
  kCharacters = 9, kLogicals = 10, kIntegers = 13, kReals = 14, kComplexes = 15, kStrings = 16, kDots = 17, kList = 19,
  kExpressions = 20, kBytecode = 21, kPointer = 22, kWeakReference = 23, kRaw = 24, kS4 = 25,
  kCompact = 238, kCallPairs = 239, kCallWithAttributes = 240, kBaseEnvironment = 241, kEmptyEnvironment = 242,
  kRepeated = 243, kRepeatable = 244, kPackage = 248, kNamespace = 249, kBaseNamespace = 250, kMissing = 251,
  kUnbound = 252, kGlobal = 253, kNull = 254, kReference = 255
};

// Where an item stands. What a frame binds may wait for its value, as arguments do; nothing else may.
enum class Place { function, environment, frame, frames, binding, name, inside };

struct Strange {
  std::string words;
};

[[noreturn]] void strange(const std::string& words) { throw Strange{words}; }

class Stream {
 public:
  Stream(const unsigned char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  void whole() {
    need(2);
    if (at_[0] != 'X' || at_[1] != '\n') strange("bytes of another form");
    at_ += 2;
    if (number() != 2) strange("a serialisation of another version");
    number();
    number();
    item(Place::function);
    if (at_ != end_) strange("bytes behind the end");
  }

 private:
  enum class Known { symbol, environment, other };

  void need(std::size_t bytes) const {
    if (static_cast<std::size_t>(end_ - at_) < bytes) strange("an end before the end");
  }
  void skip(std::size_t count, std::size_t width) {
    if (count > static_cast<std::size_t>(end_ - at_) / width) strange("an end before the end");
    at_ += count * width;
  }
  std::uint32_t number() {
    need(4);
    std::uint32_t found = 0;
    for (int k = 0; k < 4; ++k) found = found << 8 | *at_++;
    return found;
  }
  // Of items that take `width` bytes at least.
  std::size_t length(std::size_t width) {
    const std::uint32_t found = number();
    if (found > 0x7FFFFFFFu || found > static_cast<std::size_t>(end_ - at_) / width) strange("a length that is none");
    return found;
  }

  static unsigned type_of(std::uint32_t flags) { return flags & 0xFFu; }
  static bool has_attributes(std::uint32_t flags) { return (flags & (1u << 9)) != 0; }
  static bool has_tag(std::uint32_t flags) { return (flags & (1u << 10)) != 0; }

  void item(Place place) { item(number(), place); }

  void item(std::uint32_t flags, Place place) {
    if (++depth_ > 5000) strange("a nest without end");
    const unsigned type = type_of(flags);
    check_place(type, place);
    switch (type) {
      case kReference: reference(flags, place); break;
      case kSymbol:
        item(Place::name);
        known_.push_back(Known::symbol);
        break;
      case kNamespace:
      case kPackage: named_environment(); break;
      case kEnvironment: environment(); break;
      case kPairs: pairs(flags, place); break;
      case kCall: pairs(flags, Place::inside); break;
      case kDots: pairs(flags, Place::frame); break;
      case kClosure:
      case kPromise: function_or_promise(flags); break;
      case kPointer:
        known_.push_back(Known::other);
        item(Place::inside);
        item(Place::inside);
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
      default: vector(type, flags, place);
    }
    --depth_;
  }

  static void check_place(unsigned type, Place place) {
    if (type == kCompact) strange("a compact vector (ALTREP)");
    if (type == kPromise && place != Place::binding) strange("a promise");
    if (type == kDots && place != Place::binding) strange("arguments (...)");
    switch (place) {
      case Place::function:
        if (type == kEnvironment || is_named_environment(type)) strange("an environment");
        if (type != kClosure && type != kSpecial && type != kBuiltin && type != kCall) strange("no function");
        return;
      case Place::environment:
        if (type != kEnvironment && type != kReference && type != kNull && !is_named_environment(type)) {
          strange("a function whose environment is none");
        }
        return;
      case Place::frame:
        if (type != kPairs && type != kNull) strange("a frame that is none");
        return;
      case Place::frames:
        if (type != kList && type != kNull) strange("a frame that is none");
        return;
      case Place::name:
        if (type != kCharacters) strange("a name that is none");
        return;
      case Place::binding:
      case Place::inside: return;
    }
  }

  static bool is_named_environment(unsigned type) {
    return type == kNamespace || type == kPackage || type == kGlobal || type == kBaseEnvironment ||
           type == kBaseNamespace || type == kEmptyEnvironment;
  }

  void reference(std::uint32_t flags, Place place) {
    const std::size_t which = flags >> 8 != 0 ? flags >> 8 : number();
    if (which == 0 || which > known_.size()) strange("a reference to nothing");
    if (place == Place::environment && known_[which - 1] != Known::environment) {
      strange("a function whose environment is none");
    }
  }

  void named_environment() {
    if (number() != 0) strange("names that have names");
    items(Place::name);
    known_.push_back(Known::environment);
  }

  void environment() {
    number();  // is it locked?
    known_.push_back(Known::environment);
    item(Place::environment);
    item(Place::frame);
    item(Place::frames);
    item(Place::inside);
  }

  void attributes(std::uint32_t flags) {
    if (has_attributes(flags)) item(Place::inside);
  }

  void function_or_promise(std::uint32_t flags) {
    attributes(flags);
    if (has_tag(flags)) item(Place::environment);
    item(Place::inside);
    item(Place::inside);
  }

  // Pairs up to the end of their chain.
  void pairs(std::uint32_t flags, Place place) {
    while (true) {
      attributes(flags);
      if (has_tag(flags)) item(Place::inside);
      item(place == Place::frame ? Place::binding : Place::inside);
      flags = number();
      if (type_of(flags) != kPairs) break;
    }
    if (type_of(flags) != kNull && place == Place::frame) strange("a frame that is none");
    if (type_of(flags) == kPromise) strange("a promise");
    item(flags, Place::inside);
  }

  void vector(unsigned type, std::uint32_t flags, Place place) {
    switch (type) {
      case kSpecial:
      case kBuiltin: skip(length(1), 1); return;
      case kCharacters: {
        const std::uint32_t size = number();
        if (size != 0xFFFFFFFFu) skip(size, 1);  // (else it is NA)
        break;
      }
      case kLogicals:
      case kIntegers: skip(length(4), 4); break;
      case kReals: skip(length(8), 8); break;
      case kComplexes: skip(length(16), 16); break;
      case kRaw: skip(length(1), 1); break;
      case kStrings: items(Place::name); break;
      case kList:
      case kExpressions: items(place == Place::frames ? Place::frame : Place::inside); break;
      case kS4: break;
      case kBaseEnvironment:
      case kEmptyEnvironment:
      case kBaseNamespace:
      case kMissing:
      case kUnbound:
      case kGlobal:
      case kNull: return;
      default: strange("an item of an unknown type");
    }
    attributes(flags);
  }

  void items(Place place) {
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) item(place);
  }

  // What the compiler has made of a function: code, and constants that may share calls.
  void bytecode() {
    if (++depth_ > 5000) strange("a nest without end");
    item(Place::inside);
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) constant(number());
    --depth_;
  }

  void constant(unsigned type) {
    if (type == kBytecode) bytecode();
    else if (is_code(type)) code(type);
    else item(Place::inside);
  }

  static bool is_code(unsigned type) {
    return type == kCall || type == kPairs || type == kRepeated || type == kRepeatable || type == kCallPairs ||
           type == kCallWithAttributes;
  }

  void code(unsigned type) {
    if (++depth_ > 5000) strange("a nest without end");
    while (is_code(type) && type != kRepeated) {
      if (type == kRepeatable) {
        if (number() >= repeatable_) strange("a reference to nothing");
        type = number();
        if (!is_code(type) || type == kRepeated || type == kRepeatable) strange("a call that is none");
      }
      if (type == kCallPairs || type == kCallWithAttributes) item(Place::inside);
      item(Place::inside);  // its tag
      code(number());
      type = number();
    }
    if (type == kRepeated) {
      if (number() >= repeatable_) strange("a reference to nothing");
    } else {
      item(Place::inside);
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

std::string strange_in_function(const unsigned char* bytes, std::size_t size) {
  try {
    Stream(bytes, size).whole();
  } catch (const Strange& found) {
    return found.words;
  }
  return "";
}

}  // namespace gpb
