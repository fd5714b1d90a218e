#include "text/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

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
