#include "base/log_sinks.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

std::string text_of(const LogFields& fields, std::string_view message) {
  std::string line;
  append_text_line(line, fields, message);
  return line;
}

std::string json_of(const LogFields& fields, std::string_view message) {
  std::string line;
  const std::chrono::system_clock::time_point time(1'767'225'600'042ms);  // 2026-01-01
  append_json_line(line, time, LogLevel::warning, "request failed", fields, message);
  return line;
}

const LogFields all = {.client = ClientId{3},
                       .request = "\"a\"",
                       .upstream = UpstreamId{17},
                       .method = "tools/call",
                       .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                       .outcome = "ok",
                       .duration = 1500us};

/// A pipe of two pages.
class Pipe {
 public:
  Pipe() {
    REQUIRE(pipe2(ends_, O_CLOEXEC) == 0);
    capacity_ = static_cast<std::size_t>(fcntl(ends_[1], F_SETPIPE_SZ, 8192));
  }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int input() const { return ends_[1]; }
  std::size_t capacity() const { return capacity_; }
  std::string read_once() const {
    std::string text(capacity_, '\0');
    const ssize_t length = read(ends_[0], text.data(), text.size());
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }

 private:
  int ends_[2];
  std::size_t capacity_ = 0;
};

}  // namespace

TEST_CASE("a text line is the message and the fields that are set") {
  CHECK(text_of({}, "it is so") == "it is so");
  CHECK(
      text_of(all, "it is so") ==
      "it is so client=3 request=\"a\" upstream=17 method=tools/call "
      "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 outcome=ok duration_ms=1.500");
}

TEST_CASE("a JSON line has time, level, event and message, and the fields under their names") {
  CHECK(
      json_of({}, "it is so") ==
      R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","event":"request failed","message":"it is so"})");
  CHECK(
      json_of(all, "x") ==
      R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","event":"request failed","message":"x",)"
      R"("client":3,"request":"a","upstream":17,"method":"tools/call",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","outcome":"ok","duration_ms":1.500})");
}

TEST_CASE("nothing can break a line, leave it or hide in it") {
  CHECK(text_of({.request = "\"a\\n\""}, "one\ntwo\x1b[2J") ==
        R"(one\ntwo\u001b[2J request="a\n")");
  const std::string evil = "a\nb\"\xE2\x80\xAE";
  CHECK(text_of({.method = evil}, "x") == R"(x method=a\nb"\u202e)");
  const std::string line = json_of({.request = "\"\xE2\x80\xAE\"", .method = evil}, evil);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.ends_with(R"("message":"a\nb\"\u202e","request":"\u202e","method":"a\nb\"\u202e"})"));
}

TEST_CASE("a peer's text is shown on one line, and cut before a character") {
  CHECK(printable("a\n\x1b\xE2\x80\xAE") == "a\\n\\u001b\\u202e");
  CHECK(printable(std::string(300, 'x')).size() == 200);
  CHECK(printable("ab\xE2\x82\xAC\n", 4) == "ab");
}

TEST_CASE("what a peer has chosen is cut") {
  const std::string longest(5000, 'x');
  CHECK(text_of({.request = longest, .method = longest}, "").size() < 200);
  CHECK(json_of({.request = longest, .method = longest}, "").size() < 400);
}

TEST_CASE("JOURNAL_STREAM names a file by device and inode") {
  CHECK(names_file("9:4711", 9, 4711));
  CHECK_FALSE(names_file("9:4711", 9, 4712));
  CHECK_FALSE(names_file("8:4711", 9, 4711));
  for (const char* wrong : {"", "9", "9:", ":4711", "9:4711x", " 9:4711", "9 4711", "-9:4711"})
    CHECK_FALSE_MESSAGE(names_file(wrong, 9, 4711), wrong);
}

TEST_CASE("levels have the priorities of syslog") {
  CHECK(journal_prefix(LogLevel::debug) == "<7>");
  CHECK(journal_prefix(LogLevel::info) == "<6>");
  CHECK(journal_prefix(LogLevel::warning) == "<4>");
  CHECK(journal_prefix(LogLevel::error) == "<3>");
}

TEST_CASE("lines go through a pipe that is read") {
  const Pipe pipe;
  StderrWriter writer(pipe.input(), 1ms);
  CHECK(writer.write("one\n"));
  CHECK(writer.write("two\n"));
  CHECK(pipe.read_once() == "one\ntwo\n");
  CHECK(writer.take_lost() == 0);
}

TEST_CASE("a pipe that nobody reads takes what it can, the rest is lost and counted") {
  const Pipe pipe;
  StderrWriter writer(pipe.input(), 1ms);
  const std::string line = std::string(pipe.capacity() - 1, 'x') + "\n";
  CHECK(writer.write(line));
  CHECK_FALSE(writer.write("lost\n"));
  CHECK_FALSE(writer.write("lost\n"));
  CHECK(writer.take_lost() == 0);  // there is no room to report it
  CHECK(pipe.read_once() == line);
  CHECK(writer.take_lost() == 2);
  CHECK(writer.take_lost() == 0);
  CHECK(writer.write("again\n"));
  CHECK(pipe.read_once() == "again\n");
}

TEST_CASE("after half a line the next one begins a line of its own") {
  const Pipe pipe;
  StderrWriter writer(pipe.input(), 1ms);
  CHECK_FALSE(writer.write(std::string(pipe.capacity() + 1, 'x') + "\n"));
  CHECK(pipe.read_once() == std::string(pipe.capacity(), 'x'));
  CHECK(writer.take_lost() == 1);
  CHECK(writer.write("next\n"));
  CHECK(pipe.read_once() == "\nnext\n");
}
