#include "text/visible_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "text/characters.hpp"

using namespace bridge;

namespace {

std::string text(std::initializer_list<std::uint32_t> points) {
  std::string out;
  for (const std::uint32_t point : points) append_utf8(out, point);
  return out;
}

}  // namespace

TEST_CASE(
    "control characters and bytes that are no UTF-8 become visible, line ends in a line too") {
  CHECK(make_visible("a\tb\nc") == "a\tb\nc");
  CHECK(make_visible("\x1b[31m") == "\\u001b[31m");
  CHECK(make_visible(std::string("\0\x07\r\x7f", 4)) == "\\u0000\\u0007\\r\\u007f");
  CHECK(make_visible("\xC2\x9B"
                     "31m") == "\\u009b31m");
  CHECK(make_visible("\xC2\xA0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") ==
        "\xC2\xA0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(make_visible("\x9b[31m") == "\\x9b[31m");
  CHECK(make_visible("\xC3") == "\\xc3");
  CHECK(make_visible("\xC0\x80") == "\\xc0\\x80");
  CHECK(make_visible("\xED\xA0\x80") == "\\xed\\xa0\\x80");
  CHECK(make_visible("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(make_visible("\xE2\x82 x") == "\\xe2\\x82 x");
  CHECK(make_visible_line("a\nb\tc") == "a\\nb\\tc");
}

TEST_CASE("what turns or hides text becomes visible") {
  // Bidi controls, separators, tags, invisible operators and fillers, annotations.
  for (const std::uint32_t point :
       {0x061CU, 0x200EU, 0x200FU, 0x202AU, 0x202EU, 0x2066U, 0x2069U, 0x2028U, 0x2029U,
        0x00ADU, 0x034FU, 0x115FU, 0x1160U, 0x180EU, 0x200BU, 0x200CU, 0x200DU, 0x2060U,
        0x2064U, 0x206FU, 0x3164U, 0xFEFFU, 0xFFA0U, 0xFFF9U, 0xFE0FU, 0xFE00U})
    CHECK_MESSAGE(make_visible(text({'a', point, 'b'})) == fmt::format("a\\u{:04x}b", point),
                  point);
  CHECK(make_visible(text({0xE0041})) == "\\udb40\\udc41");
  CHECK(make_visible(text({0xE0101})) == "\\udb40\\udd01");
}

TEST_CASE("joiners and selectors stay where a script or an emoji needs them, one at a time") {
  const std::string shown[] = {
      text({0x0645, 0x06CC, 0x200C, 0x062E, 0x0648, 0x0627, 0x0647, 0x0645}),  // Persian
      text({0x0915, 0x094D, 0x200D, 0x0937}),                                  // Devanagari
      text({0x1F468, 0x200D, 0x1F469, 0x200D, 0x1F467}),                       // a family
      text({0x2764, 0xFE0F, 0x200D, 0x1F525}),                                 // a heart on fire
      text({'1', 0xFE0F, 0x20E3}),                                             // a keycap
      text({0x845B, 0xE0100}),  // an ideograph's form
      text({0x1820, 0x180B})};  // Mongolian
  for (const std::string& one : shown) CHECK(make_visible(one) == one);
  CHECK(make_visible(text({0x1F600, 0xFE0F, 0xFE01})) == text({0x1F600, 0xFE0F}) + "\\ufe01");
  CHECK(make_visible(text({0x0645, 0x200C, 0x200D})) == text({0x0645, 0x200C}) + "\\u200d");
  CHECK(make_visible(text({0x043F, 0x200D})) == text({0x043F}) + "\\u200d");  // Cyrillic
}

TEST_CASE("a stream split anywhere gives what the whole gives") {
  const std::string whole =
      "a\xC2\x9B\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\x1b\xF0\x9F\x98\x80\xE2\x80\x8D\xE2\x80\xAE\xE2\x82";
  for (std::size_t split = 0; split <= whole.size(); ++split) {
    CAPTURE(split);
    VisibleText stream;
    std::string out = stream.feed(std::string_view(whole).substr(0, split));
    out += stream.feed(std::string_view(whole).substr(split));
    out += stream.finish();
    CHECK(out == make_visible(whole));
  }
}

TEST_CASE("visible ASCII up to the limit may stand in a header") {
  std::string all;
  for (int c = 0x21; c < 0x7F; ++c) all += static_cast<char>(c);
  CHECK(fits_header(all, all.size()));
  CHECK_FALSE(fits_header(all, all.size() - 1));
  CHECK(fits_header("x", 1));
  CHECK_FALSE(fits_header("", 100));
}

TEST_CASE("nothing else may, wherever it stands") {
  for (int c = 0; c < 256; ++c) {
    if (c >= 0x20 && c < 0x7F) continue;
    CAPTURE(c);
    for (const std::size_t at : {0U, 1U, 2U}) {
      std::string both = "ab";
      both.insert(at, 1, static_cast<char>(c));
      CHECK_FALSE(fits_header(both, 100));
      CHECK_FALSE(fits_header(both, 100, Blanks::inside));
    }
  }
}

TEST_CASE("blanks may stand between other characters where that is said") {
  CHECK_FALSE(fits_header("a b", 100));
  CHECK(fits_header("a  b", 100, Blanks::inside));
  for (const char* blank : {" a", "a ", " "}) CHECK_FALSE(fits_header(blank, 100, Blanks::inside));
}
