#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// Reuses the nodes of a standard map, so that an entry for each request neither allocates nor
/// frees heap memory. Owned by the map's owner. Memory: at most `most` nodes, whose values were
/// moved away.
template <class Map>
class SpareNodes {
 public:
  static constexpr std::size_t most = 64;

  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;

  /// Inserts the value into the map; an existing value under the key stays.
  Value& insert(Map& map, const Key& key, Value value) {
    if (spare_.empty()) return map.emplace(key, std::move(value)).first->second;
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = key;
    node.mapped() = std::move(value);
    return map.insert(std::move(node)).position->second;
  }

  /// Removes an entry from the map and returns its value.
  Value extract(Map& map, typename Map::iterator at) {
    auto node = map.extract(at);
    Value value = std::move(node.mapped());
    if (spare_.size() < most) spare_.push_back(std::move(node));
    return value;
  }

 private:
  std::vector<typename Map::node_type> spare_;
};

/// Frees the unused capacity of a text that may be kept for long, which grew while it was read
/// (ArrivingText has addresses for a whole --max-frame). A small excess stays, since freeing it
/// means copying the text.
inline void drop_spare_room(std::string& text) {
  if (text.capacity() > text.size() + text.size() / 8 + 32) text.shrink_to_fit();
}

/// What of a text's room is memory, about. A large text has reserved address space for more than
/// has come (ArrivingText); only what was written to, and a step beyond it, is memory.
inline std::size_t memory_of_text(const std::string& text) {
  return std::min(text.capacity(), text.size() + text.size() / 8 + (64u << 10));
}

/// The buffer that descriptors are read into, before their data are handled. One for many
/// descriptors: it is empty between two reads. Of its `Size` bytes only those ever read into become
/// memory.
template <std::size_t Size>
class ReadBuffer {
 public:
  /// Leaves the bytes uninitialized, even as part of an object initialized by {}.
  ReadBuffer() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  /// Holds nothing that could be moved.
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
