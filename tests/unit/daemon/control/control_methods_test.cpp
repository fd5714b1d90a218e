// BEHAVIOUR, "Control methods".
#include "control/control_methods.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace bridge {

TEST_CASE("the page of behaviour lists each control method as its row does") {
  std::ifstream file(MCP_BRIDGE_DAEMON_SOURCES "/BEHAVIOUR.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE_FALSE(page.empty());
  const std::string header = "|---|---|---|---|\n";
  const std::string rows = ControlMethods::documented();
  CHECK(page.find(header + rows + "\n") != std::string::npos);
}

}  // namespace bridge
