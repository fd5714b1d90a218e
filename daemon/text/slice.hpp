#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// A half-open range of bytes in a frame. Empty means: the member is not there
/// (no JSON value is empty).
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool present() const { return end > begin; }
  std::size_t size() const { return end - begin; }
  std::string_view of(std::string_view bytes) const { return bytes.substr(begin, end - begin); }
};

}  // namespace bridge
