#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace bridge {

// What is computed of 64 bits at once, each of which speaks of one byte.

/// With what every processor has.
struct PlainBits {
  /// Bit i is whether an odd number of `bits` stands at or below it: what is between quotes.
  static std::uint64_t between(std::uint64_t bits) {
    for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
};

#ifdef __x86_64__

/// The same with what all processors have that have AVX2: a product without carries by all ones.
struct FastBits {
  [[gnu::target("pclmul")]] static std::uint64_t between(std::uint64_t bits) {
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

#endif

/// The tokens that come next behind `some` of them. `gaps`: where none is. `carried`: whether what
/// came before the block was one of the some; is set to what that is for the next block.
inline std::uint64_t next_behind(std::uint64_t some, std::uint64_t gaps, std::uint64_t& carried) {
  // Added where a gap begins, a bit moves to where the gap has ended.
  std::uint64_t moved = 0;
  const bool leaves = __builtin_add_overflow(gaps, some << 1 | carried, &moved);
  carried = some >> 63 | (leaves ? 1 : 0);
  return moved & ~gaps;
}

}  // namespace bridge
