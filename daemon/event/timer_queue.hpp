#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.hpp"

namespace bridge {

/// Something that is due at a time. Belongs to at most one TimerQueue.
class QueuedTimer {
 public:
  QueuedTimer(const QueuedTimer&) = delete;
  QueuedTimer& operator=(const QueuedTimer&) = delete;

  bool is_queued() const { return place_ != nowhere; }
  /// REQUIRES: is_queued().
  SteadyTime due() const { return due_; }

 protected:
  QueuedTimer() = default;
  virtual ~QueuedTimer() = default;

  /// Its time has come; it is not queued any more.
  virtual void expired() = 0;

 private:
  friend class TimerQueue;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  SteadyTime due_{};
  std::size_t place_ = nowhere;  ///< in the queue's heap
};

/// Which timer is due next: a binary heap of timers that it does not own, each of which knows its
/// place in it. Pure: it never looks at a clock.
class TimerQueue {
 public:
  /// Queues the timer, or moves it to another time.
  void set(QueuedTimer& timer, SteadyTime due);
  /// Nothing if it is not queued.
  void remove(QueuedTimer& timer);
  std::optional<SteadyTime> next() const;
  /// Takes the earliest timer that is due at `now` out and tells it so; false if there is none.
  bool run_one(SteadyTime now);

 private:
  void place(QueuedTimer& timer, std::size_t at);
  void rise(std::size_t at);
  void sink(std::size_t at);

  std::vector<QueuedTimer*> heap_;
};

}  // namespace bridge
