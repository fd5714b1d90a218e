#pragma once

#ifdef __x86_64__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/bit_runs.hpp"
#include "text/json_block.hpp"

namespace bridge {

/// VectorCode::sse2: 16 bytes at a time.
struct Sse2Blocks {
  using Bits = PlainBits;

  static JsonMarks marks(const char* block) {
    JsonMarks marks;
    for (std::size_t at = 0; at < json_block; at += 16) {
      const __m128i bytes = load(block + at);
      add(marks.quotes, is(bytes, '"'), at);
      add(marks.backslashes, is(bytes, '\\'), at);
      add(marks.controls, is_up_to(bytes, 0x1f), at);
      add(marks.beyond_ascii, bytes, at);
    }
    return marks;
  }

  static JsonEscapes escapes(const char* block) {
    JsonEscapes escapes;
    for (std::size_t at = 0; at < json_block; at += 16) {
      const __m128i bytes = load(block + at);
      const __m128i unicode = is(bytes, 'u');
      __m128i found = unicode;
      for (const char c : std::string_view("\"\\/bfnrt")) found = _mm_or_si128(found, is(bytes, c));
      add(escapes.characters, found, at);
      add(escapes.unicode, unicode, at);
    }
    return escapes;
  }

  static std::uint64_t hex_digits(const char* block) {
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < json_block; at += 16) {
      const __m128i bytes = load(block + at);
      const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
      add(found,
          _mm_or_si128(is_up_to(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), 9),
                       is_up_to(_mm_sub_epi8(lower, _mm_set1_epi8('a')), 5)),
          at);
    }
    return found;
  }

  static JsonTokens tokens(const char* block) {
    JsonTokens tokens;
    for (std::size_t at = 0; at < json_block; at += 16) {
      const __m128i bytes = load(block + at);
      // Brackets and braces differ by this bit.
      const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
      add(tokens.opening, is(folded, '{'), at);
      add(tokens.closing, is(folded, '}'), at);
      add(tokens.objects, _mm_slli_epi16(bytes, 2), at);
      add(tokens.colons, is(bytes, ':'), at);
      add(tokens.commas, is(bytes, ','), at);
      const __m128i line_breaks = _mm_or_si128(is(bytes, '\n'), is(bytes, '\r'));
      const __m128i blanks = _mm_or_si128(is(bytes, ' '), is(bytes, '\t'));
      add(tokens.spaces, _mm_or_si128(line_breaks, blanks), at);
    }
    return tokens;
  }

  static JsonNumbers numbers(const char* block) {
    JsonNumbers numbers;
    for (std::size_t at = 0; at < json_block; at += 16) {
      const __m128i bytes = load(block + at);
      const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
      add(numbers.digits, is_up_to(values, 9), at);
      add(numbers.zeros, is(bytes, '0'), at);
      add(numbers.dots, is(bytes, '.'), at);
      add(numbers.minuses, is(bytes, '-'), at);
    }
    return numbers;
  }

  static std::size_t unmarked(const char* bytes, std::size_t size, std::uint64_t& beyond_ascii) {
    std::size_t at = 0;
    __m128i all = _mm_setzero_si128();
    for (; size - at >= json_block; at += json_block) {
      const __m128i first = load(bytes + at), second = load(bytes + at + 16);
      const __m128i third = load(bytes + at + 32), fourth = load(bytes + at + 48);
      const __m128i found = _mm_or_si128(_mm_or_si128(marked(first), marked(second)),
                                         _mm_or_si128(marked(third), marked(fourth)));
      if (_mm_movemask_epi8(found) != 0) break;
      all =
          _mm_or_si128(all, _mm_or_si128(_mm_or_si128(first, second), _mm_or_si128(third, fourth)));
    }
    add(beyond_ascii, all, 0);
    return at;
  }

 private:
  static __m128i load(const char* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  }
  static __m128i is(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
  /// As unsigned numbers.
  static __m128i is_up_to(__m128i bytes, char most) {
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes);
  }
  static __m128i marked(__m128i bytes) {
    return _mm_or_si128(is_up_to(bytes, 0x1f), _mm_or_si128(is(bytes, '"'), is(bytes, '\\')));
  }
  static void add(std::uint64_t& bits, __m128i found, std::size_t at) {
    bits |= std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(found))} << at;
  }
};

}  // namespace bridge

#endif
