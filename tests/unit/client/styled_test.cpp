#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "render/table.hpp"
#include "terminal/styled.hpp"
#include "text/columns.hpp"

using namespace client;
using bridge::display_width;

namespace {

std::map<std::string, const char*> variables;

Look look_at(bool is_terminal, std::map<std::string, const char*> environment) {
  variables = std::move(environment);
  return choose_look(is_terminal, 80, 24, [](const char* name) { return variables[name]; });
}

}  // namespace

TEST_CASE("a terminal gets what it can show and what its user wants, all else plain text") {
  const std::map<std::string, const char*> utf8 = {{"TERM", "xterm"}, {"LC_CTYPE", "en_GB.UTF-8"}};
  const Look rich = look_at(true, utf8);
  CHECK((rich.colours && rich.unicode));
  CHECK(rich.width == 80);
  for (const Look& poor :
       {look_at(false, utf8), look_at(true, {{"TERM", "dumb"}, {"LC_ALL", "en_GB.UTF-8"}}),
        look_at(true, {{"TERM", "xterm"},
                       {"LC_ALL", "C"},
                       {"LC_CTYPE", "en_GB.UTF-8"},
                       {"NO_COLOR", "1"}})}) {
    CHECK_FALSE(poor.colours);
    CHECK_FALSE(poor.unicode);
  }
  CHECK(look_at(false, utf8).width == 0);
  CHECK(look_at(false, utf8).height == 0);
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
  for (const double none : {0.0, -1.0, std::nan("")}) CHECK(draw_gauge(none, 4, false) == "[----]");
  CHECK(draw_gauge(0.001, 4, false) == "[#---]");
  CHECK(draw_gauge(0.5, 4, false) == "[##--]");
  CHECK(draw_gauge(0.999, 4, false) == "[###-]");
  for (const double all : {1.0, 7.0}) CHECK(draw_gauge(all, 4, false) == "[####]");
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

TEST_CASE("a progress line fits every width") {
  const Progress known{2, 4.0, "half \x1b[31m of it"};
  const Progress unknown{17, std::nullopt, "still going"};
  for (std::size_t width = 0; width < 120; ++width) {
    CAPTURE(width);
    CHECK(display_width(draw_progress(known, width)) <= width);
    CHECK(display_width(draw_progress(unknown, width)) <= width);
  }
  CHECK(draw_progress(known, 79).find('\x1b') == std::string::npos);
  CHECK(draw_progress({1, 2.0, ""}, 40) == "[###############--------------]  50% 1/2");
  CHECK(draw_progress(unknown, 40) == "17 still going");
  CHECK(draw_progress({5, 0.0, ""}, 40) == "5");
}

TEST_CASE("JSON is laid out for people, and nothing of it is lost") {
  for (const auto& [text, shown] : {
           std::pair(R"({"a":[1,{"b":"x,{\"y"}],"c":[],"d":{ }})",
                     "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"y\"\n    }\n  ],\n"
                     "  \"c\": [],\n  \"d\": {}\n}\n"),
           std::pair("[ 1e400 , true,\n\"\\\\\" ]\n", "[\n  1e400,\n  true,\n  \"\\\\\"\n]\n"),
           std::pair("{}", "{}\n"),
       })
    CHECK_MESSAGE(pretty_json(text, Look{}) == shown, text);
  Look colours;
  colours.colours = true;
  CHECK(pretty_json(R"({"a":"b","c":1})", colours) ==
        "{\n  \x1b[1m\"a\"\x1b[0m: \x1b[32m\"b\"\x1b[0m,\n  \x1b[1m\"c\"\x1b[0m: "
        "\x1b[33m1\x1b[0m\n}\n");
}
