#include "event/descriptor_watch.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <vector>

using namespace bridge;

namespace {

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

/// Sets the disposition of a signal while it lives.
class Disposition {
 public:
  Disposition(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction wanted {};
    wanted.sa_handler = handler;
    sigaction(signal, &wanted, &before_);
  }
  ~Disposition() { sigaction(signal_, &before_, nullptr); }
  Disposition(const Disposition&) = delete;
  Disposition& operator=(const Disposition&) = delete;

 private:
  int signal_;
  struct sigaction before_ {};
};

/// A loop that watches these signals, and those it was told of.
struct Watched {
  explicit Watched(std::initializer_list<int> signals)
      : watch(loop, signals, [this](int signal) { told.push_back(signal); }) {}
  void run_once() { loop.run_once(std::chrono::seconds(5)); }

  EventLoop loop;
  std::vector<int> told;
  SignalWatch watch;
};

}  // namespace

TEST_CASE("signals are told, those too that came before anybody wanted to know") {
  Watched t({SIGUSR1, SIGUSR2});
  const auto run_until = [&t](std::size_t count) {
    while (t.told.size() < count && t.loop.run_once(std::chrono::seconds(5)) > 0) {
    }
  };
  raise(SIGUSR1);
  raise(SIGUSR2);
  CHECK_FALSE(t.loop.can_happen());
  t.watch.begin();
  run_until(2);
  raise(SIGUSR1);
  run_until(3);
  CHECK(t.told == std::vector<int>{SIGUSR1, SIGUSR2, SIGUSR1});
  CHECK(t.loop.run_once(std::chrono::nanoseconds(0)) == 0);
}

TEST_CASE("two loops in one process watch signals of their own") {
  Watched one({SIGUSR1}), other({SIGUSR2});
  one.watch.begin();
  other.watch.begin();
  raise(SIGUSR1);
  raise(SIGUSR2);
  one.run_once();
  other.run_once();
  CHECK(one.told == std::vector<int>{SIGUSR1});
  CHECK(other.told == std::vector<int>{SIGUSR2});
}

TEST_CASE("a signal that was ignored is told") {
  const Disposition ignored(SIGUSR1, SIG_IGN);
  Watched t({SIGUSR1});
  raise(SIGUSR1);
  t.watch.begin();
  t.run_once();
  CHECK(t.told == std::vector<int>{SIGUSR1});
}

TEST_CASE("afterwards a signal does again what it did before, but for one that was not told") {
  static int caught = 0;
  caught = 0;
  const Disposition counted(SIGUSR1, [](int) { ++caught; });
  {
    const Watched t({SIGUSR1});
    CHECK(is_blocked(SIGUSR1));
    raise(SIGUSR1);
  }
  CHECK(caught == 0);
  CHECK_FALSE(is_blocked(SIGUSR1));
  raise(SIGUSR1);
  CHECK(caught == 1);
}

TEST_CASE("what was blocked by an earlier image of the program comes, but for what is watched") {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  {
    Watched t({SIGUSR1});
    CHECK(is_blocked(SIGUSR2));
    t.watch.let_others_come();
    CHECK(is_blocked(SIGUSR1));
    CHECK_FALSE(is_blocked(SIGUSR2));
  }
  CHECK_FALSE(is_blocked(SIGUSR1));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a loop that a signal has stopped leaves the next one for when it runs again") {
  EventLoop loop;
  std::vector<int> told;
  SignalWatch signals(loop, {SIGUSR1, SIGUSR2}, [&](int signal) {
    told.push_back(signal);
    loop.stop();
  });
  signals.begin();
  raise(SIGUSR1);
  raise(SIGUSR2);
  loop.run();
  CHECK(told == std::vector<int>{SIGUSR1});
  loop.settle();
  CHECK(told == std::vector<int>{SIGUSR1, SIGUSR2});
}
