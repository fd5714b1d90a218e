#include "json/json_progress.hpp"

#include <doctest/doctest.h>

#include <vector>

using bridge::JsonContainers;
using bridge::JsonScanner;

TEST_CASE("kinds of containers come back in the reverse order, however deep it was meanwhile") {
  JsonContainers containers;
  JsonContainers::Outer outer{};
  std::vector<std::uint64_t> kinds;
  std::uint32_t random = 1;
  const auto open = [&] {
    random = random * 1664525 + 1013904223;
    const std::uint64_t kind = random >> 31;
    if (!containers.open(kind, outer)) return false;
    kinds.push_back(kind);
    return true;
  };
  const auto close = [&] {
    CHECK(containers.in_object() == kinds.back());
    kinds.pop_back();
    containers.close(outer);
    CHECK(containers.depth() == kinds.size());
    CHECK(containers.in_object() == (kinds.empty() ? 0 : kinds.back()));
  };
  for (const std::size_t deepest : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 700u, 1024u}) {
    for (const std::size_t lowest :
         {deepest / 2, std::size_t{63}, std::size_t{64}, std::size_t{0}}) {
      while (containers.depth() < deepest) REQUIRE(open());
      while (containers.depth() > lowest) close();
    }
  }
  CHECK(containers.in_object() == 0);
}

TEST_CASE("no more are open than a message may have") {
  JsonContainers containers;
  JsonContainers::Outer outer{};
  while (containers.depth() < JsonScanner::max_depth) REQUIRE(containers.open(1, outer));
  CHECK_FALSE(containers.open(1, outer));
  CHECK(containers.depth() == JsonScanner::max_depth);
}
