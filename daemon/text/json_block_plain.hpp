#pragma once

#include <cstddef>
#include <cstdint>

#include "text/ascii.hpp"
#include "text/bit_runs.hpp"
#include "text/json_block.hpp"

namespace bridge {

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

  /// Of how many bytes, whole blocks, from the begin of `size` ones none is a mark. Adds to
  /// `beyond_ascii` what is not zero if one of them is beyond ASCII.
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

}  // namespace bridge
