#include "event/signal_watch.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <optional>
#include <vector>

using namespace bridge;

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

TEST_CASE("signals are told in their order, those too that came before anybody wanted to know") {
  EventLoop loop;
  std::vector<int> told;
  SignalWatch signals(loop, {SIGUSR1, SIGUSR2}, [&](int signal) { told.push_back(signal); });
  raise(SIGUSR1);
  raise(SIGUSR2);
  CHECK_FALSE(loop.can_happen());
  signals.begin();
  raise(SIGUSR1);
  while (told.size() < 3 && loop.run_once(std::chrono::seconds(5)) > 0) {
  }
  CHECK(told == std::vector<int>{SIGUSR1, SIGUSR2, SIGUSR1});
  CHECK(loop.run_once(std::chrono::nanoseconds(0)) == 0);
}

TEST_CASE("afterwards a signal does again what it did before") {
  struct sigaction before {
  }, ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGUSR1, &ignore, &before);
  {
    EventLoop loop;
    const SignalWatch signals(loop, {SIGUSR1}, [](int) {});
    CHECK_FALSE(is_ignored(SIGUSR1));
  }
  CHECK(is_ignored(SIGUSR1));
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
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
