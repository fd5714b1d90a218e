#include "growing_pool.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace demo {
namespace {
constexpr auto kIdleTime = std::chrono::seconds(2);
}

/// Shared with the threads, which may outlive the pool for a moment.
struct GrowingPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable all_gone;
  std::deque<std::function<void()>> tasks;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool ending = false;
};

GrowingPool::GrowingPool() : state_(std::make_shared<State>()) {}

GrowingPool::~GrowingPool() { shutdown(); }

void GrowingPool::run(std::function<void()> task) {
  const std::lock_guard lock(state_->mutex);
  state_->tasks.push_back(std::move(task));
  if (state_->idle >= state_->tasks.size()) {
    state_->wake.notify_one();
    return;
  }
  ++state_->threads;
  std::thread([state = state_] { work(state); }).detach();
}

void GrowingPool::shutdown() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->wake.notify_all();
  state_->all_gone.wait(lock, [&] { return state_->threads == 0; });
}

void GrowingPool::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    ++state->idle;
    state->wake.wait_for(lock, kIdleTime, [&] { return !state->tasks.empty() || state->ending; });
    --state->idle;
    if (state->tasks.empty()) break;
    auto task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
  --state->threads;
  state->all_gone.notify_all();
}

}  // namespace demo
