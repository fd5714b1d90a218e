#include "http/sse_parser.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../lines.hpp"
#include "text/visible_text.hpp"

using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

/// Records what a parser reports, one line each, with the id at that moment.
class SseTranscript final : public bridge::SseSink {
 public:
  explicit SseTranscript(std::size_t max_event) : parser(max_event) {}

  void feed(std::string_view chunk) { parser.feed(chunk, *this); }

  void on_event(std::string type, bridge::ReceivedText data) override {
    lines.push_back("event " + type + '|' + data.bytes + '|' + parser.last_event_id());
  }
  void on_retry(std::chrono::milliseconds delay) override {
    lines.push_back("retry " + std::to_string(delay.count()));
  }
  void on_oversized_event() override { lines.push_back("oversized"); }
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override {
    ends.push_back(std::string(beginning) + '|' + std::string(end));
  }

  bridge::SseParser parser;
  std::vector<std::string> lines;
  std::vector<std::string> ends;  ///< of the oversized ones
};

Lines read(std::string_view stream, std::size_t max_event = 1000) {
  SseTranscript transcript(max_event);
  transcript.feed(stream);
  return transcript.lines;
}

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

TEST_CASE("an event ends with an empty line, whatever the line ends are") {
  const Lines expected = {"event |a|", "event |b|"};
  CHECK(read("data: a\n\ndata: b\n\n") == expected);
  CHECK(read("data: a\r\n\r\ndata: b\r\n\r\n") == expected);
  CHECK(read("data: a\r\rdata: b\r\r") == expected);
  CHECK(read("data: a\n\r\ndata: b\r\n\n") == expected);
  CHECK(read("data: a\r\n\rdata: b\n\r") == expected);
}

TEST_CASE("CR LF is one line end, LF CR are two") {
  CHECK(read("data: a\r\ndata: b\r\n\r\n") == Lines{"event |a\nb|"});
  CHECK(read("data: a\n\rdata: b\n\r") == Lines{"event |a|", "event |b|"});
}

TEST_CASE("a byte order mark is skipped at the very start only") {
  CHECK(read("\xEF\xBB\xBF"
             "data: a\n\n") == Lines{"event |a|"});
  CHECK(read("\xEF\xBB\xBF\n\ndata: a\n\n") == Lines{"event |a|"});
  CHECK(read("data: a\n\n\xEF\xBB\xBF"
             "data: b\n\n") == Lines{"event |a|"});
  CHECK(read("\xEF\xBB\xBF\xEF\xBB\xBF"
             "data: a\n\n")
            .empty());
}

TEST_CASE("comments are nothing, not even inside an event") {
  CHECK(read(": hello\n\n:\n:data: no\n\n").empty());
  CHECK(read("data: a\n: between\ndata: b\n\n") == Lines{"event |a\nb|"});
}

TEST_CASE("data lines are joined by a line feed, and one blank after the colon goes") {
  CHECK(read("data:a\ndata: b\ndata:  c\ndata\ndata:\n\n") == Lines{"event |a\nb\n c\n\n|"});
  CHECK(read("data: a:b: c\n\n") == Lines{"event |a:b: c|"});
  CHECK(read("data:\ta\n\n") == Lines{"event |\ta|"});
}

TEST_CASE("an event without data is none, its type is not kept") {
  CHECK(read("event: first\n\ndata: a\n\n") == Lines{"event |a|"});
  CHECK(read("\n\n\n").empty());
}

TEST_CASE("the type belongs to its own event, the last one counts") {
  CHECK(read("event: x\nevent: message\ndata: a\n\ndata: b\n\n") ==
        Lines{"event message|a|", "event |b|"});
  CHECK(read("data: a\nevent:late\n\n") == Lines{"event late|a|"});
}

TEST_CASE("an empty data is a priming event, reported for its id") {
  CHECK(read("id: 7\ndata:\n\n") == Lines{"event ||7"});
  CHECK(read("id: 7\ndata: \n\n") == Lines{"event ||7"});
  CHECK(read("id: 7\n\n") == Lines{"event ||7"});
}

TEST_CASE("an id lasts until another one comes, and counts only with its event complete") {
  CHECK(read("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n") ==
        Lines{"event |a|1", "event |b|1", "event |c|2"});
  SseTranscript cut(1000);
  cut.feed("id: 1\ndata: a\n\nid: 2\ndata: b\n");
  CHECK(cut.parser.last_event_id() == "1");
  cut.feed("\n");
  CHECK(cut.parser.last_event_id() == "2");
}

