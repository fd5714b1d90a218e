#pragma once

#ifdef __x86_64__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "text/bit_runs.hpp"
#include "text/json_block.hpp"

namespace bridge {

/// VectorCode::avx512: a whole block at a time, and a comparison says its bits at once.
struct Avx512Blocks {
  using Bits = FastBits;

  [[gnu::target("avx512bw")]] static JsonMarks marks(const char* block) {
    const __m512i bytes = load(block);
    return {.quotes = is(bytes, '"'),
            .backslashes = is(bytes, '\\'),
            .controls = is_up_to(bytes, 0x1f),
            .beyond_ascii = _mm512_movepi8_mask(bytes)};
  }

  [[gnu::target("avx512bw")]] static JsonEscapes escapes(const char* block) {
    // A bit for each upper half of a character, and which of them go with a lower half.
    const __m512i uppers = repeated(_mm_setr_epi8(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m512i lowers =
        repeated(_mm_setr_epi8(0, 0, 1 + 4 + 8, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1));
    const __m512i half = _mm512_set1_epi8(0x0f);
    const __m512i bytes = load(block);
    const __m512i upper =
        _mm512_shuffle_epi8(uppers, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), half));
    const __m512i lower = _mm512_shuffle_epi8(lowers, _mm512_and_si512(bytes, half));
    return {.characters = _mm512_test_epi8_mask(upper, lower), .unicode = is(bytes, 'u')};
  }

  [[gnu::target("avx512bw")]] static std::uint64_t hex_digits(const char* block) {
    const __m512i bytes = load(block);
    const __m512i lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    return is_up_to(_mm512_sub_epi8(bytes, _mm512_set1_epi8('0')), 9) |
           is_up_to(_mm512_sub_epi8(lower, _mm512_set1_epi8('a')), 5);
  }

  [[gnu::target("avx512bw")]] static JsonTokens tokens(const char* block) {
    // Each white space stands at what its low bits say.
    const __m512i blanks =
        repeated(_mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0));
    const __m512i bytes = load(block);
    // Brackets and braces differ by this bit.
    const __m512i difference = _mm512_set1_epi8(0x20);
    const __m512i folded = _mm512_or_si512(bytes, difference);
    return {.opening = is(folded, '{'),
            .closing = is(folded, '}'),
            .objects = _mm512_test_epi8_mask(bytes, difference),
            .colons = is(bytes, ':'),
            .commas = is(bytes, ','),
            .spaces = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(blanks, bytes), bytes)};
  }

  [[gnu::target("avx512bw")]] static JsonNumbers numbers(const char* block) {
    const __m512i bytes = load(block);
    return {.digits = is_up_to(_mm512_sub_epi8(bytes, _mm512_set1_epi8('0')), 9),
            .zeros = is(bytes, '0'),
            .dots = is(bytes, '.'),
            .minuses = is(bytes, '-')};
  }

  [[gnu::target("avx512bw")]] static std::size_t unmarked(const char* bytes, std::size_t size,
                                                          std::uint64_t& beyond_ascii) {
    std::size_t at = 0;
    __m512i all = _mm512_setzero_si512();
    for (; size - at >= json_block; at += json_block) {
      const __m512i block = load(bytes + at);
      if ((is(block, '"') | is(block, '\\') | is_up_to(block, 0x1f)) != 0) break;
      all = _mm512_or_si512(all, block);
    }
    beyond_ascii |= _mm512_movepi8_mask(all);
    return at;
  }

 private:
  /// Not _mm512_broadcast_i32x4(): GCC 12 takes that for the use of what was not set.
  [[gnu::target("avx512bw")]] static __m512i repeated(__m128i quarter) {
    return _mm512_maskz_broadcast_i32x4(0xffff, quarter);
  }
  [[gnu::target("avx512bw")]] static __m512i load(const char* bytes) {
    return _mm512_loadu_si512(bytes);
  }
  [[gnu::target("avx512bw")]] static std::uint64_t is(__m512i bytes, char c) {
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
  }
  /// As unsigned numbers.
  [[gnu::target("avx512bw")]] static std::uint64_t is_up_to(__m512i bytes, char most) {
    return _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(most));
  }
};

}  // namespace bridge

#endif
