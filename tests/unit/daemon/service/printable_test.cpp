#include <doctest/doctest.h>

#include <string>

#include "service/log.hpp"

using bridge::printable;

TEST_CASE("a peer's text is printable ASCII before it is shown, and not longer than asked for") {
  CHECK(printable("plain text ~!") == "plain text ~!");
  CHECK(printable("a\x1b[31m\n\r\t\x7f\xC3\xA9") == "a?[31m??????");
  CHECK(printable(std::string("a\0b", 3)) == "a?b");
  CHECK(printable(std::string(300, 'x')).size() == 200);
  CHECK(printable("abcdef", 3) == "abc");
  CHECK(printable("").empty());
}
