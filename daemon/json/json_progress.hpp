#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "json/json_block.hpp"
#include "json/json_scanner.hpp"
#include "json/received_text.hpp"

namespace bridge {

/// Which containers of a JSON text are open, and which of them are objects. Pure; no deeper than
/// JsonScanner::max_depth. Small, so that a copy of it can be kept in registers: of the innermost
/// ones the kinds are bits of one number, the last one's the lowest; the others are in an array of
/// the owner's.
class JsonContainers {
  static constexpr std::size_t bits = 64;

 public:
  /// The number as it was each time it was full.
  using Outer = std::array<std::uint64_t, JsonScanner::max_depth / bits>;

  std::size_t depth() const { return depth_; }
  /// 1: the innermost one is an object; 0: it is an array, or there is none.
  std::uint64_t in_object() const { return innermost_ & 1; }

  /// `is_object`: 1 or 0. False if that would be too deep. `outer` is always the same.
  bool open(std::uint64_t is_object, Outer& outer) {
    if (depth_ == JsonScanner::max_depth) return false;
    if (++depth_ % bits == 0) outer[depth_ / bits - 1] = innermost_;
    innermost_ = innermost_ << 1 | is_object;
    return true;
  }
  /// REQUIRES: one is open.
  void close(const Outer& outer) {
    innermost_ >>= 1;
    if (depth_-- % bits == 0) innermost_ = outer[depth_ / bits];
  }
  /// Opens and closes as a block's `brackets` say, of which some are `opening`, and some those of
  /// `objects`. `inside`: which bytes of the block are directly in an object, with the bracket that
  /// closes it. False, and nothing has changed: one closes what was not opened by its like, or
  /// fewer than `fewest` would be open, or too many for this.
  bool change(std::uint64_t brackets, std::uint64_t opening, std::uint64_t objects,
              std::size_t fewest, std::uint64_t& inside) {
    if (depth_ < fewest || depth_ + static_cast<std::size_t>(std::popcount(opening)) >= bits)
      return false;
    // The bit above those of the open ones falls with them.
    std::uint64_t kinds = (std::uint64_t{1} << depth_) | innermost_;
    std::uint64_t least = kinds, behind = 0;
    for (std::uint64_t left = brackets; left != 0; left &= left - 1) {
      const auto at = static_cast<unsigned>(std::countr_zero(left));
      const std::uint64_t opened = kinds << 1 | (objects >> at & 1), closed = kinds >> 1;
      kinds = (opening >> at & 1) != 0 ? opened : closed;
      least = std::min(least, kinds);
      behind |= (kinds & 1) << at;
    }
    inside = spread(behind, brackets);
    if (least >> fewest == 0 || ((inside ^ objects) & brackets & ~opening) != 0) return false;
    depth_ = static_cast<std::size_t>(std::bit_width(kinds)) - 1;
    innermost_ = kinds ^ (std::uint64_t{1} << depth_);
    return true;
  }

  /// What is directly in an object, if of a block's `brackets` these have one around what is
  /// `behind` them. To be asked before what they say is done.
  std::uint64_t spread(std::uint64_t behind, std::uint64_t brackets) const {
    // Added where a gap begins, a bit moves to where the gap has ended.
    return (~brackets + (behind << 1 | in_object())) ^ ~brackets;
  }

 private:
  std::uint64_t innermost_ = 0;
  std::size_t depth_ = 0;
};

/// Checks a large JSON text while it arrives: its grammar (RFC 8259, no deeper than
/// JsonScanner::max_depth), and that it is UTF-8. A block at a time (json/json_block.hpp).
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
