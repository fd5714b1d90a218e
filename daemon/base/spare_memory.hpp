#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// Nodes of one of the standard's maps that are used again: what comes and goes with each request
/// takes no memory from the heap and gives none back. Owned by the map's owner. Memory: at most
/// `most` nodes, whose values were moved away.
template <class Map>
class SpareNodes {
 public:
  static constexpr std::size_t most = 64;

  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;

  /// Puts it into the map; what was there under the key stays.
  Value& insert(Map& map, const Key& key, Value value) {
    if (spare_.empty()) return map.emplace(key, std::move(value)).first->second;
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = key;
    node.mapped() = std::move(value);
    return map.insert(std::move(node)).position->second;
  }

  /// Takes one out of the map.
  Value extract(Map& map, typename Map::iterator at) {
    auto node = map.extract(at);
    Value value = std::move(node.mapped());
    if (spare_.size() < most) spare_.push_back(std::move(node));
    return value;
  }

 private:
  std::vector<typename Map::node_type> spare_;
};

/// Gives back the room behind a text that may stay for long: what grew while it was read
/// (ArrivingText has addresses for a whole --max-frame) is not kept with it. Little room stays,
/// since to give it back is to copy the text.
inline void drop_spare_room(std::string& text) {
  if (text.capacity() > text.size() + text.size() / 8 + 32) text.shrink_to_fit();
}

/// The buffer that descriptors are read into, before their data are handled. One for many
/// descriptors: it is empty between two reads. Of its `Size` bytes only those ever read into become
/// memory.
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
