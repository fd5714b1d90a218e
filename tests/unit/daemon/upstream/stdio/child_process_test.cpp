// Which lines of a child's stdout are messages, and how those to its stdin are written.
#include "upstream/stdio/child_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

using namespace bridge;

namespace {

constexpr UpstreamId id(std::uint64_t number) { return static_cast<UpstreamId>(number); }

/// A pipe that does not block.
struct Pipe {
  Pipe() { REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0); }
  ~Pipe() {
    close(ends[1]);
    if (ends[0] >= 0) close(ends[0]);
  }
  std::string read_all() const {
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t length = 0; (length = read(ends[0], buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(length));
    }
    return all;
  }
  int ends[2];
};

}  // namespace

TEST_CASE("a message and an array of messages are messages") {
  CHECK(is_message(R"({"jsonrpc":"2.0","method":"notifications/x"})"));
  CHECK(is_message(R"( 	{"jsonrpc":"2.0","id":1,"result":{}})"));
  CHECK(is_message(R"([{"jsonrpc":"2.0","method":"notifications/x"}])"));
  // A request waits for it.
  CHECK(is_message(R"({"jsonrpc":"2.0","id":1,"result":{},"Result":{}})"));
}

TEST_CASE("what a program prints for people is none") {
  for (const char* line : {"", "  ", "listening on 127.0.0.1", "3", "\"jsonrpc\"", "{starting}",
                           R"({"level":"info"})", "[1, 2", "[]"})
    CHECK_FALSE_MESSAGE(is_message(line), line);
}

TEST_CASE("of a last line without its end only a whole message counts") {
  CHECK(is_whole_message(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  CHECK(is_whole_message(R"([{"jsonrpc":"2.0","method":"notifications/x"}])"));
  const std::string padding(100'000, ' ');
  for (const auto& line :
       {std::string(R"({"jsonrpc":"2.0","id":1,"result":{"conte)"),
        R"({"jsonrpc":"2.0",)" + padding,
        std::string(R"([{"jsonrpc":"2.0","method":"notifications/x"})"), std::string()})
    CHECK_FALSE_MESSAGE(is_whole_message(line), line);
}

TEST_CASE("a long line counts if it names the protocol near one of its ends") {
  const std::string padding(100'000, ' ');
  CHECK(is_message(R"({"jsonrpc":"2.0",)" + padding));
  CHECK(is_message("{" + padding + R"("jsonrpc":"2.0"})"));
  CHECK_FALSE(is_message("{" + padding + "}"));
  CHECK_FALSE(is_message("x" + padding + R"("jsonrpc":"2.0"})"));
}

TEST_CASE("frames are written as lines, in order") {
  Pipe pipe;
  FrameQueue queue;
  std::vector<QueuedFrame> written;
  queue.push(id(1), "one");
  queue.push(id(2), "");
  queue.push(id(3), "three");
  CHECK(queue.bytes() == 11);
  CHECK(queue.write_to(pipe.ends[1], written) == FrameQueue::State::empty);
  CHECK(pipe.read_all() == "one\n\nthree\n");
  REQUIRE(written.size() == 3);
  CHECK(written[2].id == id(3));
  CHECK(written[2].body == "three");
  CHECK(written[0].begin == 0);
  CHECK(written[2].begin == 5);
  CHECK(queue.position() == 11);
  CHECK(queue.bytes() == 0);
}

TEST_CASE("more frames than one call takes are all written") {
  Pipe pipe;
  FrameQueue queue;
  std::vector<QueuedFrame> written;
  std::string expected;
  for (std::uint64_t n = 1; n <= 500; ++n) {
    queue.push(id(n), std::to_string(n));
    expected += std::to_string(n) + '\n';
  }
  CHECK(queue.write_to(pipe.ends[1], written) == FrameQueue::State::empty);
  CHECK(pipe.read_all() == expected);
  CHECK(written.size() == 500);
}

TEST_CASE("a full pipe leaves the rest for later, to the byte") {
  Pipe pipe;
  FrameQueue queue;
  std::vector<QueuedFrame> written;
  const std::string big(200'000, 'a');
  queue.push(id(1), big);
  queue.push(id(2), "two");
  std::string seen;
  CHECK(queue.write_to(pipe.ends[1], written) == FrameQueue::State::blocked);
  CHECK(written.empty());
  CHECK(queue.bytes() < big.size());
  while (queue.write_to(pipe.ends[1], written) == FrameQueue::State::blocked)
    seen += pipe.read_all();
  seen += pipe.read_all();
  CHECK(seen == big + "\ntwo\n");
  REQUIRE(written.size() == 2);
  CHECK(written[0].body == big);
  CHECK(written[0].begin == 0);
  CHECK(written[1].begin == big.size() + 1);
}

TEST_CASE("a frame can be taken out until its first byte is written") {
  Pipe pipe;
  FrameQueue queue;
  std::vector<QueuedFrame> written;
  queue.push(id(1), std::string(200'000, 'a'));
  queue.push(id(2), "two");
  queue.push(id(3), "three");
  CHECK(queue.remove(id(3)));
  CHECK_FALSE(queue.remove(id(3)));
  queue.write_to(pipe.ends[1], written);
  CHECK_FALSE(queue.remove(id(1)));
  CHECK(queue.remove(id(2)));
  bool begun = false;
  const auto rest = queue.take_all(begun);
  CHECK(begun);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].body.size() == 200'000);
  CHECK(queue.bytes() == 0);
}

TEST_CASE("that nobody reads any more is told") {
  signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  close(std::exchange(pipe.ends[0], -1));
  FrameQueue queue;
  std::vector<QueuedFrame> written;
  queue.push(id(1), "x");
  CHECK(queue.write_to(pipe.ends[1], written) == FrameQueue::State::broken);
}
