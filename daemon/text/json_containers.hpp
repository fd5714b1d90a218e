#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "text/json_scanner.hpp"

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

}  // namespace bridge
