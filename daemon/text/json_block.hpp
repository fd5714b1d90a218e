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

/// Of a block, what counts outside of strings.
struct JsonTokens {
  std::uint64_t operators = 0;    ///< { } [ ] : ,
  std::uint64_t spaces = 0;       ///< space, tab, line feed, carriage return
  std::uint64_t line_breaks = 0;  ///< line feed, carriage return

  bool operator==(const JsonTokens&) const = default;
};

/// One way of telling a block's bytes apart. All say the same.
struct JsonBlockReader {
  JsonMarks (*marks)(const char* block);
  JsonTokens (*tokens)(const char* block);
  /// Of how many bytes, whole blocks, from the begin of `size` ones none is a mark.
  std::size_t (*unmarked)(const char* bytes, std::size_t size);
};

/// Byte by byte, for any processor: what the others are measured by.
extern const JsonBlockReader plain_blocks;

/// The fastest one that this processor can run.
const JsonBlockReader& fastest_blocks();

}  // namespace bridge
