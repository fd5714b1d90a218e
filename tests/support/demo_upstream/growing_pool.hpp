#pragma once

#include <functional>
#include <memory>

namespace demo {

/// Threads for connections and long tools. Each task gets a thread at once (none is queued, as an
/// open stream never ends); an idle thread ends after two seconds. Thread-safe. `shutdown` waits
/// until all tasks have ended; ending them is up to the caller.
class GrowingPool {
 public:
  GrowingPool();
  ~GrowingPool();
  GrowingPool(const GrowingPool&) = delete;
  GrowingPool& operator=(const GrowingPool&) = delete;

  void run(std::function<void()> task);
  void shutdown();

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace demo
