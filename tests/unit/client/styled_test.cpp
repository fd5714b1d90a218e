#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "render/table.hpp"
#include "terminal/styled.hpp"

using namespace client;

namespace {

const char* utf8_terminal(const char* name) {
  if (std::strcmp(name, "TERM") == 0) return "xterm";
  return std::strcmp(name, "LC_CTYPE") == 0 ? "en_GB.UTF-8" : nullptr;
}

const char* dumb(const char* name) {
  return std::strcmp(name, "TERM") == 0 ? "dumb" : "en_GB.UTF-8";
}

const char* overridden(const char* name) {
  if (std::strcmp(name, "LC_ALL") == 0) return "C";
  return std::strcmp(name, "NO_COLOR") == 0 ? "1" : "xterm.utf8";
}

}  // namespace

TEST_CASE("what is no terminal gets plain text of any length") {
  const Look look = choose_look(false, 80, 24, &utf8_terminal);
  CHECK_FALSE(look.colours);
  CHECK_FALSE(look.unicode);
  CHECK(look.width == 0);
  CHECK(look.height == 0);
}

TEST_CASE("a terminal gets what it can show and what its user wants") {
  const Look rich = choose_look(true, 80, 24, &utf8_terminal);
  CHECK(rich.colours);
  CHECK(rich.unicode);
  CHECK(rich.width == 80);
  const Look poor = choose_look(true, 80, 24, &dumb);
  CHECK_FALSE(poor.colours);
  CHECK_FALSE(poor.unicode);
  const Look plain = choose_look(true, 80, 24, &overridden);
  CHECK_FALSE(plain.colours);
  CHECK_FALSE(plain.unicode);
}

TEST_CASE(
    "a line has its tones only where there are colours, and is cut without losing its end of them") {
  StyledLine line;
  line.add("good", Tone::good).pad_to(6).add("b\x1b[31mad", Tone::bad);
  CHECK(line.draw({}) == "good  b\\u001b[31mad");
  CHECK(line.draw({true, false, 7, 0}) == "\x1b[32mgood\x1b[0m  \x1b[31mb\x1b[0m");
  CHECK(line.draw({true, false, 2, 0}) == "\x1b[32mgo\x1b[0m");
}

TEST_CASE("a gauge shows a little of a little, and is full only when it is") {
  CHECK(draw_gauge(0, 4, false) == "[----]");
  CHECK(draw_gauge(0.001, 4, false) == "[#---]");
  CHECK(draw_gauge(0.5, 4, false) == "[##--]");
  CHECK(draw_gauge(0.999, 4, false) == "[###-]");
  CHECK(draw_gauge(1, 4, false) == "[####]");
  CHECK(draw_gauge(7, 4, false) == "[####]");
  CHECK(draw_gauge(-1, 4, false) == "[----]");
  CHECK(draw_gauge(std::nan(""), 4, false) == "[----]");
  CHECK(draw_gauge(0, 2, true) == "░░");
  CHECK(draw_gauge(0.001, 2, true) == "▏░");
  CHECK(draw_gauge(0.5, 2, true) == "█░");
  CHECK(draw_gauge(0.999, 2, true) == "█▉");
  CHECK(draw_gauge(1, 2, true) == "██");
  CHECK(draw_gauge(1, 0, true).empty());
}

TEST_CASE("figures are short") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1 KiB");
  CHECK(size_text(1700) == "1.7 KiB");
  CHECK(size_text(16 << 20) == "16 MiB");
  CHECK(size_text(std::uint64_t{3} << 40) == "3.0 TiB");
  CHECK(time_text(9999) == "9999 us");
  CHECK(time_text(12000) == "12.0 ms");
  CHECK(time_text(250'000) == "250 ms");
  CHECK(time_text(61'500'000) == "61.5 s");
  CHECK(percent_text(1, 0).empty());
  CHECK(percent_text(0, 9) == "0 %");
  CHECK(percent_text(1, 100'000) == "< 0.1 %");
  CHECK(percent_text(2, 510) == "0.4 %");
  CHECK(percent_text(41, 100) == "41 %");
}
