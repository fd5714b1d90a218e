#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "terminal/styled.hpp"
#include "text/characters.hpp"
#include "text/columns.hpp"
#include "text/visible_text.hpp"

using namespace bridge;
using namespace client;

TEST_CASE("control characters become visible, line feed and tab stay") {
  CHECK(make_visible("a\tb\nc") == "a\tb\nc");
  CHECK(make_visible("\x1b[31m") == "\\u001b[31m");
  CHECK(make_visible(std::string("\0\x07\r\x7f", 4)) == "\\u0000\\u0007\\r\\u007f");
  CHECK(make_visible("\xC2\x9B"
                     "31m") == "\\u009b31m");
  CHECK(make_visible("\xC2\xA0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") ==
        "\xC2\xA0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST_CASE("what turns or hides text becomes visible") {
  const auto text = [](std::initializer_list<std::uint32_t> points) {
    std::string out;
    for (const std::uint32_t point : points) bridge::append_utf8(out, point);
    return out;
  };
  // Bidi controls, separators, tags, invisible operators and fillers, annotations.
  for (const std::uint32_t point :
       {0x061CU, 0x200EU, 0x200FU, 0x202AU, 0x202EU, 0x2066U, 0x2069U, 0x2028U, 0x2029U,
        0x00ADU, 0x034FU, 0x115FU, 0x1160U, 0x180EU, 0x200BU, 0x200CU, 0x200DU, 0x2060U,
        0x2064U, 0x206FU, 0x3164U, 0xFEFFU, 0xFFA0U, 0xFFF9U, 0xFE0FU, 0xFE00U}) {
    CAPTURE(point);
    CHECK(make_visible(text({'a', point, 'b'})) == fmt::format("a\\u{:04x}b", point));
  }
  CHECK(make_visible(text({0xE0041})) == "\\udb40\\udc41");
  CHECK(make_visible(text({0xE0101})) == "\\udb40\\udd01");
}

TEST_CASE("joiners and selectors stay where a script or an emoji needs them, one at a time") {
  const auto text = [](std::initializer_list<std::uint32_t> points) {
    std::string out;
    for (const std::uint32_t point : points) bridge::append_utf8(out, point);
    return out;
  };
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

TEST_CASE("bytes that are no UTF-8 become visible") {
  CHECK(make_visible("\x9b[31m") == "\\x9b[31m");
  CHECK(make_visible("\xC3") == "\\xc3");
  CHECK(make_visible("\xC0\x80") == "\\xc0\\x80");
  CHECK(make_visible("\xED\xA0\x80") == "\\xed\\xa0\\x80");
  CHECK(make_visible("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(make_visible("\xE2\x82 x") == "\\xe2\\x82 x");
}

TEST_CASE("a stream split anywhere gives what the whole gives") {
  const std::string text =
      "a\xC2\x9B\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\x1b\xF0\x9F\x98\x80\xE2\x80\x8D\xE2\x80\xAE\xE2\x82";
  for (std::size_t split = 0; split <= text.size(); ++split) {
    CAPTURE(split);
    VisibleText stream;
    std::string out = stream.feed(std::string_view(text).substr(0, split));
    out += stream.feed(std::string_view(text).substr(split));
    out += stream.finish();
    CHECK(out == make_visible(text));
  }
}

TEST_CASE("on one line means no line feed and no tab") {
  CHECK(make_visible_line("a\nb\tc") == "a\\nb\\tc");
}

TEST_CASE("columns count wide and combining characters") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xE4\xB8\xAD\xE6\x96\x87") == 4);
  CHECK(display_width("e\xCC\x81") == 1);
  CHECK(fit_columns("\xE4\xB8\xAD\xE6\x96\x87", 3) == "\xE4\xB8\xAD");
  CHECK(fit_columns("abc", 0).empty());
}

TEST_CASE("text is wrapped at spaces with an indent") {
  CHECK(wrap("one two three", 0, 0) == "one two three");
  CHECK(wrap("aaaaaaaaaa bbbbbbbbb cccc", 2, 22) == "aaaaaaaaaa bbbbbbbbb\n  cccc");
  CHECK(wrap("a\nb", 2, 40) == "a\n  b");
  CHECK(wrap("  spaces   inside \n\n", 0, 40) == "spaces inside");
  CHECK(wrap(std::string(45, 'x'), 0, 20) ==
        std::string(20, 'x') + "\n" + std::string(20, 'x') + "\n" + std::string(5, 'x'));
  CHECK(wrap("", 4, 40).empty());
}

TEST_CASE("progress is read only for the right token") {
  const std::string params = R"({"progressToken":1,"progress":2,"total":4,"message":"half"})";
  const auto progress = read_progress(params, "1");
  REQUIRE(progress);
  CHECK(progress->done == 2);
  CHECK(progress->total == 4.0);
  CHECK(progress->message == "half");
  CHECK_FALSE(read_progress(params, "2"));
  CHECK_FALSE(read_progress(R"({"progressToken":"1","progress":2})", "1"));
  CHECK_FALSE(read_progress(R"({"progressToken":1})", "1"));
  CHECK_FALSE(read_progress("", "1"));
}

TEST_CASE("a bar keeps its bounds") {
  CHECK(draw_bar(0, 4) == "[----]");
  CHECK(draw_bar(0.5, 4) == "[##--]");
  CHECK(draw_bar(1, 4) == "[####]");
  CHECK(draw_bar(7, 4) == "[####]");
  CHECK(draw_bar(-1, 4) == "[----]");
  CHECK(draw_bar(std::nan(""), 4) == "[----]");
}

TEST_CASE("a progress line fits every width") {
  const Progress known{2, 4.0, "half \x1b[31m of it"};
  const Progress unknown{17, std::nullopt, "still going"};
  for (std::size_t width = 0; width < 120; ++width) {
    CAPTURE(width);
    CHECK(display_width(draw_progress(known, width)) <= width);
    CHECK(display_width(draw_progress(unknown, width)) <= width);
  }
  CHECK(draw_progress(known, 79).find('\x1b') == std::string::npos);
  CHECK(draw_progress({1, 2.0, ""}, 40) == "[##############---------------]  50% 1/2");
  CHECK(draw_progress(unknown, 40) == "17 still going");
  CHECK(draw_progress({5, 0.0, ""}, 40) == "5");
}
