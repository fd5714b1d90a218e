#include "http/request.hpp"

#include <doctest/doctest.h>

namespace bridge {
namespace {

using Event = RequestReader::Event;

/// Everything that is read from a connection's bytes, cut into pieces of `size`.
std::string transcript(std::string_view bytes, std::size_t size, std::size_t max_body = 100) {
  RequestReader reader(max_body);
  std::string result;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(piece.size());
    for (;;) {
      const Event event = reader.advance(piece);
      if (event == Event::more) break;
      if (event == Event::fault) return result + std::to_string(reader.fault().status);
      if (event == Event::head) {
        result += reader.head().method + ' ' + reader.head().path + ' ';
      } else {
        result += '[' + reader.take_body().bytes + "] ";
        reader.next();
        if (piece.empty()) break;
      }
    }
  }
  return result + (reader.is_idle() ? "" : "…");
}

/// The same for every way to cut them.
std::string read_as(std::string_view bytes, std::size_t max_body = 100) {
  const std::string whole = transcript(bytes, bytes.size(), max_body);
  for (const std::size_t size : {1u, 2u, 3u, 7u}) CHECK(transcript(bytes, size, max_body) == whole);
  return whole;
}

const std::string post = "POST /mcp HTTP/1.1\r\nHost: a\r\n";
const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";

TEST_CASE("requests follow one another on a connection") {
  CHECK(read_as(post + "Content-Length: 2\r\n\r\n{}" + "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n") ==
        "POST /mcp [{}] GET /x [] ");
  CHECK(read_as(post + "Content-Length: 3\r\n\r\n{}") == "POST /mcp …");
}

TEST_CASE("a chunked body is put together, extensions and trailers are skipped") {
  CHECK(read_as(chunked + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n" + post + "\r\n") ==
        "POST /mcp [abc0123456789] POST /mcp [] ");
}

TEST_CASE("chunks that are no chunks are refused") {
  CHECK(read_as(chunked + "x\r\n") == "POST /mcp 400");
  CHECK(read_as(chunked + "\r\n") == "POST /mcp 400");
  CHECK(read_as(chunked + "3\nabc") == "POST /mcp 400");
  CHECK(read_as(chunked + "3\r\nabcd\r\n") == "POST /mcp 400");
  CHECK(read_as(chunked + "-1\r\n") == "POST /mcp 400");
}

TEST_CASE("what other parsers could read differently in a chunk's line is refused") {
  for (const std::string line :
       {"3 ", "3\t", "3 ;a", "3\t;a", " 3", "3;a\rb", "3\r", "3;a\001b", "3;\x7f", "0 ", "0;\r"}) {
    CAPTURE(line);
    CHECK(read_as(chunked + line + "\r\nabc\r\n0\r\n\r\n") == "POST /mcp 400");
  }
  CHECK(read_as(chunked + "3;a=\"b c\"; d\r\nabc\r\n0\r\n\r\n") == "POST /mcp [abc] ");
}

TEST_CASE("a trailer that is no header line is refused") {
  for (const std::string line :
       {"GET / HTTP/1.1", "T", ": v", "T : v", " T: v", "T: a\rb", "T: \001"}) {
    CAPTURE(line);
    CHECK(read_as(chunked + "0\r\n" + line + "\r\n\r\n") == "POST /mcp 400");
  }
  CHECK(read_as(chunked + "0\r\nT: v\r\nU:\r\n\r\n") == "POST /mcp [] ");
}

TEST_CASE("a large body is checked while it arrives, whichever way its length is told") {
  const auto taken = [](const std::string& head, const std::string& body, std::string_view end) {
    RequestReader reader(1 << 20);
    const std::string bytes = head + body + std::string(end);
    for (std::size_t at = 0; at < bytes.size(); at += 1000) {
      std::string_view piece = std::string_view(bytes).substr(at, 1000);
      while (!piece.empty() && reader.advance(piece) == Event::head) {
      }
    }
    std::string_view nothing;
    REQUIRE(reader.advance(nothing) == Event::complete);
    ReceivedText text = reader.take_body();
    CHECK(text.bytes == body);
    return text;
  };
  const auto of_length = [&](const std::string& body) {
    return taken(post + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n", body, "");
  };
  const std::string padding(300'000, 'x');
  const std::string message = R"({"params":{"a":")" + padding + "\"},\n\"id\":1}";
  const ReceivedText known = of_length(message);
  REQUIRE(known.checked);
  CHECK(known.checked->has_line_breaks);
  CHECK(known.checked->value_at(message.find('{', 1)) != nullptr);
  CHECK_FALSE(of_length("{\"a\":\"" + padding + "\"").checked);
  CHECK_FALSE(of_length("a=" + padding).checked);
  CHECK_FALSE(of_length("{}").checked);  // nothing is known of a small one
  CHECK(
      taken(chunked + "493df\r\n", R"({"a":")" + std::string(299'991, 'x') + "\"}", "\r\n0\r\n\r\n")
          .checked);
}

TEST_CASE("a body over the limit is refused, whichever way its length is told") {
  CHECK(read_as(post + "Content-Length: 11\r\n\r\n", 10) == "413");
  CHECK(read_as(chunked + "b\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "6\r\nabcdef\r\n5\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "fffffffffffffffff\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "a\r\n0123456789\r\n0\r\n\r\n", 10) == "POST /mcp [0123456789] ");
}

TEST_CASE("heads, chunk lines and trailers are bounded") {
  CHECK(read_as("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(RequestReader::max_head, 'x')) ==
        "431");
  CHECK(read_as(chunked + "1;" + std::string(RequestReader::max_line, 'x')) == "POST /mcp 400");
  std::string trailer = chunked + "0\r\n";
  for (int i = 0; i < 100; ++i) trailer += "T: " + std::string(100, 't') + "\r\n";
  CHECK(read_as(trailer) == "POST /mcp 431");
}

TEST_CASE("a client that ends lines with LF alone is told, not waited for") {
  CHECK(read_as("GET / HTTP/1.1\nHost: a\n\n") == "400");
}

}  // namespace
}  // namespace bridge
