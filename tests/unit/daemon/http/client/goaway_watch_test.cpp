#include "http/client/goaway_watch.hpp"

#include <doctest/doctest.h>

#include <array>

namespace bridge {
namespace {

const std::array<int, 3> handles{};

}  // namespace

TEST_CASE(
    "requests on streams above the last one of a GOAWAY are left out, on that connection alone") {
  GoawayWatch watch;
  for (const int& handle : handles) watch.begin(&handle);
  watch.line(&handles[0], "Connected to a.example (192.0.2.1) port 443 (#0)\n");
  watch.line(&handles[0], "Using Stream ID: 19 (easy handle 0x1)\n");
  watch.line(&handles[1], "Re-using existing connection #0 with host a.example\n");
  watch.line(&handles[1], "Using Stream ID: 21 (easy handle 0x2)\n");
  watch.line(&handles[2], "Connected to a.example (192.0.2.1) port 443 (#1)\n");
  watch.line(&handles[2], "Using Stream ID: 21 (easy handle 0x3)\n");
  CHECK_FALSE(watch.left_out(&handles[1]));
  watch.line(&handles[0], "recveived GOAWAY, error=0, last_stream=19\n");
  CHECK_FALSE(watch.left_out(&handles[0]));
  CHECK(watch.left_out(&handles[1]));
  CHECK_FALSE(watch.left_out(&handles[2]));
}

TEST_CASE("a request that goes elsewhere counts as left out until it was sent there") {
  GoawayWatch watch;
  watch.begin(&handles[0]);
  watch.line(&handles[0], "Connected to a.example (192.0.2.1) port 443 (#0)\n");
  watch.line(&handles[0], "Using Stream ID: 5 (easy handle 0x1)\n");
  watch.line(&handles[0], "recveived GOAWAY, error=0, last_stream=3\n");
  watch.line(&handles[0], "Connected to a.example (192.0.2.1) port 443 (#1)\n");
  CHECK(watch.left_out(&handles[0]));
  watch.line(&handles[0], "Using Stream ID: 5 (easy handle 0x1)\n");
  CHECK_FALSE(watch.left_out(&handles[0]));
}

TEST_CASE("the words of a newer curl, whose connections are numbered elsewhere") {
  GoawayWatch watch;
  watch.begin(&handles[0]);
  watch.line(&handles[0], "[HTTP/2] [7] OPENED stream for https://a.example/mcp\n", 4);
  watch.line(&handles[1], "received GOAWAY, error=0, last_stream=5\n", 4);
  CHECK(watch.left_out(&handles[0]));
}

TEST_CASE("nobody is left out by what is not understood") {
  GoawayWatch watch;
  watch.begin(&handles[0]);
  for (const char* line :
       {"", "GOAWAY", "last_stream=", "received GOAWAY, last_stream=x",
        "Using Stream ID: ", "Using Stream ID: 9", "received GOAWAY, last_stream=1"}) {
    watch.line(&handles[0], line);
  }
  CHECK_FALSE(watch.left_out(&handles[0]));
  CHECK_FALSE(watch.left_out(&handles[1]));
}

}  // namespace bridge
