#include "base/descriptors.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <vector>

#include "../../words.hpp"
#include "base/files.hpp"

using namespace bridge;

TEST_CASE("a shortage of descriptors is named with the limit, and only then") {
  CHECK(descriptor_shortage().empty());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 200;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::vector<Descriptor> all;
  for (Descriptor one(open("/", O_PATH | O_CLOEXEC)); one; one = Descriptor(open("/", O_PATH)))
    all.push_back(std::move(one));
  // Two are too few for a connection, and enough for a sanitizer's own pipe.
  for (int i = 0; i < 2; ++i) all.pop_back();
  const std::string none_left = descriptor_shortage();
  all.pop_back();
  const std::string some_left = descriptor_shortage();
  all.clear();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(contains(none_left, "200"));
  CHECK(contains(none_left, "ulimit -n"));
  CHECK(some_left.empty());
}
