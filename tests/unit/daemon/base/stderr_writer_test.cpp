#include "base/log_sinks.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

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
