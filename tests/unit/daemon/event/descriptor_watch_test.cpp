#include "event/descriptor_watch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace bridge;

namespace {

using Event = DescriptorWatch::Event;

/// One end is watched, the other is the test's.
struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    watched = ends[0];
    peer = ends[1];
  }
  ~Pair() { close_peer(); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void send() const { REQUIRE(write(peer, "x", 1) == 1); }
  void close_peer() {
    if (peer >= 0) close(std::exchange(peer, -1));
  }

  int watched;  ///< the watch closes it
  int peer;
};

/// Runs the loop until nothing more comes; many wake-ups in a row must not be possible.
std::size_t wake_ups(EventLoop& loop) {
  std::size_t count = 0;
  while (count < 100 && loop.run_once(std::chrono::nanoseconds(0)) > 0) ++count;
  return count;
}

void read_one(int descriptor) {
  char byte = 0;
  CHECK(read(descriptor, &byte, 1) == 1);
}

/// A watched pair, and what was told of it: r, w or h for each event.
struct Watched {
  std::size_t wake() { return wake_ups(loop); }

  EventLoop loop;
  Pair pair;
  std::string told;
  std::function<void()> on_event;
  DescriptorWatch watch{
      loop, pair.watched, [this](Event event) {
        told += event == Event::readable ? 'r' : event == Event::writable ? 'w' : 'h';
        if (on_event) on_event();
      }};
};

}  // namespace

TEST_CASE("what is wanted is told once, and told again when it is wanted again") {
  Watched t;
  t.watch.want(Event::readable);
  t.watch.want(Event::readable);
  CHECK(t.wake() == 0);
  t.pair.send();
  t.loop.run_once(std::chrono::seconds(5));
  CHECK(t.told == "r");
  CHECK(t.wake() <= 1);
  CHECK(t.told == "r");
  t.watch.want(Event::readable);  // it was not read
  CHECK(t.wake() <= 2);
  CHECK(t.told == "rr");
}

TEST_CASE("what is not wanted when it comes wakes the loop once, and is told when it is wanted") {
  Watched t;
  t.on_event = [&t] {
    char byte = 0;
    read(t.pair.watched, &byte, 1);
  };
  t.watch.want(Event::readable);
  t.pair.send();
  t.wake();
  REQUIRE(t.told == "r");
  SUBCASE("more to read") { t.pair.send(); }
  SUBCASE("the peer's half of it is over") { shutdown(t.pair.peer, SHUT_WR); }
  SUBCASE("the peer is gone") { t.pair.close_peer(); }
  CHECK(t.wake() <= 1);
  CHECK(t.wake() == 0);
  CHECK(t.told == "r");
  t.watch.want(Event::readable);
  t.wake();
  CHECK(t.told == "rr");
}

TEST_CASE("a peer that goes on writing to a paused reader wakes the loop once a write at most") {
  Watched t;
  t.watch.want(Event::hung_up);
  std::size_t writes = 0;
  std::size_t woken = 0;
  for (; write(t.pair.peer, "x", 1) == 1; ++writes) woken += t.wake();
  CHECK(writes > 0);
  CHECK(woken <= writes);
  CHECK(t.wake() == 0);
  CHECK(t.told.empty());
  t.pair.close_peer();
  t.wake();
  CHECK(t.told == "h");
}

TEST_CASE("out-of-band data is not a hang-up, and does not keep the loop busy") {
  Watched t;
  t.watch.want(Event::hung_up);
  if (send(t.pair.peer, "x", 1, MSG_OOB) != 1) return;  // a kernel without support
  CHECK(t.wake() < 5);
  CHECK(t.told.empty());
  t.pair.close_peer();
  t.wake();
  CHECK(t.told == "h");
}

TEST_CASE("what can be written to is told as often as it is wanted, and no more") {
  Watched t;
  t.watch.want(Event::writable);
  CHECK(t.wake() <= 2);
  CHECK(t.told == "w");
  t.watch.want(Event::readable);
  CHECK(t.wake() == 0);
  t.pair.send();
  t.wake();
  CHECK(t.told == "wr");
}

TEST_CASE(
    "that the peer is gone is told to who waits for it, but not that it has stopped sending") {
  Watched t;
  t.watch.want(Event::hung_up);
  t.pair.send();
  shutdown(t.pair.peer, SHUT_WR);
  CHECK(t.wake() <= 2);
  CHECK(t.told.empty());
  t.pair.close_peer();
  CHECK(t.wake() <= 2);
  CHECK(t.told == "h");
}

