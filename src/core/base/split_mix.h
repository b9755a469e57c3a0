// SplitMix64 (Steele, Lea and Flood 2014): numbers that look random and follow from a number. Uses the standard library
// only.
#ifndef GPB_SPLIT_MIX_H
#define GPB_SPLIT_MIX_H

#include <cstdint>

namespace gpb {

constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

// Every bit of the result depends on all bits of the argument.
inline std::uint64_t scramble(std::uint64_t z) {
  z += kSplitMixStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The next number of the sequence that begins at a state.
inline std::uint64_t next_scrambled(std::uint64_t& state) {
  const std::uint64_t out = scramble(state);
  state += kSplitMixStep;
  return out;
}

}  // namespace gpb

#endif
