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

/// The open containers of a JSON text, and which of them are objects. Pure; no deeper than
/// JsonScanner::max_depth. Small, so that a copy of it fits in registers: the kinds of the
/// innermost ones are the bits of one number, the innermost is the lowest; the others are in an
/// array of the owner's.
class JsonContainers {
  static constexpr std::size_t bits = 64;

 public:
  /// That number each time it was full.
  using Outer = std::array<std::uint64_t, JsonScanner::max_depth / bits>;

  std::size_t depth() const { return depth_; }
  /// 1: the innermost one is an object; 0: it is an array, or none is open.
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
  /// Applies a block's `brackets`, of which some are `opening`, and some belong to `objects`.
  /// `inside`: which bytes of the block are directly in an object, including the bracket that
  /// closes it. False, and nothing has changed: a bracket closes a container of the other kind, or
  /// fewer than `fewest` would be open, or more than this function supports.
  bool change(std::uint64_t brackets, std::uint64_t opening, std::uint64_t objects,
              std::size_t fewest, std::uint64_t& inside) {
    if (depth_ < fewest || depth_ + static_cast<std::size_t>(std::popcount(opening)) >= bits)
      return false;
    // A bit above those of the open containers, which moves with them.
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

  /// Which bytes are directly in an object, if the `behind` ones of a block's `brackets` are
  /// followed by the inside of an object. REQUIRES: the brackets were not applied yet.
  std::uint64_t spread(std::uint64_t behind, std::uint64_t brackets) const {
    // The addition moves a bit from the start of a gap to its end.
    return (~brackets + (behind << 1 | in_object())) ^ ~brackets;
  }

 private:
  std::uint64_t innermost_ = 0;
  std::size_t depth_ = 0;
};

/// Checks a large JSON text while it arrives: its grammar (RFC 8259, no deeper than
/// JsonScanner::max_depth), and that it is UTF-8. Reads by blocks (json/json_block.hpp).
///
/// It only accepts valid objects and arrays. Any other text it leaves to JsonScanner, which reports
/// the fault; JsonScanner and is_utf8() accept all that it accepts.
///
/// Pure; one per text. Memory: at most 48 bytes for each 4 KiB of the text. Time: linear, however
/// the text was chunked.
class JsonProgress {
 public:
  /// A shorter text is read as fast without it.
  static constexpr std::size_t worthwhile = 8u << 10;
  /// A shorter value is read again as fast as it is recorded.
  static constexpr std::size_t large_value = 4u << 10;

  /// REQUIRES: this processor supports it.
  explicit JsonProgress(VectorCode code = fastest_code()) : code_(code) {}

  /// Reads on. `text` is all that was received, including what was passed before.
  void read_on(std::string_view text);

  /// `text` is complete. nullopt: it is not known to be valid. The last call.
  std::optional<CheckedJson> finish(std::string_view text);

 private:
  /// Where tokens outside strings, or strings, start in a block.
  struct Tokens;
  /// The last token, each 1 or 0; if all are 0: a complete value that is not a key.
  struct Last {
    std::uint64_t opening = 0;
    std::uint64_t colon = 1;  ///< before the first token a value must follow, as after a colon
    std::uint64_t comma = 0;
    std::uint64_t key = 0;
  };
  /// The string that continues in the next block, if any.
  struct OpenString {
    bool is_open = false;
    bool after_backslash = false;
    bool has_marks = false;        ///< the last block
    std::uint64_t hex_wanted = 0;  ///< a bit for each digit that an escape still requires

    /// Whether the next blocks may have nothing but characters of it. If one block has no marks,
    /// the next ones most likely have none.
    bool may_be_long() const {
      return is_open && !has_marks && !after_backslash && hex_wanted == 0;
    }
    bool is_in_escape() const { return after_backslash || hex_wanted != 0; }
  };
  /// The open containers, and where the outermost ones start.
  struct Containers {
    static constexpr std::size_t noted_depth = 2;  ///< of the object whose members are recorded

    bool has_begun = false;  ///< the outermost one was opened; it is closed at depth 0
    JsonContainers open;
    JsonContainers::Outer outer{};
    std::array<std::size_t, noted_depth + 1> begins{};  ///< of the open ones up to that depth

    bool is_noted() const { return open.depth() <= noted_depth; }
  };

  // Implemented in json_progress_blocks.cpp: the processing of a block.
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
  void note_closed(std::size_t at);
  void note_value(std::size_t begin, std::size_t end);
  bool check_utf8(std::string_view text, bool is_whole);

  static constexpr std::size_t none = ~std::size_t{0};

  VectorCode code_;
  CheckedJson found_;
  Containers containers_;
  OpenString string_;
  Last last_;
  std::size_t position_ = 0;  ///< of the first block that was not read
  /// The start of a number or a word, or of a string to be recorded, that continues in the next
  /// block.
  std::size_t token_begin_ = none;
  std::size_t utf8_ = 0;            ///< checked as UTF-8 up to here
  std::uint64_t beyond_ascii_ = 0;  ///< not 0: such a byte occurred since UTF-8 was checked
  bool failed_ = false;
};

}  // namespace bridge
