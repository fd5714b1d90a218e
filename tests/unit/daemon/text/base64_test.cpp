#include "text/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;
using namespace std::string_literals;

TEST_CASE("Base64 of either alphabet is decoded, padded or not, and nothing else") {
  CHECK(decode_base64("") == std::string());
  CHECK(decode_base64("aGVsbG8=") == std::string("hello"));
  CHECK(decode_base64("aGVsbG8") == std::string("hello"));
  CHECK(decode_base64("aGVs\r\nbG8=") == std::string("hello"));
  CHECK(decode_base64("+/-_")->size() == 3);
  CHECK_FALSE(decode_base64("a"));
  CHECK_FALSE(decode_base64("a=b="));
  CHECK_FALSE(decode_base64("a b c"));
}

TEST_CASE("base64, with padding and for URLs") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xfb\xff\xfe") == "+//+");
  CHECK(base64url("\xfb\xff\xfe") == "-__-");
  CHECK(base64url("\0\xff"s) == "AP8");
}
