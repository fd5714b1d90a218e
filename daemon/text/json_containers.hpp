#pragma once

#include <array>
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

 private:
  std::uint64_t innermost_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace bridge