TEST_CASE("an empty id takes the id back, one with a NUL is ignored") {
  CHECK(read("id: 1\ndata: a\n\nid\ndata: b\n\n") == Lines{"event |a|1", "event |b|"});
  CHECK(read("id: 1\ndata: a\n\nid: 2\0x\ndata: b\n\n"sv) == Lines{"event |a|1", "event |b|1"});
}

TEST_CASE("an id longer than any real one takes the one before it back, and fits in no header") {
  const std::string limit(4096, 'i');
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}, std::size_t{100000}}) {
    CAPTURE(chunk);
    SseTranscript transcript(10);
    const std::string stream = "id: " + limit + "\ndata: a\n\nid: " + limit + "i\ndata: b\n\n";
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
      transcript.feed(std::string_view(stream).substr(at, chunk));
    }
    const std::string cut = limit + 'i';
    CHECK(transcript.lines == Lines{"event |a|" + limit, "event |b|" + cut});
    CHECK_FALSE(transcript.parser.event_had_id());

    transcript.feed("id: 1\ndata: c\n\nid: " + std::string(9000, 'i') + "\0\ndata: d\n"s);
    CHECK(transcript.parser.last_event_id() == "1");  // its event is not complete
    transcript.feed("\ndata: e\n\n");
    CHECK(transcript.lines.back() == "event |e|" + cut);
    CHECK_FALSE(bridge::fits_header(transcript.parser.last_event_id(),
                                    bridge::header_limit::event_id, bridge::Blanks::inside));
    transcript.feed("id: " + cut + "\nid: 2\ndata: f\n\n");
    CHECK(transcript.lines.back() == "event |f|2");
    CHECK(transcript.parser.event_had_id());
  }
}

TEST_CASE("a type of 4096 bytes is taken and a longer one ignored, however it arrives") {
  const std::string limit(4096, 't');
  const std::string stream = "event: " + limit + "\ndata: a\n\nevent: " + limit + "t\ndata: b\n\n";
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{100000}}) {
    CAPTURE(chunk);
    SseTranscript transcript(10);
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
      transcript.feed(std::string_view(stream).substr(at, chunk));
    }
    CHECK(transcript.lines == Lines{"event " + limit + "|a|", "event |b|"});
  }
}

TEST_CASE("retry is a whole number of milliseconds and nothing else") {
  CHECK(read("retry: 500\n") == Lines{"retry 500"});
  CHECK(read("retry:0\n") == Lines{"retry 0"});
  CHECK(read("retry: 1.5\nretry: -1\nretry: 1s\nretry:\nretry\nretry:  1\nretry: +1\n").empty());
  CHECK(read("retry: 99999999999999999999\n").empty());
}

TEST_CASE("unknown fields and names with blanks are ignored") {
  CHECK(read("foo: bar\nDATA: no\n data: no\ndata : no\ndatax: no\ndat: no\n\n").empty());
}

TEST_CASE("an event that the end cuts off is never reported") {
  CHECK(read("data: a\n\ndata: b").size() == 1);
  CHECK(read("data: a\n\ndata: b\n").size() == 1);
}

TEST_CASE("the id to resume from can be given") {
  SseTranscript transcript(1000);
  transcript.parser.restart("before");
  transcript.feed("data: a\n\n");
  CHECK(transcript.lines == Lines{"event |a|before"});
}

TEST_CASE("nothing is held between two events") {
  SseTranscript transcript(1000);
  transcript.feed("data: abc\ndata: d");
  CHECK(transcript.parser.pending_bytes() == 3 + 1 + 1);
  transcript.feed("\n\n");
  CHECK(transcript.parser.pending_bytes() == 0);
}

TEST_CASE(
    "the data of a large event is known to be JSON, in one line or several, however it was cut") {
  struct Last final : bridge::SseSink {
    void on_event(std::string, bridge::ReceivedText text) override { data = std::move(text); }
    void on_retry(std::chrono::milliseconds) override {}
    void on_oversized_event() override {}
    bridge::ReceivedText data;
  };
  const std::string large(10'000, 'x');
  const std::string stream =
      "event: message\ndata: {\"a\":\r\ndata:\ndata: \"" + large + "\"\ndata: }\n\n";
  for (const std::size_t chunk : {5u, 20'000u}) {
    CAPTURE(chunk);
    Last last;
    bridge::SseParser parser(1u << 20);
    for (std::size_t at = 0; at < stream.size(); at += chunk)
      parser.feed(std::string_view(stream).substr(at, chunk), last);
    CHECK(last.data.bytes == "{\"a\":\n\n\"" + large + "\"\n}");
    REQUIRE(last.data.checked != nullptr);
    CHECK(last.data.checked->has_line_breaks);
    CHECK(last.data.checked->values.size() == 1);
  }
}

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
