#include "process/process_start.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bridge;

namespace {

/// The argument as shown to others.
std::string redacted_argument(std::string_view previous, std::string argument) {
  auto parts = secret_parts(previous, argument);
  std::reverse(parts.begin(), parts.end());
  for (const auto& [begin, length] : parts) argument.replace(begin, length, "*");
  return argument;
}

}  // namespace

TEST_CASE("of the arguments that may be secret only the names are shown") {
  CHECK(redacted_argument("--header", "X-Key: secret") == "X-Key:*");
  CHECK(redacted_argument("mcp-bridged", "--header=X-Key: a=b: c") == "--header=X-Key:*");
  CHECK(redacted_argument("--header", "without a colon") == "*");
  CHECK(redacted_argument("--header", "X-Key:") == "X-Key:");
  CHECK(redacted_argument("--input", "id=a=b") == "id=*");
  CHECK(redacted_argument("x", "--input=id=a") == "--input=id=*");
}

TEST_CASE("of a URL user and query are not shown") {
  CHECK(redacted_argument("--url", "https://u:p@host/a@b?c=d?e") == "https://*@host/a@b?*");
  CHECK(redacted_argument("x", "--url=https://host/?q") == "--url=https://host/?*");
  CHECK(redacted_argument("--url", "https://a@b@host") == "https://*@host");
  CHECK(redacted_argument("--url", "https://host/mcp") == "https://host/mcp");
  CHECK(redacted_argument("--url", "http+unix://%2Fx.sock/mcp?q") == "http+unix://%2Fx.sock/mcp?*");
}

TEST_CASE("all else stays as it is") {
  CHECK(redacted_argument("--socket", "/tmp/a?b@c:d=e") == "/tmp/a?b@c:d=e");
  CHECK(redacted_argument("x", "--ring=10") == "--ring=10");
  CHECK(redacted_argument("--ring", "10") == "10");
}

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
