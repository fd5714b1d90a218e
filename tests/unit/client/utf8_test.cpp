#include "text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using bridge::is_utf8;

namespace {

/// By the table of RFC 3629, section 4.
bool is_valid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t offset) {
      return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
    };
    const auto is_within = [&](std::size_t offset, unsigned lowest, unsigned highest) {
      return byte(offset) >= lowest && byte(offset) <= highest;
    };
    const auto is_tail = [&](std::size_t offset) { return is_within(offset, 0x80, 0xBF); };
    if (byte(0) < 0x80) {
      at += 1;
    } else if (is_within(0, 0xC2, 0xDF) && is_tail(1)) {
      at += 2;
    } else if (is_within(0, 0xE0, 0xEF) &&
               is_within(1, byte(0) == 0xE0 ? 0xA0 : 0x80, byte(0) == 0xED ? 0x9F : 0xBF) &&
               is_tail(2)) {
      at += 3;
    } else if (is_within(0, 0xF0, 0xF4) &&
               is_within(1, byte(0) == 0xF0 ? 0x90 : 0x80, byte(0) == 0xF4 ? 0x8F : 0xBF) &&
               is_tail(2) && is_tail(3)) {
      at += 4;
    } else {
      return false;
    }
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
