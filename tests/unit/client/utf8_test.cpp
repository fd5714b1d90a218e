#include "text/utf8.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>
#include <string_view>

using bridge::is_utf8;

TEST_CASE(
    "every two bytes, and every beginning of three and four, are judged as another library does") {
  int valid = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string two{static_cast<char>(first), static_cast<char>(second)};
      for (const std::string& text : {two, two + '\x80', two + "\xBF\xBF", two + "\x80\x80\x80"}) {
        const bool is_right = is_utf8(text);
        valid += is_right ? 1 : 0;
        CAPTURE(first);
        CAPTURE(second);
        REQUIRE(is_right == simdjson::validate_utf8(text));
      }
    }
  }
  CHECK(valid > 128 * 128);
  CHECK(is_utf8(""));
  for (std::size_t before = 0; before < 20; ++before) {  // at each offset within a step
    const std::string ascii(before, 'a');
    CHECK(is_utf8(ascii));
    CHECK(is_utf8(ascii + "\xC3\xA4" + ascii));
    CHECK_FALSE(is_utf8(ascii + "\xFF" + ascii));
    CHECK_FALSE(is_utf8(ascii + "\xC3"));
  }
  CHECK(is_utf8("\xF4\x8F\xBF\xBF"));
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));
  CHECK_FALSE(is_utf8("\xC0\xAF"));
}
