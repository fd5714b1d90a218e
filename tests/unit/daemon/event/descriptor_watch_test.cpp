#include "event/descriptor_watch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
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

}  // namespace

TEST_CASE("what is wanted is told once, and told again when it is wanted again") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event event) {
    CHECK(event == Event::readable);
    ++told;
  });
  watch.want(Event::readable);
  watch.want(Event::readable);
  CHECK(wake_ups(loop) == 0);
  pair.send();
  loop.run_once(std::chrono::seconds(5));
  CHECK(told == 1);
  CHECK(wake_ups(loop) <= 1);
  CHECK(told == 1);
  watch.want(Event::readable);  // it was not read
  CHECK(wake_ups(loop) <= 2);
  CHECK(told == 2);
}

TEST_CASE("what nobody wants wakes the loop up once and not again") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event) {
    read_one(pair.watched);
    ++told;
  });
  watch.want(Event::readable);
  pair.send();
  wake_ups(loop);
  REQUIRE(told == 1);
  SUBCASE("more to read") { pair.send(); }
  SUBCASE("the peer's half of it is over") { shutdown(pair.peer, SHUT_WR); }
  SUBCASE("the peer is gone") { pair.close_peer(); }
  CHECK(wake_ups(loop) <= 1);
  CHECK(wake_ups(loop) == 0);
  CHECK(told == 1);
}

TEST_CASE("a peer that goes on writing to a paused reader wakes the loop once a write at most") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event event) {
    CHECK(event == Event::hung_up);
    ++told;
  });
  watch.want(Event::hung_up);
  std::size_t writes = 0;
  std::size_t woken = 0;
  for (; write(pair.peer, "x", 1) == 1; ++writes) woken += wake_ups(loop);
  CHECK(writes > 0);
  CHECK(woken <= writes);
  CHECK(wake_ups(loop) == 0);
  CHECK(told == 0);
  pair.close_peer();
  wake_ups(loop);
  CHECK(told == 1);
}

TEST_CASE("out-of-band data is not a hang-up, and does not keep the loop busy") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event) { ++told; });
  watch.want(Event::hung_up);
  if (send(pair.peer, "x", 1, MSG_OOB) != 1) return;  // a kernel without support
  CHECK(wake_ups(loop) < 5);
  CHECK(told == 0);
  pair.close_peer();
  wake_ups(loop);
  CHECK(told == 1);
}

TEST_CASE("what was not wanted when it came is told when it is") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event event) {
    CHECK(event == Event::readable);
    char byte = 0;
    CHECK(read(pair.watched, &byte, 1) == (told == 0 ? 1 : 0));
    ++told;
  });
  watch.want(Event::readable);
  pair.send();
  wake_ups(loop);
  REQUIRE(told == 1);
  SUBCASE("the peer's half of it is over") { shutdown(pair.peer, SHUT_WR); }
  SUBCASE("the peer is gone") { pair.close_peer(); }
  wake_ups(loop);
  CHECK(told == 1);
  watch.want(Event::readable);
  wake_ups(loop);
  CHECK(told == 2);
}

TEST_CASE("what can be written to is told as often as it is wanted, and no more") {
  EventLoop loop;
  Pair pair;
  std::string told;
  DescriptorWatch watch(loop, pair.watched,
                        [&](Event event) { told += event == Event::writable ? 'w' : 'r'; });
  watch.want(Event::writable);
  CHECK(wake_ups(loop) <= 2);
  CHECK(told == "w");
  watch.want(Event::readable);
  CHECK(wake_ups(loop) == 0);
  pair.send();
  wake_ups(loop);
  CHECK(told == "wr");
}

TEST_CASE(
    "that the peer is gone is told to who waits for it, but not that it has stopped sending") {
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event event) {
    CHECK(event == Event::hung_up);
    ++told;
  });
  watch.want(Event::hung_up);
  pair.send();
  shutdown(pair.peer, SHUT_WR);
  CHECK(wake_ups(loop) <= 2);
  CHECK(told == 0);
  pair.close_peer();
  CHECK(wake_ups(loop) <= 2);
  CHECK(told == 1);
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
  EventLoop loop;
  Pair pair;
  std::string told;
  DescriptorWatch watch(loop, pair.watched, [&](Event event) {
    told += event == Event::hung_up ? 'h' : '?';
    watch.cancel();
  });
  watch.want(Event::readable);
  watch.want(Event::hung_up);
  pair.close_peer();
  CHECK(wake_ups(loop) <= 2);
  CHECK(told == "h");
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
  EventLoop loop;
  Pair pair;
  int told = 0;
  DescriptorWatch watch(loop, pair.watched, [&](Event) {
    ++told;
    watch.want(Event::readable);
  });
  watch.want(Event::readable);
  pair.send();
  loop.settle();
  CHECK(told >= 1);
  CHECK(told <= 1000);
}

TEST_CASE(
    "what the loop owns is destroyed when it is disowned, at the end of the turn, or with it") {
  int destroyed = 0;
  struct Owned {
    int& count;
    ~Owned() { ++count; }
  };
  {
    EventLoop loop;
    auto first = std::unique_ptr<Owned>(new Owned{destroyed});
    const Owned* const known = first.get();
    loop.own(std::move(first));
    loop.own(std::unique_ptr<Owned>(new Owned{destroyed}));
    {
      const EventLoop::Turn turn(loop);
      loop.disown(known);
      CHECK(destroyed == 0);
    }
    CHECK(destroyed == 1);
  }
  CHECK(destroyed == 2);
}
