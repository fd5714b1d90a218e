#pragma once

#include <array>
#include <cstddef>

namespace bridge {

/// Where what a descriptor has is read to before anybody looks at it. One for many descriptors: it
/// is empty between two reads. Of its `Size` bytes only what was ever read to becomes memory.
template <std::size_t Size>
class ReadBuffer {
 public:
  /// Fills nothing, not even as part of what is initialized by {}.
  ReadBuffer() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  /// There is nothing in it that could be moved.
  ReadBuffer(ReadBuffer&&) noexcept {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(ReadBuffer&&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;

  char* data() { return bytes_.data(); }
  static constexpr std::size_t size() { return Size; }

 private:
  std::array<char, Size> bytes_;
};

}  // namespace bridge
