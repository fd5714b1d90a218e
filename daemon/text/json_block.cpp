#include "text/json_block.hpp"

#include <string_view>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace bridge {
namespace {

JsonMarks plain_marks(const char* block) {
  JsonMarks marks;
  for (std::size_t i = 0; i < json_block; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') marks.quotes |= bit;
    if (c == '\\') marks.backslashes |= bit;
    if (static_cast<unsigned char>(c) < 0x20) marks.controls |= bit;
  }
  return marks;
}

JsonEscapes plain_escapes(const char* block) {
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

JsonTokens plain_tokens(const char* block) {
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

JsonNumbers plain_numbers(const char* block) {
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

std::size_t plain_unmarked(const char* bytes, std::size_t size) {
  std::size_t at = 0;
  while (size - at >= json_block && plain_marks(bytes + at) == JsonMarks()) at += json_block;
  return at;
}

#ifdef __x86_64__

// Every x86-64 has SSE2: 16 bytes at a time.

__m128i is(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

void add(std::uint64_t& bits, __m128i found, std::size_t at) {
  bits |= std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(found))} << at;
}

JsonMarks sse2_marks(const char* block) {
  JsonMarks marks;
  for (std::size_t at = 0; at < json_block; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    add(marks.quotes, is(bytes, '"'), at);
    add(marks.backslashes, is(bytes, '\\'), at);
    add(marks.controls, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes), at);
  }
  return marks;
}

JsonEscapes sse2_escapes(const char* block) {
  JsonEscapes escapes;
  for (std::size_t at = 0; at < json_block; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const __m128i unicode = is(bytes, 'u');
    __m128i found = unicode;
    for (const char c : std::string_view("\"\\/bfnrt")) found = _mm_or_si128(found, is(bytes, c));
    add(escapes.characters, found, at);
    add(escapes.unicode, unicode, at);
  }
  return escapes;
}

JsonTokens sse2_tokens(const char* block) {
  JsonTokens tokens;
  for (std::size_t at = 0; at < json_block; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
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

JsonNumbers sse2_numbers(const char* block) {
  JsonNumbers numbers;
  for (std::size_t at = 0; at < json_block; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    add(numbers.digits, _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values), at);
    add(numbers.zeros, is(bytes, '0'), at);
    add(numbers.dots, is(bytes, '.'), at);
    add(numbers.minuses, is(bytes, '-'), at);
  }
  return numbers;
}

__m128i marked(__m128i bytes) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  return _mm_or_si128(control, _mm_or_si128(is(bytes, '"'), is(bytes, '\\')));
}

std::size_t sse2_unmarked(const char* bytes, std::size_t size) {
  std::size_t at = 0;
  for (; size - at >= json_block; at += json_block) {
    const auto* const parts = reinterpret_cast<const __m128i*>(bytes + at);
    const __m128i first =
        _mm_or_si128(marked(_mm_loadu_si128(parts)), marked(_mm_loadu_si128(parts + 1)));
    const __m128i second =
        _mm_or_si128(marked(_mm_loadu_si128(parts + 2)), marked(_mm_loadu_si128(parts + 3)));
    if (_mm_movemask_epi8(_mm_or_si128(first, second)) != 0) break;
  }
  return at;
}

constexpr JsonBlockReader sse2_blocks{&sse2_marks, &sse2_escapes, &sse2_tokens, &sse2_numbers,
                                      &sse2_unmarked};

// The same with AVX2, where there is any: 32 bytes at a time.

#define BRIDGE_AVX2 __attribute__((target("avx2")))

BRIDGE_AVX2 __m256i is(__m256i bytes, char c) {
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
}

BRIDGE_AVX2 void add(std::uint64_t& bits, __m256i found, std::size_t at) {
  bits |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_epi8(found))} << at;
}

BRIDGE_AVX2 JsonMarks avx2_marks(const char* block) {
  JsonMarks marks;
  for (std::size_t at = 0; at < json_block; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at));
    add(marks.quotes, is(bytes, '"'), at);
    add(marks.backslashes, is(bytes, '\\'), at);
    add(marks.controls, _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes),
        at);
  }
  return marks;
}

BRIDGE_AVX2 JsonEscapes avx2_escapes(const char* block) {
  JsonEscapes escapes;
  // A bit for each upper half of a character, and which of them go with a lower half.
  const __m256i uppers = _mm256_setr_epi8(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                          0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i lowers =
      _mm256_setr_epi8(0, 0, 1 + 4 + 8, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1,  //
                       0, 0, 1 + 4 + 8, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
  const __m256i half = _mm256_set1_epi8(0x0f);
  for (std::size_t at = 0; at < json_block; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at));
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

BRIDGE_AVX2 JsonTokens avx2_tokens(const char* block) {
  JsonTokens tokens;
  // Each white space stands at what its low bits say.
  const __m256i blanks =
      _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0, ' ', 0, 0, 0, 0,
                       0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0);
  for (std::size_t at = 0; at < json_block; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at));
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

BRIDGE_AVX2 JsonNumbers avx2_numbers(const char* block) {
  JsonNumbers numbers;
  for (std::size_t at = 0; at < json_block; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at));
    const __m256i values = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    add(numbers.digits, _mm256_cmpeq_epi8(_mm256_min_epu8(values, _mm256_set1_epi8(9)), values),
        at);
    add(numbers.zeros, is(bytes, '0'), at);
    add(numbers.dots, is(bytes, '.'), at);
    add(numbers.minuses, is(bytes, '-'), at);
  }
  return numbers;
}

BRIDGE_AVX2 __m256i marked(__m256i bytes) {
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
  return _mm256_or_si256(control, _mm256_or_si256(is(bytes, '"'), is(bytes, '\\')));
}

BRIDGE_AVX2 std::size_t avx2_unmarked(const char* bytes, std::size_t size) {
  std::size_t at = 0;
  for (; size - at >= json_block; at += json_block) {
    const auto* const parts = reinterpret_cast<const __m256i*>(bytes + at);
    const __m256i found =
        _mm256_or_si256(marked(_mm256_loadu_si256(parts)), marked(_mm256_loadu_si256(parts + 1)));
    if (_mm256_movemask_epi8(found) != 0) break;
  }
  return at;
}

#undef BRIDGE_AVX2

constexpr JsonBlockReader avx2_blocks{&avx2_marks,   &avx2_escapes,  &avx2_tokens,
                                      &avx2_numbers, &avx2_unmarked, true};

#endif

}  // namespace

constexpr JsonBlockReader plain_blocks{&plain_marks, &plain_escapes, &plain_tokens, &plain_numbers,
                                       &plain_unmarked};

const JsonBlockReader& fastest_blocks() {
#ifdef __x86_64__
  const bool has_all = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
  return has_all ? avx2_blocks : sse2_blocks;
#else
  return plain_blocks;
#endif
}

}  // namespace bridge
