#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text/checked_json.hpp"
#include "text/json_block.hpp"
#include "text/json_containers.hpp"

namespace bridge {

/// Checks a large JSON text while it arrives: its grammar (RFC 8259, no deeper than
/// JsonScanner::max_depth), and that it is UTF-8. A block at a time (text/json_block.hpp).
///
/// It only says that an object or array is good. What is no such thing, or not good, it leaves to
/// JsonScanner, which can tell why; what it calls good, JsonScanner and is_utf8() do too.
///
/// Pure; one per text. Memory: 48 bytes for each 4 KiB of the text at most. Time: linear, however
/// the text was cut.
class JsonProgress {
 public:
  /// A shorter text is read as fast without.
  static constexpr std::size_t worthwhile = 8u << 10;
  /// A shorter value is read again as fast as it is remembered.
  static constexpr std::size_t large_value = 4u << 10;

  /// REQUIRES: this processor can run it.
  explicit JsonProgress(VectorCode code = fastest_code()) : code_(code) {}

  /// Reads on. `text` is all that has come, of which the beginning was given before.
  void read_on(std::string_view text);

  /// `text` is whole. Empty: it is not known to be good. Of no further use then.
  std::optional<CheckedJson> finish(std::string_view text);

 private:
  /// Of a block, where the tokens begin that are outside of strings, or strings.
  struct Tokens;
  /// What the last token was, each 1 or 0; none of them: a value that is complete and no key.
  struct Last {
    std::uint64_t opening = 0;
    std::uint64_t colon = 1;  ///< before the first one: a value is to come, as behind a colon
    std::uint64_t comma = 0;
    std::uint64_t key = 0;
  };

  // What is done with each block is in json_progress_blocks.cpp.
  bool read_blocks(std::string_view text, const char* bytes, std::size_t size);
  bool read_blocks_avx2(std::string_view text, const char* bytes, std::size_t size);
  template <class Blocks>
  bool read_blocks_with(std::string_view text, const char* bytes, std::size_t size);
  template <class Blocks>
  bool read_block(std::string_view text, const char* bytes);
  template <class Blocks>
  bool read_outside(std::string_view text, const char* bytes, const JsonMarks& marks,
                    std::uint64_t strings, std::uint64_t quotes);
  template <class Blocks>
  bool read_escapes(const char* bytes, std::uint64_t backslashes, std::uint64_t& escaped);
  template <class Blocks>
  bool read_scalars(std::string_view text, const char* bytes, std::uint64_t scalars,
                    std::uint64_t& begins);
  template <class Blocks>
  static bool check_scalars(const char* bytes, std::uint64_t scalars);
  bool read_brackets(const Tokens& tokens, std::uint64_t& in_objects);
  bool read_outer_brackets(const Tokens& tokens, std::uint64_t& in_objects);
  bool check_order(const Tokens& tokens, std::uint64_t in_objects);
  void look_for_line_breaks(const char* bytes, std::uint64_t controls);
  bool end_scalar(std::string_view text, std::size_t end) const;
  void note_closed(std::size_t at, const JsonContainers& around);
  void note_value(std::size_t begin, std::size_t end);
  bool check_utf8(std::string_view text, bool is_whole);

  static constexpr std::size_t noted_depth = 2;  ///< of the object whose members are noted

  VectorCode code_;
  CheckedJson found_;
  JsonContainers containers_;  ///< that are open
  JsonContainers::Outer outer_containers_{};
  std::array<std::size_t, noted_depth + 1> begins_{};  ///< of what is open inside of that depth
  std::size_t position_ = 0;                           ///< of the first block that was not read
  std::size_t utf8_ = 0;                               ///< so far it is UTF-8
  std::size_t scalar_begin_ = 0;                       ///< if in_scalar_
  std::size_t string_begin_ = 0;                       ///< if in_noted_string_
  Last last_;
  std::uint64_t hex_wanted_ = 0;    ///< a bit for each that an escape still wants
  std::uint64_t beyond_ascii_ = 0;  ///< not 0: there was such a byte since UTF-8 was checked
  bool has_begun_ = false;          ///< the outermost container; it is over at depth 0
  bool in_string_ = false;
  bool in_noted_string_ = false;
  bool has_marks_ = false;  ///< the last block
  bool after_backslash_ = false;
  bool in_scalar_ = false;  ///< in a number or a word
  bool failed_ = false;
};

}  // namespace bridge
