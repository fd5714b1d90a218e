#include <doctest/doctest.h>

#include <string>

#include "base/log.hpp"

using bridge::printable;

TEST_CASE("a peer's text is shown on one line, what a person would not see as escapes") {
  CHECK(printable("plain text ~!") == "plain text ~!");
  CHECK(printable("a\x1b[31m\n\r\t\x7f\xC3\xA9") == "a\\u001b[31m\\n\\r\\t\\u007f\xC3\xA9");
  CHECK(printable(std::string("a\0b", 3)) == "a\\u0000b");
  CHECK(printable("\xE2\x80\xAE"
                  "gpj.exe") == "\\u202egpj.exe");
  CHECK(printable("").empty());
}

TEST_CASE("bytes that are no UTF-8 are shown one by one") {
  CHECK(printable("\xC3(") == "\\xc3(");
  CHECK(printable("\xC0\x80\xED\xA0\x80\xFF") == "\\xc0\\x80\\xed\\xa0\\x80\\xff");
}

TEST_CASE("the limit counts the peer's bytes and cuts no character") {
  CHECK(printable(std::string(300, 'x')).size() == 200);
  CHECK(printable("abcdef", 3) == "abc");
  CHECK(printable("ab\xE2\x82\xAC", 3) == "ab");
  CHECK(printable("ab\xE2\x82\xAC", 4) == "ab");
  CHECK(printable("ab\xE2\x82\xAC", 5) == "ab\xE2\x82\xAC");
  CHECK(printable("\x80\x80\x80\x80\x80\x80", 5).size() <= 20);
}
