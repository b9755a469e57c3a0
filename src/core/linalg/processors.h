// The one way in which a loop is built for more than one processor.
#ifndef GPB_PROCESSORS_H
#define GPB_PROCESSORS_H

// R compiles for a generic processor, which has a quarter of the arithmetic of what most machines
// have. The loops that bench/linalg.R shows to be worth it are written over registers of several
// numbers, built for AVX2 as well, and chosen when they are called. (AVX-512 was no faster where
// it was tried. Not on Windows: its gcc does not align the stack for the wider registers.)
#if defined(__x86_64__) && !defined(_WIN32) && defined(__GNUC__)
#define GPB_DISPATCH 1
#else
#define GPB_DISPATCH 0
#endif
#define GPB_INLINE inline __attribute__((always_inline))

namespace gpb {

// `lanes` doubles per register, `tile` rows at a time: as many as the processor's registers hold
// sums for. Anywhere: a register's numbers in memory, at whatever address. (A structure, because
// clang forgets the alignment of a type that a template hands on by another name.)
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

// The numbers from this one on.
template <class Isa>
GPB_INLINE typename Isa::Anywhere& at(double* x) {
  return *reinterpret_cast<typename Isa::Anywhere*>(x);
}
template <class Isa>
GPB_INLINE const typename Isa::Anywhere& at(const double* x) {
  return *reinterpret_cast<const typename Isa::Anywhere*>(x);
}

// Defines `void name parameters`, which calls name_for<Isa> arguments for this processor.
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
