#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../lines.hpp"
#include "http/sse_parser.hpp"
#include "sse_transcript.hpp"

namespace {

/// Reads the stream whole, byte by byte, and cut in two and in three at every point; all must
/// report the same.
Lines read_every_way(const std::string& stream, std::size_t max_event) {
  SseTranscript whole(max_event);
  whole.feed(stream);
  const auto same = [&](const std::vector<std::size_t>& cuts) {
    SseTranscript split(max_event);
    std::size_t from = 0;
    for (const std::size_t cut : cuts) {
      split.feed(std::string_view(stream).substr(from, cut - from));
      from = cut;
    }
    split.feed(std::string_view(stream).substr(from));
    if (split.lines == whole.lines && split.ends == whole.ends &&
        split.parser.last_event_id() == whole.parser.last_event_id()) {
      return true;
    }
    CAPTURE(stream);
    CAPTURE(cuts.front());
    CAPTURE(cuts.back());
    CHECK(split.lines == whole.lines);
    CHECK(split.ends == whole.ends);
    CHECK(split.parser.last_event_id() == whole.parser.last_event_id());
    return false;
  };
  std::vector<std::size_t> all;
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    all.push_back(first);
    for (std::size_t second = first; second <= stream.size(); ++second) {
      if (!same({first, second})) return whole.lines;
    }
  }
  CHECK(same(all));
  return whole.lines;
}

}  // namespace

TEST_CASE("a stream reads the same however it is cut") {
  CHECK(read_every_way(
            "\xEF\xBB\xBF: hi\r\nid: 1\r\ndata:\r\n\r\nretry: 500\revent: message\rid: 2\r"
            "data: {\"a\":\rdata: \"\xC3\xA9\"}\r\rdata\n\nid\n: c\ndata: z\n\r\n\n",
            1000) == Lines{"event ||1", "retry 500", "event message|{\"a\":\n\"\xC3\xA9\"}|2",
                           "event ||2", "event |z|"});
}

TEST_CASE("an event of exactly the limit passes, one byte more does not") {
  CHECK(read_every_way("data: 12345678\n\n", 8) == Lines{"event |12345678|"});
  CHECK(read_every_way("data:12345678\n\n", 8) == Lines{"event |12345678|"});
  CHECK(read_every_way("data: 123456789\n\n", 8) == Lines{"oversized"});
  CHECK(read_every_way("data:123456789\n\n", 8) == Lines{"oversized"});
  CHECK(read_every_way("data: 1234\ndata: 567\n\n", 8) == Lines{"event |1234\n567|"});
  CHECK(read_every_way("data: 1234\ndata: 5678\n\n", 8) == Lines{"oversized"});
  CHECK(read_every_way("data: 12345678\ndata\n\n", 8) == Lines{"oversized"});
}

TEST_CASE("after an oversized event the next one is read as usual, and its id counts") {
  CHECK(read_every_way("id: 1\ndata: 123456789\ndata: more\nid: 2\nevent: x\n\ndata: ok\n\n", 8) ==
        Lines{"oversized", "event |ok|2"});
  CHECK(read_every_way("data: 123456789\r\n\r\nretry: 7\r\ndata: ok\r\n\r\n", 8) ==
        Lines{"oversized", "retry 7", "event |ok|"});
}

TEST_CASE("an oversized event is reported once, as soon as that is certain") {
  SseTranscript transcript(8);
  transcript.feed("data: 12345678");
  CHECK(transcript.lines.empty());
  transcript.feed("9");
  CHECK(transcript.lines == Lines{"oversized"});
  transcript.feed("more\ndata: more\n\n");
  CHECK(transcript.lines == Lines{"oversized"});
}

TEST_CASE("both ends of an oversized event are told when it is over, however it was chunked") {
  const auto ends_of = [](const std::string& stream, std::size_t chunk) {
    SseTranscript transcript(8);
    for (std::size_t at = 0; at < stream.size(); at += chunk)
      transcript.feed(std::string_view(stream).substr(at, chunk));
    return transcript.ends;
  };
  const std::string text = "BEGIN" + std::string(9000, 'x') + "END";
  const std::string ends = text.substr(0, 256) + '|' + text.substr(text.size() - 256);
  for (const std::size_t chunk : {1u, 7u, 300u, 5000u, 10000u}) {
    CAPTURE(chunk);
    CHECK(ends_of("data: " + text, chunk).empty());
    CHECK(ends_of("data: " + text + "\n\ndata: ok\n\n", chunk) == Lines{ends});
    CHECK(ends_of("id: 1\r\ndata:" + text + "\r\n: no data\r\n\r\n", chunk) == Lines{ends});
    CHECK(ends_of("data: {\ndata: 123456789\n:" + text + "\ndata\ndata:}\n\n", chunk) ==
          Lines{"{ 123456789  }|{ 123456789  }"});
  }
}

TEST_CASE("only data counts against the limit: not comments, not other fields") {
  const std::string long_text(60, 'c');
  CHECK(read_every_way(": " + long_text + "\ndata: 12345678\n\n", 8) == Lines{"event |12345678|"});
  CHECK(read_every_way("data: 12345678\n:" + long_text + "\n\n", 8) == Lines{"event |12345678|"});
  CHECK(read_every_way("data: 12345678\nid: " + long_text + "\n\n", 8) ==
        Lines{"event |12345678|" + long_text});
  CHECK(read_every_way("data: 12345678\nfoo: " + long_text + "\n\n", 8) ==
        Lines{"event |12345678|"});
}

TEST_CASE("what is held stays bounded, whatever comes") {
  const std::string chunk(1000, 'x');
  for (const char* begin : {"data: ", ": ", "id: ", "event: ", "foo", "data: 1\ndata: "}) {
    CAPTURE(begin);
    SseTranscript transcript(2000);
    transcript.feed(begin);
    std::size_t most = 0;
    for (int i = 0; i < 100; ++i) {
      transcript.feed(chunk);
      most = std::max(most, transcript.parser.pending_bytes());
    }
    CHECK(most <= 2000 + 4096 + 1000);
    transcript.feed("\n\nid\ndata: ok\n\n");
    CHECK(transcript.lines.back() == "event |ok|");
  }
}

TEST_CASE("a byte order mark after a first line that was thrown away is no mark") {
  SseTranscript transcript(8);
  transcript.feed(":" + std::string(5000, 'c'));
  transcript.feed(
      "\n\xEF\xBB\xBF"
      "data: no\n\n");
  CHECK(transcript.lines.empty());
}
