#include "process/process_start.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bridge;

namespace {

/// The argument as others get to see it.
std::string blotted_argument(std::string_view previous, std::string argument) {
  auto parts = secret_parts(previous, argument);
  std::reverse(parts.begin(), parts.end());
  for (const auto& [begin, length] : parts) argument.replace(begin, length, "*");
  return argument;
}

}  // namespace

TEST_CASE("of the arguments that may be secret only the names are shown") {
  CHECK(blotted_argument("--header", "X-Key: secret") == "X-Key:*");
  CHECK(blotted_argument("mcp-bridged", "--header=X-Key: a=b: c") == "--header=X-Key:*");
  CHECK(blotted_argument("--header", "without a colon") == "*");
  CHECK(blotted_argument("--header", "X-Key:") == "X-Key:");
  CHECK(blotted_argument("--input", "id=a=b") == "id=*");
  CHECK(blotted_argument("x", "--input=id=a") == "--input=id=*");
}

TEST_CASE("of a URL user and query are not shown") {
  CHECK(blotted_argument("--url", "https://u:p@host/a@b?c=d?e") == "https://*@host/a@b?*");
  CHECK(blotted_argument("x", "--url=https://host/?q") == "--url=https://host/?*");
  CHECK(blotted_argument("--url", "https://a@b@host") == "https://*@host");
  CHECK(blotted_argument("--url", "https://host/mcp") == "https://host/mcp");
  CHECK(blotted_argument("--url", "http+unix://%2Fx.sock/mcp?q") == "http+unix://%2Fx.sock/mcp?*");
}

TEST_CASE("all else stays as it is") {
  CHECK(blotted_argument("--socket", "/tmp/a?b@c:d=e") == "/tmp/a?b@c:d=e");
  CHECK(blotted_argument("x", "--ring=10") == "--ring=10");
  CHECK(blotted_argument("--ring", "10") == "10");
}
