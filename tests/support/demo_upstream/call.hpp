#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace demo {

/// One long call in progress: it sleeps and waits here, so that cancelling it ends it at once.
class Call {
 public:
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

  bool cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

  /// False if it was cancelled meanwhile.
  bool sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [&] { return cancelled_; });
  }

  /// The body of the client's response to the server's request.
  void answer(std::string_view body) {
    const std::lock_guard lock(mutex_);
    answer_ = std::string(body);
    changed_.notify_all();
  }

  /// Waits for it; nullopt if the call was cancelled.
  std::optional<std::string> wait_for_answer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_ || answer_; });
    return cancelled_ ? std::nullopt : answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  std::optional<std::string> answer_;
};

}  // namespace demo
