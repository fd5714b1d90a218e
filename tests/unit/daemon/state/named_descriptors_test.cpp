#include "state/memory_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace bridge;

TEST_CASE("descriptors are those that an argument names by its end, open ones, each once") {
  const int high = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 50);
  const int low = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 20);
  REQUIRE(high >= 50);
  REQUIRE(low >= 20);
  const auto named = [](int number) { return fmt::format("/proc/self/fd/{}", number); };
  CHECK(named_descriptors({"mcp-bridged", "--config", named(high), "--input-file=" + named(low),
                           "--options-file", named(high)}) == std::vector<int>{low, high});
  CHECK(named_descriptors({named(high) + "/x", named(high) + "x", "/proc/self/fd/", "fd/20"})
            .empty());
  CHECK(named_descriptors({named(0), named(STDERR_FILENO), named(-1), "/proc/self/fd/+20",
                           "/proc/self/fd/99999999999"})
            .empty());
  close(low);
  CHECK(named_descriptors({named(low), named(high)}) == std::vector<int>{high});
  close(high);
}
