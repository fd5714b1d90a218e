#pragma once

#include <functional>
#include <memory>

namespace demo {

/// Threads for connections and long tools. Each task gets a thread at once (no task waits behind
/// another, as an open stream lasts for ever); a thread without work leaves after two seconds.
/// Any thread may call it. `shutdown` waits until all tasks have ended; the caller ends them.
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
