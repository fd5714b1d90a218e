#include "base/spare_memory.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <unordered_map>

using bridge::SpareNodes;

using Map = std::unordered_map<int, std::unique_ptr<int>>;

TEST_CASE("a node that was taken out carries the next value, under another key") {
  Map map;
  SpareNodes<Map> spare;
  spare.insert(map, 1, std::make_unique<int>(10));
  const auto* const place = &map.at(1);
  const std::unique_ptr<int> taken = spare.extract(map, map.find(1));
  CHECK(*taken == 10);
  CHECK(map.empty());
  CHECK(*spare.insert(map, 2, std::make_unique<int>(20)) == 20);
  CHECK(&map.at(2) == place);
  CHECK(*spare.insert(map, 3, std::make_unique<int>(30)) == 30);
  CHECK(map.size() == 2);
}

TEST_CASE("what is there under a key stays") {
  Map map;
  SpareNodes<Map> spare;
  spare.insert(map, 1, std::make_unique<int>(10));
  spare.insert(map, 2, std::make_unique<int>(20));
  spare.extract(map, map.find(2));
  CHECK(*spare.insert(map, 1, std::make_unique<int>(11)) == 10);
  CHECK(map.size() == 1);
}
