#pragma once

#ifdef __x86_64__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "text/bit_runs.hpp"
#include "text/json_block.hpp"

namespace bridge {

/// VectorCode::avx2: 32 bytes at a time.
struct Avx2Blocks {
  using Bits = FastBits;

  [[gnu::target("avx2")]] static JsonMarks marks(const char* block) {
    JsonMarks marks;
    for (std::size_t at = 0; at < json_block; at += 32) {
      const __m256i bytes = load(block + at);
      add(marks.quotes, is(bytes, '"'), at);
      add(marks.backslashes, is(bytes, '\\'), at);
      add(marks.controls, is_up_to(bytes, 0x1f), at);
      add(marks.beyond_ascii, bytes, at);
    }
    return marks;
  }

  [[gnu::target("avx2")]] static JsonEscapes escapes(const char* block) {
    JsonEscapes escapes;
    // A bit for each upper half of a character, and which of them go with a lower half.
    const __m256i uppers = _mm256_setr_epi8(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                            0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i lowers =
        _mm256_setr_epi8(0, 0, 1 + 4 + 8, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1,  //
                         0, 0, 1 + 4 + 8, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
    const __m256i half = _mm256_set1_epi8(0x0f);
    for (std::size_t at = 0; at < json_block; at += 32) {
      const __m256i bytes = load(block + at);
      const __m256i upper =
          _mm256_shuffle_epi8(uppers, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
      const __m256i lower = _mm256_shuffle_epi8(lowers, _mm256_and_si256(bytes, half));
      const __m256i others =
          _mm256_cmpeq_epi8(_mm256_and_si256(upper, lower), _mm256_setzero_si256());
      add(escapes.characters, others, at);
      add(escapes.unicode, is(bytes, 'u'), at);
    }
    escapes.characters = ~escapes.characters;
    return escapes;
  }

  [[gnu::target("avx2")]] static std::uint64_t hex_digits(const char* block) {
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < json_block; at += 32) {
      const __m256i bytes = load(block + at);
      const __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
      add(found,
          _mm256_or_si256(is_up_to(_mm256_sub_epi8(bytes, _mm256_set1_epi8('0')), 9),
                          is_up_to(_mm256_sub_epi8(lower, _mm256_set1_epi8('a')), 5)),
          at);
    }
    return found;
  }

  [[gnu::target("avx2")]] static JsonTokens tokens(const char* block) {
    JsonTokens tokens;
    // Each white space stands at what its low bits say.
    const __m256i blanks =
        _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0, ' ', 0, 0, 0, 0,
                         0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0);
    for (std::size_t at = 0; at < json_block; at += 32) {
      const __m256i bytes = load(block + at);
      const __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
      add(tokens.opening, is(folded, '{'), at);
      add(tokens.closing, is(folded, '}'), at);
      add(tokens.objects, _mm256_slli_epi16(bytes, 2), at);
      add(tokens.colons, is(bytes, ':'), at);
      add(tokens.commas, is(bytes, ','), at);
      add(tokens.spaces, _mm256_cmpeq_epi8(_mm256_shuffle_epi8(blanks, bytes), bytes), at);
    }
    return tokens;
  }

  [[gnu::target("avx2")]] static JsonNumbers numbers(const char* block) {
    JsonNumbers numbers;
    for (std::size_t at = 0; at < json_block; at += 32) {
      const __m256i bytes = load(block + at);
      const __m256i values = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
      add(numbers.digits, is_up_to(values, 9), at);
      add(numbers.zeros, is(bytes, '0'), at);
      add(numbers.dots, is(bytes, '.'), at);
      add(numbers.minuses, is(bytes, '-'), at);
    }
    return numbers;
  }

  [[gnu::target("avx2")]] static std::size_t unmarked(const char* bytes, std::size_t size,
                                                      std::uint64_t& beyond_ascii) {
    std::size_t at = 0;
    __m256i all = _mm256_setzero_si256();
    for (; size - at >= json_block; at += json_block) {
      const __m256i first = load(bytes + at), second = load(bytes + at + 32);
      const __m256i found = _mm256_or_si256(marked(first), marked(second));
      if (_mm256_movemask_epi8(found) != 0) break;
      all = _mm256_or_si256(all, _mm256_or_si256(first, second));
    }
    add(beyond_ascii, all, 0);
    return at;
  }

 private:
  [[gnu::target("avx2")]] static __m256i load(const char* bytes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  [[gnu::target("avx2")]] static __m256i is(__m256i bytes, char c) {
    return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
  }
  /// As unsigned numbers.
  [[gnu::target("avx2")]] static __m256i is_up_to(__m256i bytes, char most) {
    return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(most)), bytes);
  }
  [[gnu::target("avx2")]] static __m256i marked(__m256i bytes) {
    return _mm256_or_si256(is_up_to(bytes, 0x1f), _mm256_or_si256(is(bytes, '"'), is(bytes, '\\')));
  }
  [[gnu::target("avx2")]] static void add(std::uint64_t& bits, __m256i found, std::size_t at) {
    bits |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_epi8(found))} << at;
  }
};

}  // namespace bridge

#endif
