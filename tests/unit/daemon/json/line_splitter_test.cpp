#include "json/arriving_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../lines.hpp"

using bridge::LineSplitter;

namespace {

using Item = LineSplitter::Item;

void note(Lines& lines, const std::optional<Item>& item) {
  if (!item) return;
  if (const auto* const line = std::get_if<bridge::ReceivedText>(&*item))
    lines.push_back("line " + line->bytes);
  if (std::holds_alternative<LineSplitter::Oversized>(*item)) lines.push_back("oversized");
}

void read_into(Lines& lines, LineSplitter& splitter, std::string_view chunk) {
  while (const auto item = splitter.next(chunk)) note(lines, item);
}

Lines read(const std::vector<std::string_view>& chunks, std::size_t max_line, bool finish = true) {
  LineSplitter splitter(max_line);
  Lines lines;
  for (const std::string_view chunk : chunks) {
    read_into(lines, splitter, chunk);
    CHECK(splitter.pending_bytes() <= max_line + 1);
  }
  if (finish) {
    note(lines, splitter.finish());
    CHECK(splitter.pending_bytes() == 0);
  }
  return lines;
}

/// Whole, byte by byte, and cut in two and three at every point: all must report the same.
Lines read_every_way(std::string_view stream, std::size_t max_line) {
  const Lines whole = read({stream}, max_line);
  std::vector<std::string_view> bytes;
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    if (first < stream.size()) bytes.push_back(stream.substr(first, 1));
    for (std::size_t second = first; second <= stream.size(); ++second) {
      CAPTURE(first);
      CAPTURE(second);
      CHECK(read({stream.substr(0, first), stream.substr(first, second - first),
                  stream.substr(second)},
                 max_line) == whole);
    }
  }
  CHECK(read(bytes, max_line) == whole);
  return whole;
}

}  // namespace

TEST_CASE("lines end with LF, a CR before it goes, empty lines are nothing") {
  CHECK(read_every_way("a\nbc\r\n\n\r\nd e\n", 100) == Lines{"line a", "line bc", "line d e"});
}

TEST_CASE("only one CR goes, and only before the LF") {
  CHECK(read_every_way("a\rb\r\r\n\rc\n", 100) == Lines{"line a\rb\r", "line \rc"});
}

TEST_CASE("an unterminated last line is a line when the stream ends, not before") {
  CHECK(read({"a\nb"}, 100, false) == Lines{"line a"});
  CHECK(read({"a\nb"}, 100) == Lines{"line a", "line b"});
  CHECK(read({"a\nb\r"}, 100) == Lines{"line a", "line b"});
  CHECK(read({"a\n"}, 100) == Lines{"line a"});
  CHECK(read({"\r"}, 100).empty());
  CHECK(read({}, 100).empty());
}

TEST_CASE("a line of exactly the limit passes, with LF and with CR LF") {
  CHECK(read_every_way("1234\n1234\r\n1234", 4) == Lines{"line 1234", "line 1234", "line 1234"});
  CHECK(read_every_way("1234\r", 4) == Lines{"line 1234"});
}

TEST_CASE("one byte more is oversized, and the next line is read as usual") {
  CHECK(read_every_way("12345\nok\n", 4) == Lines{"oversized", "line ok"});
  CHECK(read_every_way("12345\r\nok\r\n", 4) == Lines{"oversized", "line ok"});
  CHECK(read_every_way("123\r5\nok\n", 4) == Lines{"oversized", "line ok"});
  CHECK(read_every_way("1234\r\r\nok\n", 4) == Lines{"oversized", "line ok"});
  CHECK(read_every_way("1234\r5\nok", 4) == Lines{"oversized", "line ok"});
}

TEST_CASE("a CR that stands at the limit inside the line is a byte of it") {
  CHECK(read_every_way("123\r\r\n", 4) == Lines{"line 123\r"});
}

TEST_CASE(
    "an oversized line is reported once, as soon as it is certain, and nothing of it is held") {
  LineSplitter splitter(4);
  Lines lines;
  read_into(lines, splitter, "1234");
  CHECK(lines.empty());
  read_into(lines, splitter, "5");
  CHECK(lines == Lines{"oversized"});
  CHECK(splitter.pending_bytes() == 0);
  read_into(lines, splitter, "678");
  read_into(lines, splitter, "9\n");
  CHECK(lines == Lines{"oversized"});
}

TEST_CASE("an oversized line that the end cuts off is no line") {
  CHECK(read_every_way("ok\n123456", 4) == Lines{"line ok", "oversized"});
}

TEST_CASE("several oversized lines are several reports") {
  CHECK(read_every_way("12345\n123456\nok\n12345", 4) ==
        Lines{"oversized", "oversized", "line ok", "oversized"});
}

TEST_CASE("bytes that are no text pass unchanged") {
  const std::string_view stream("a\0b\xff\n", 5);
  CHECK(read_every_way(stream, 100) == Lines{std::string("line a\0b\xff", 9)});
}

TEST_CASE("of an oversized line both ends are reported, however it was chunked") {
  const std::string line = "BEGIN" + std::string(2000, 'x') + "END";
  for (const std::size_t chunk : {1u, 7u, 300u, 5000u}) {
    CAPTURE(chunk);
    bridge::TextEnds ends;
    bridge::LineSplitter splitter(100);
    const std::string text = line + "\n";
    for (std::size_t at = 0; at < text.size(); at += chunk) {
      std::string_view part = std::string_view(text).substr(at, chunk);
      while (auto item = splitter.next(part)) {
        if (auto* const found = std::get_if<bridge::TextEnds>(&*item)) ends = std::move(*found);
      }
    }
    CHECK(ends.beginning() == line.substr(0, bridge::TextEnds::most));
    CHECK(ends.end() == line.substr(line.size() - bridge::TextEnds::most));
    CHECK(splitter.pending_bytes() == 0);
  }
}

TEST_CASE("a large line is known to be JSON, with LF and with CR LF") {
  const std::string large = "{\"a\":\"" + std::string(10'000, 'x') + "\"}";
  for (const std::string_view end : {"\n", "\r\n"}) {
    bridge::LineSplitter splitter(1u << 20);
    std::string_view beginning = large;
    std::string_view rest = end;
    CHECK(!splitter.next(beginning));
    const auto line = splitter.next(rest);
    REQUIRE(line);
    CHECK(std::get<bridge::ReceivedText>(*line).bytes == large);
    CHECK(std::get<bridge::ReceivedText>(*line).checked != nullptr);
  }
}
