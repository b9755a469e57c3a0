// The only mechanism that compiles a loop for several processor types. Uses the compiler's extensions only.
#ifndef GPB_PROCESSORS_H
#define GPB_PROCESSORS_H

// R compiles for a generic processor, which has a quarter of the arithmetic of most machines. Loops for which
// bench/linalg.R shows a gain use vector registers. They are compiled for AVX2 as well, and the version is chosen at
// the call. (AVX-512 was not faster in tests. Windows is excluded, because its gcc does not align the stack for AVX
// registers.)
#if defined(__x86_64__) && !defined(_WIN32) && defined(__GNUC__)
#define GPB_DISPATCH 1
#else
#define GPB_DISPATCH 0
#endif
#define GPB_INLINE inline __attribute__((always_inline))

namespace gpb {

// `lanes`: doubles per register. `tile`: the number of rows whose sums fit into the processor's registers. Anywhere: a
// register's numbers in memory at any address. (It is a structure, because clang loses the alignment of a type that a
// template passes on under another name.)
struct Generic {
  typedef double Register __attribute__((vector_size(16)));
  struct Anywhere {
    Register value;
  } __attribute__((packed, may_alias));
  static constexpr int lanes = 2;
  static constexpr int tile = 2;
};

#if GPB_DISPATCH
struct Avx2 {
  typedef double Register __attribute__((vector_size(32)));
  struct Anywhere {
    Register value;
  } __attribute__((packed, may_alias));
  static constexpr int lanes = 4;
  static constexpr int tile = 6;
};

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

// The register of numbers that begins at x.
template <class Isa>
GPB_INLINE typename Isa::Anywhere& at(double* x) {
  return *reinterpret_cast<typename Isa::Anywhere*>(x);
}
template <class Isa>
GPB_INLINE const typename Isa::Anywhere& at(const double* x) {
  return *reinterpret_cast<const typename Isa::Anywhere*>(x);
}

// Defines `void name parameters`, which calls name_for<Isa> arguments with the Isa of this processor.
#if GPB_DISPATCH
#define GPB_FOR_EACH_PROCESSOR(name, parameters, arguments)             \
  __attribute__((target("avx2,fma"))) static void name##_avx2 parameters { \
    name##_for<Avx2> arguments;                                         \
  }                                                                     \
  void name parameters {                                                \
    if (has_avx2()) name##_avx2 arguments;                              \
    else name##_for<Generic> arguments;                                 \
  }
#else
#define GPB_FOR_EACH_PROCESSOR(name, parameters, arguments) \
  void name parameters { name##_for<Generic> arguments; }
#endif

}  // namespace gpb

#endif
