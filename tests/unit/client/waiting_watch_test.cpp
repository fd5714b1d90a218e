#include "verbs/relay.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "render/status.hpp"

using namespace client;

namespace {

constexpr std::string_view request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n";
constexpr std::string_view other_request = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}\n";
constexpr std::string_view answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
constexpr std::string_view away =
    R"({"upstream":{"state":"waiting","ready":false,"target":"http://a"},"lastError":{"message":"cannot reach a"}})";
constexpr std::string_view well = R"({"upstream":{"state":"open","ready":true}})";

/// A watch without a delay, and the daemon's end of its look-ups.
struct Watched {
  explicit Watched(Milliseconds timeout = Milliseconds(0))
      : watch(
            timeout, [this] { return connect(); },
            [this](std::string_view line) { said.emplace_back(line); }) {}

  FileDescriptor connect() {
    ++looks;
    int both[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0);
    daemon = FileDescriptor(both[1]);
    return FileDescriptor(both[0]);
  }

  std::string asked() const {
    char bytes[4096];
    const ssize_t count = ::read(daemon.get(), bytes, sizeof bytes);
    return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  void answer_look(std::string_view status) {
    const std::string line =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" +
        std::string(status) + "}\n";
    REQUIRE(::write(daemon.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    watch.wake();
  }

  WaitingWatch watch;
  FileDescriptor daemon;
  std::vector<std::string> said;
  int looks = 0;
};

bool is_never(Deadline deadline) { return deadline.poll_timeout() == -1; }

}  // namespace

TEST_CASE("what is waited for is told once, from a connection that takes no notification") {
  Watched test(Milliseconds(100));
  CHECK(is_never(test.watch.deadline()));
  CHECK(test.watch.descriptor() == -1);
  test.watch.take_sent(request);
  CHECK_FALSE(is_never(test.watch.deadline()));
  test.watch.wake();
  CHECK(test.looks == 0);  // it is not yet time
  ::poll(nullptr, 0, test.watch.deadline().poll_timeout());
  test.watch.wake();
  REQUIRE(test.looks == 1);
  CHECK(test.watch.descriptor() != -1);
  const std::string asked = test.asked();
  CHECK(asked.find("bridge/peek") < asked.find("bridge/status"));
  test.answer_look(away);
  REQUIRE(test.said.size() == 1);
  CHECK(test.said[0] == "still waiting: cannot reach a");
  CHECK(test.watch.descriptor() == -1);
  CHECK(is_never(test.watch.deadline()));
}

TEST_CASE("nothing more is looked into until nothing is unanswered") {
  Watched test;
  test.watch.take_sent(request);
  test.watch.wake();
  test.answer_look(away);
  test.watch.take_sent(other_request);
  test.watch.wake();
  test.watch.take_received(answer);
  test.watch.wake();
  CHECK(test.looks == 1);
  test.watch.take_received("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
  test.watch.take_sent(request);
  test.watch.wake();
  CHECK(test.looks == 2);
  test.answer_look(away);
  CHECK(test.said.size() == 2);
}

TEST_CASE(
    "a request is looked into once, and nothing is said of a server that only takes its time") {
  Watched test;
  test.watch.take_sent(request);
  test.watch.wake();
  test.answer_look(well);
  CHECK(test.said.empty());
  CHECK(is_never(test.watch.deadline()));
  test.watch.wake();
  CHECK(test.looks == 1);
  test.watch.take_sent(other_request);
  test.watch.wake();
  CHECK(test.looks == 2);
}

TEST_CASE("an answer in time, or during the look, leaves nothing to tell") {
  Watched test;
  test.watch.take_sent(request);
  test.watch.take_received(answer);
  CHECK(is_never(test.watch.deadline()));
  test.watch.wake();
  CHECK(test.looks == 0);
  test.watch.take_sent(request);
  test.watch.wake();
  test.watch.take_received(answer);
  CHECK(test.watch.descriptor() == -1);
  CHECK(is_never(test.watch.deadline()));
  CHECK(test.looks == 1);
  CHECK(test.said.empty());
}

TEST_CASE("notifications wait for nothing") {
  Watched test;
  test.watch.take_sent("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  test.watch.take_sent("\n");
  CHECK(is_never(test.watch.deadline()));
}

TEST_CASE("a daemon that cannot be asked, hangs up or does not answer is left alone") {
  std::vector<std::string> said;
  const auto say = [&said](std::string_view line) { said.emplace_back(line); };
  WaitingWatch none(
      Milliseconds(0), [] { return FileDescriptor(); }, say);
  none.take_sent(request);
  none.wake();
  CHECK(is_never(none.deadline()));

  Watched gone;
  gone.watch.take_sent(request);
  gone.watch.wake();
  gone.daemon = FileDescriptor();
  gone.watch.wake();
  CHECK(is_never(gone.watch.deadline()));

  Watched silent;
  silent.watch.take_sent(request);
  silent.watch.wake();
  CHECK_FALSE(is_never(silent.watch.deadline()));
  silent.watch.wake();  // its time is over
  CHECK(silent.watch.descriptor() == -1);
  CHECK(is_never(silent.watch.deadline()));
  CHECK((said.empty() && gone.said.empty() && silent.said.empty()));
}

TEST_CASE("what is waited for is read from the status") {
  CHECK(reason_of_wait(away) == "cannot reach a");
  CHECK(reason_of_wait(R"({"upstream":{"state":"opening","target":"http://a"}})") ==
        "the daemon is opening a session with http://a");
  for (const char* nothing :
       {"", "[]", "{}", R"({"upstream":{}})", R"({"upstream":{"state":"open"}})"})
    CHECK_FALSE_MESSAGE(reason_of_wait(nothing), nothing);
}
