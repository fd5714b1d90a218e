#include "text/utf8.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "terminal/text.hpp"

using bridge::is_utf8;

namespace {

/// By the one that reads it code point by code point, for the terminal.
bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const client::CodePoint point = client::first_code_point(text);
    if (point.state != client::CodePoint::State::valid) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

}  // namespace

TEST_CASE("every two bytes, and every beginning of three and four, are judged as RFC 3629 says") {
  int valid = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string two{static_cast<char>(first), static_cast<char>(second)};
      for (const std::string& text : {two, two + '\x80', two + "\xBF\xBF", two + "\x80\x80\x80"}) {
        const bool is_right = is_utf8(text);
        valid += is_right ? 1 : 0;
        if (is_right != is_valid(text)) {
          CAPTURE(first);
          CAPTURE(second);
          CHECK(is_right == is_valid(text));
        }
      }
    }
  }
  CHECK(valid > 128 * 128);
  CHECK(is_utf8(""));
  for (std::size_t before = 0; before < 20; ++before) {  // whatever is taken in one step
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
