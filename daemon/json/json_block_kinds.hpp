#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/json_block.hpp"
#include "text/characters.hpp"

namespace bridge {

// Computations on 64 bits at once, one for each byte.

/// For every processor.
struct PlainBits {
  /// Bit i: whether an odd number of `bits` is at or below it, that is, between quotes.
  static std::uint64_t between(std::uint64_t bits) {
    for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
};

#ifdef __x86_64__

/// The same for processors with AVX2: a carry-less product by all ones.
struct FastBits {
  [[gnu::target("pclmul")]] static std::uint64_t between(std::uint64_t bits) {
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

#endif

/// The tokens that directly follow `some` of them. `gaps`: bytes without a token. `carried`:
/// whether the token before the block was one of `some`; updated for the next block.
inline std::uint64_t next_behind(std::uint64_t some, std::uint64_t gaps, std::uint64_t& carried) {
  // The addition moves a bit from the start of a gap to its end.
  std::uint64_t moved = 0;
  const bool leaves = __builtin_add_overflow(gaps, some << 1 | carried, &moved);
  carried = some >> 63 | (leaves ? 1 : 0);
  return moved & ~gaps;
}

/// VectorCode::none.
struct PlainBlocks {
  using Bits = PlainBits;

  static JsonMarks marks(const char* block) {
    JsonMarks marks;
    for (std::size_t i = 0; i < json_block; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      const char c = block[i];
      if (c == '"') marks.quotes |= bit;
      if (c == '\\') marks.backslashes |= bit;
      if (static_cast<unsigned char>(c) < 0x20) marks.controls |= bit;
      if (static_cast<unsigned char>(c) > 0x7f) marks.beyond_ascii |= bit;
    }
    return marks;
  }

  static JsonEscapes escapes(const char* block) {
    JsonEscapes escapes;
    for (std::size_t i = 0; i < json_block; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      switch (block[i]) {
        case 'u': escapes.unicode |= bit; [[fallthrough]];
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't': escapes.characters |= bit; break;
        default: break;
      }
    }
    return escapes;
  }

  static std::uint64_t hex_digits(const char* block) {
    std::uint64_t digits = 0;
    for (std::size_t i = 0; i < json_block; ++i) {
      if (is_hex(block[i])) digits |= std::uint64_t{1} << i;
    }
    return digits;
  }

  static JsonTokens tokens(const char* block) {
    JsonTokens tokens;
    for (std::size_t i = 0; i < json_block; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((static_cast<unsigned char>(block[i]) & 0x20) != 0) tokens.objects |= bit;
      switch (block[i]) {
        case '{':
        case '[': tokens.opening |= bit; break;
        case '}':
        case ']': tokens.closing |= bit; break;
        case ':': tokens.colons |= bit; break;
        case ',': tokens.commas |= bit; break;
        case '\n':
        case '\r':
        case ' ':
        case '\t': tokens.spaces |= bit; break;
        default: break;
      }
    }
    return tokens;
  }

  static JsonNumbers numbers(const char* block) {
    JsonNumbers numbers;
    for (std::size_t i = 0; i < json_block; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      const char c = block[i];
      if (c >= '0' && c <= '9') numbers.digits |= bit;
      if (c == '0') numbers.zeros |= bit;
      if (c == '.') numbers.dots |= bit;
      if (c == '-') numbers.minuses |= bit;
    }
    return numbers;
  }

  /// The size of the whole blocks at the front, of `size` bytes, that have no mark. `beyond_ascii`
  /// becomes nonzero if one of their bytes is not ASCII.
  static std::size_t unmarked(const char* bytes, std::size_t size, std::uint64_t& beyond_ascii) {
    std::size_t at = 0;
    for (; size - at >= json_block; at += json_block) {
      const JsonMarks found = marks(bytes + at);
      if ((found.quotes | found.backslashes | found.controls) != 0) break;
      beyond_ascii |= found.beyond_ascii;
    }
    return at;
  }
};

#ifdef __x86_64__

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
      // Brackets and braces differ in this bit.
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
  /// Compares unsigned.
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
    // A bit for each upper half of a character, and which of them match a lower half.
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
    // Each white space character is at the index of its low bits.
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
  /// Compares unsigned.
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

#endif

}  // namespace bridge
