#pragma once

#include <cstddef>
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

}  // namespace bridge
