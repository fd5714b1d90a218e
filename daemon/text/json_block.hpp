#pragma once

#include <cstddef>
#include <cstdint>

namespace bridge {

/// How many bytes are looked at together; in what is said of them bit i speaks of byte i.
constexpr std::size_t json_block = 64;

/// Of a block, what counts inside of strings.
struct JsonMarks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t controls = 0;  ///< below 0x20

  bool operator==(const JsonMarks&) const = default;
};

/// Of a block, what may stand behind a backslash.
struct JsonEscapes {
  std::uint64_t characters = 0;  ///< " \ / b f n r t u
  std::uint64_t unicode = 0;     ///< u: four digits are to follow

  bool operator==(const JsonEscapes&) const = default;
};

/// Of a block, what counts outside of strings.
struct JsonTokens {
  std::uint64_t opening = 0;  ///< { [
  std::uint64_t closing = 0;  ///< } ]
  std::uint64_t objects = 0;  ///< { }, and other characters than [ ]
  std::uint64_t colons = 0;
  std::uint64_t commas = 0;
  std::uint64_t spaces = 0;  ///< space, tab, line feed, carriage return

  bool operator==(const JsonTokens&) const = default;
};

/// Of a block, what numbers are made of.
struct JsonNumbers {
  std::uint64_t digits = 0;
  std::uint64_t zeros = 0;
  std::uint64_t dots = 0;
  std::uint64_t minuses = 0;

  bool operator==(const JsonNumbers&) const = default;
};

/// One way of telling a block's bytes apart. All say the same.
struct JsonBlockReader {
  JsonMarks (*marks)(const char* block);
  JsonEscapes (*escapes)(const char* block);
  JsonTokens (*tokens)(const char* block);
  JsonNumbers (*numbers)(const char* block);
  /// Of how many bytes, whole blocks, from the begin of `size` ones none is a mark.
  std::size_t (*unmarked)(const char* bytes, std::size_t size);
  bool is_avx2 = false;  ///< for a processor that has AVX2, BMI, BMI2 and PCLMUL
};

/// Byte by byte, for any processor: what the others are measured by.
extern const JsonBlockReader plain_blocks;

/// The fastest one that this processor can run.
const JsonBlockReader& fastest_blocks();

}  // namespace bridge
