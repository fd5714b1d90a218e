#include "http/server/http_connection.hpp"

#include <doctest/doctest.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "../../../words.hpp"
#include "../../event/simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// Accepts at most `room` bytes, and keeps them.
struct FakeStream final : ByteStream {
  Result read(char*, std::size_t) override { return {State::wants_read, 0}; }
  Result write(const iovec* pieces, std::size_t count) override {
    if (room == 0) return {State::wants_write, 0};
    const std::size_t before = taken.size();
    for (std::size_t n = 0; n < count; ++n)
      taken.append(static_cast<const char*>(pieces[n].iov_base), pieces[n].iov_len);
    taken.resize(std::min(taken.size(), before + room));
    room -= taken.size() - before;
    return {State::done, taken.size() - before};
  }
  std::string taken;
  std::size_t room = 1u << 20;
};

struct Written {
  explicit Written(std::string method = "GET", bool is_http_1_0 = false) {
    RequestHead head;
    head.method = std::move(method);
    head.is_http_1_0 = is_http_1_0;
    writer.begin(head);
  }
  /// Everything written, as head and body.
  std::pair<std::string, std::string> parts() {
    while (!writer.is_empty()) writer.write_to(stream);
    const std::size_t end = stream.taken.find("\r\n\r\n");
    REQUIRE(end != std::string::npos);
    return {stream.taken.substr(0, end), stream.taken.substr(end + 4)};
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  DateHeader date;
  ResponseWriter writer{loop, date};
  FakeStream stream;
};

std::string gathered(SendQueue& queue, std::size_t room) {
  std::array<iovec, 4> vectors{};
  const std::size_t count = queue.gather(vectors.data(), room);
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len).append("|");
  return text;
}

TEST_CASE("pieces leave in their order, however much of them is taken at a time") {
  SendQueue queue;
  CHECK(queue.empty());
  CHECK(gathered(queue, 4).empty());
  for (const char* piece : {"abc", "d", "efgh"}) queue.push(piece);
  CHECK(queue.bytes() == 8);
  CHECK(queue.memory() >= 8 + 3 * sizeof(std::string));
  CHECK(gathered(queue, 4) == "abc|d|efgh|");
  CHECK(gathered(queue, 2) == "abc|d|");
  queue.consume(2);
  CHECK(gathered(queue, 4) == "c|d|efgh|");
  queue.consume(3);
  CHECK(gathered(queue, 4) == "fgh|");
  CHECK(queue.bytes() == 3);
  CHECK(queue.memory() == sizeof(std::string) + std::string("efgh").capacity());
  CHECK(queue.consumed() == 5);
  queue.push("i");
  queue.consume(4);
  CHECK(queue.empty());
  CHECK(queue.bytes() == 0);
  CHECK(queue.consumed() == 9);
}

}  // namespace

TEST_CASE("a whole answer has its length in the head, and to HEAD no body") {
  for (const std::size_t size : {10u, 10'000u}) {
    const std::string body(size, 'x');
    for (const char* method : {"GET", "HEAD"}) {
      CAPTURE(method);
      Written t(method);
      t.writer.respond(text_response(200, body));
      const auto [head, sent] = t.parts();
      CHECK(contains(head, ("Content-Length: " + std::to_string(size)).c_str()));
      CHECK(sent == (std::string(method) == "HEAD" ? "" : body));
      CHECK(t.writer.keeps_connection());
      CHECK(t.writer.sent() == t.stream.taken.size());
    }
  }
}

TEST_CASE("a stream goes in chunks, to an HTTP/1.0 caller until the connection closes") {
  Written chunked;
  chunked.writer.begin_stream({200, "text/event-stream", {}, {}});
  chunked.writer.write_stream("data");
  chunked.writer.write_stream("");
  chunked.writer.end_stream();
  CHECK(chunked.parts().second == chunk_of("data") + std::string(last_chunk));
  CHECK(chunked.writer.keeps_connection());

  Written plain("GET", true);
  plain.writer.begin_stream({200, "text/event-stream", {}, {}});
  plain.writer.write_stream("data");
  plain.writer.end_stream();
  CHECK(plain.parts().second == "data");
  CHECK_FALSE(plain.writer.keeps_connection());
}

TEST_CASE("a peer that takes nothing blocks it, and the time of the last byte stands still") {
  Written t;
  t.stream.room = 5;
  t.writer.push("0123456789");
  const SteadyTime written = t.loop.now();
  CHECK(t.writer.write_to(t.stream).bytes == 5);
  CHECK_FALSE(t.writer.is_blocked());
  t.clock.advance(3s);
  CHECK(t.writer.write_to(t.stream).state == ByteStream::State::wants_write);
  CHECK(t.writer.is_blocked());
  CHECK(t.writer.last_written() == written);
  CHECK(t.writer.unsent() == 5);
  t.stream.room = 5;
  t.writer.unblock();
  CHECK(t.writer.write_to(t.stream).bytes == 5);
  CHECK(t.writer.last_written() == written + 3s);
  CHECK(t.stream.taken == "0123456789");
}