TEST_CASE("a watch may be destroyed by what it tells, with more to be told") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  std::unique_ptr<DescriptorWatch> watch;
  watch = std::make_unique<DescriptorWatch>(loop, pair.watched, [&](Event) {
    ++told;
    watch.reset();
  });
  for (const Event event : {Event::readable, Event::writable, Event::hung_up}) watch->want(event);
  pair.close_peer();
  wake_ups(loop);
  CHECK(told == 1);
  CHECK_FALSE(loop.can_happen());
}

TEST_CASE("what is cancelled is not told, though the kernel has said it") {
  Watched t;
  t.on_event = [&t] { t.watch.cancel(); };
  t.watch.want(Event::readable);
  t.watch.want(Event::hung_up);
  t.pair.close_peer();
  CHECK(t.wake() <= 2);
  CHECK(t.told == "h");
}

// The spurious wake-up that every reader has to tolerate.
TEST_CASE("a watch of a reused number is reported ready once too often at most") {
  EventLoop loop;
  Pair one, other, later;
  std::array<std::unique_ptr<DescriptorWatch>, 2> watches;
  std::unique_ptr<DescriptorWatch> successor;
  int told = 0, told_successor = 0, received = 0;
  const std::array<int, 2> descriptors{one.watched, other.watched};
  for (std::size_t i = 0; i < 2; ++i) {
    watches[i] = std::make_unique<DescriptorWatch>(loop, descriptors[i], [&, i](Event) {
      ++told;
      watches[1 - i].reset();
      REQUIRE(dup2(later.watched, descriptors[1 - i]) == descriptors[1 - i]);
      successor = std::make_unique<DescriptorWatch>(loop, descriptors[1 - i], [&](Event) {
        ++told_successor;
        char byte = 0;
        received += read(later.watched, &byte, 1) == 1;
        successor->want(Event::readable);
      });
      successor->want(Event::readable);
    });
    watches[i]->want(Event::readable);
  }
  one.send();
  other.send();
  wake_ups(loop);
  CHECK(told == 1);
  CHECK(told_successor <= 1);
  CHECK(received == 0);
  CHECK(wake_ups(loop) == 0);
  later.send();
  wake_ups(loop);
  CHECK(received == 1);
  CHECK(told_successor <= 2);
  close(later.watched);
}

// libcurl 7.88 closes a socket that is still connecting without notice.
TEST_CASE("a descriptor that was closed behind its watch is left to who has its number since") {
  EventLoop loop;
  Pair pair;
  Pair later;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event) { FAIL("it is closed"); });
  watch.want(Event::readable);
  REQUIRE(dup2(later.watched, pair.watched) == pair.watched);  // closes it
  DescriptorWatch successor(loop, pair.watched, [&](Event) { ++told; });
  successor.want(Event::readable);
  watch.release();
  later.send();
  wake_ups(loop);
  CHECK(told == 1);
  close(later.watched);
}

TEST_CASE("a released descriptor is open and nobody is told of it") {
  EventLoop loop;
  Pair pair;
  int descriptor = -1;
  {
    DescriptorWatch watch(loop, pair.watched, [](Event) { FAIL("it was released"); });
    watch.want(Event::readable);
    descriptor = watch.release();
    watch.want(Event::readable);
  }
  CHECK(descriptor == pair.watched);
  pair.send();
  CHECK(wake_ups(loop) <= 1);
  CHECK(wake_ups(loop) == 0);
  read_one(descriptor);
  CHECK(close(descriptor) == 0);
}

TEST_CASE("a regular file, which the kernel does not look at, is no failure") {
  EventLoop loop;
  DescriptorWatch watch(loop, open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                        [](Event) { FAIL("it is never ready"); });
  watch.want(Event::readable);
  CHECK(wake_ups(loop) <= 1);
  CHECK_FALSE(loop.can_happen());
}

TEST_CASE("what has come when the loop is stopped is told when it runs again") {
  EventLoop loop;
  Pair one, other;
  int told = 0;
  const auto stop = [&](Event) {
    ++told;
    loop.stop();
  };
  DescriptorWatch first(loop, one.watched, stop), second(loop, other.watched, stop);
  first.want(Event::readable);
  second.want(Event::readable);
  one.send();
  other.send();
  loop.run();
  CHECK(told == 1);
  loop.settle();
  CHECK(told == 2);
}

TEST_CASE("what goes on talking does not keep a loop from settling") {
  Watched t;
  t.on_event = [&t] { t.watch.want(Event::readable); };
  t.watch.want(Event::readable);
  t.pair.send();
  t.loop.settle();
  CHECK_FALSE(t.told.empty());
  CHECK(t.told.size() <= 1064);
}
