#include "text/loopback.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace bridge;
using namespace std::string_view_literals;

TEST_CASE("only the names and numbers that are always this machine are loopback") {
  struct {
    std::string_view host;
    bool is_loopback;
  } const rows[] = {
      {"localhost", true},
      {"LocalHost", true},
      {"127.0.0.1", true},
      {"127.255.255.254", true},
      {"::1", true},
      {"[::1]", true},
      {"0:0:0:0:0:0:0:1", true},
      {"[0000:0000:0000:0000:0000:0000:0000:0001]", true},
      {"::ffff:127.0.0.1", true},
      {"[::ffff:7f00:1]", true},
      {"", false},
      {"[]", false},
      {"[127.0.0.1]", false},
      {"localhost.", false},
      {"localhost.example", false},
      {"xlocalhost", false},
      {" localhost", false},
      {"127.1", false},
      {"127.0.0.1.example", false},
      {"127.0.0.01", false},
      {"0127.0.0.1", false},
      {"2130706433", false},
      {"0x7f.0.0.1", false},
      {"126.0.0.1", false},
      {"128.0.0.1", false},
      {"0.0.0.0", false},
      {"::", false},
      {"::2", false},
      {"::1%lo", false},
      {"[::1", false},
      {"::ffff:128.0.0.1", false},
      {"::127.0.0.1", false},
      {"fe80::1", false},
      {"127.0.0.1\0.example"sv, false},
      {"localhost\0"sv, false},
  };
  for (const auto& row : rows) {
    INFO(row.host);
    CHECK(is_loopback_host(row.host) == row.is_loopback);
  }
}
