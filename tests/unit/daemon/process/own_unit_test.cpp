#include "process/process_start.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("the service is the last part of a control group's path, in either hierarchy") {
  CHECK(unit_in("0::/system.slice/mcp-bridged.service\n") == "mcp-bridged.service");
  CHECK(unit_in("12:pids:/x.slice\n1:name=systemd:/system.slice/system-mcp\\x2dbridged.slice/"
                "mcp-bridged@one.service\n0::/\n") == "mcp-bridged@one.service");
}

TEST_CASE("where there is no service there is no name") {
  CHECK(unit_in("") == "");
  CHECK(unit_in("0::/\n") == "");
  CHECK(unit_in("0::/user.slice/user-0.slice/session-1.scope\n") == "");
  CHECK(unit_in("0::/.service") == "");
}

TEST_CASE("a name that a shell would read as more than a word is none") {
  CHECK(unit_in("0::/system.slice/a;rm -rf b.service\n") == "");
  CHECK(unit_in("0::/system.slice/mcp-bridged@a\\x2db.service\n") == "");
}
