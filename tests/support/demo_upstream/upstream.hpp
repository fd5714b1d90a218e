#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "fault_queue.hpp"
#include "growing_pool.hpp"
#include "options.hpp"
#include "seen.hpp"
#include "sessions.hpp"

namespace demo {

/// The token that clients must send; tests change it while requests arrive.
class AcceptedToken {
 public:
  explicit AcceptedToken(std::string token) : token_(std::move(token)) {}
  void set(std::string token) {
    const std::lock_guard lock(mutex_);
    token_ = std::move(token);
  }
  bool accepts(std::string_view authorization) const {
    const std::lock_guard lock(mutex_);
    return token_.empty() || authorization == "Bearer " + token_;
  }

 private:
  mutable std::mutex mutex_;
  std::string token_;
};

/// State shared by the endpoint and the control API. Its parts are thread-safe.
struct Upstream {
  explicit Upstream(Options chosen)
      : options(std::move(chosen)), sessions(options.streams), token(options.token) {}

  const Options options;
  Sessions sessions;
  AcceptedToken token;
  RequestLog log;
  AnswerLog answers;
  FaultQueue faults;
  std::atomic<std::uint64_t> initializes{0};
  std::atomic<std::uint64_t> deletes{0};
  /// Last, so that its threads end before the objects that they use.
  GrowingPool pool;
};

}  // namespace demo
