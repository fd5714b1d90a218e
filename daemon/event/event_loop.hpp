#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "event/deferred.hpp"
#include "event/timer_queue.hpp"

namespace asio {
class io_context;
}

namespace bridge {

/// The daemon's one event loop: descriptors, timers, the clock they go by, and the turn.
///
/// A turn is what one event from outside leads to. Each way in from the kernel (a readable socket,
/// a timer, a signal) opens a Turn; when the outermost one ends
///   1. what was deferred is done (Deferred),
///   2. what is over is destroyed (reap()), which is the one place where that happens,
///   3. the after_turn() is called.
/// So nobody is destroyed by what it has called, and nothing is written twice.
///
/// One per daemon, and one thread. With a clock of a test's own no timer of the kernel is used: the
/// test advances the clock and calls run_due().
class EventLoop {
 public:
  EventLoop() : EventLoop(nullptr) {}
  /// REQUIRES: `clock` outlives the loop.
  explicit EventLoop(const Clock& clock) : EventLoop(&clock) {}
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  SteadyTime now() const { return clock_->now(); }
  WallTime wall_time() const { return clock_->wall_time(); }
  const Clock& clock() const { return *clock_; }

  /// Runs until stop(), or until nothing can happen any more.
  void run();
  void stop();
  /// After stop(): does what the kernel has said already, but no more than so much of it, since
  /// somebody may go on talking; then run() may go on. Not from the loop.
  void settle();
  /// For what waits for the kernel: descriptors, signals.
  asio::io_context& context();

  class Turn {
   public:
    explicit Turn(EventLoop& loop) : loop_(loop) { ++loop_.depth_; }
    ~Turn() {
      if (loop_.depth_ == 1) loop_.end_turn();
      --loop_.depth_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EventLoop& loop_;
  };

  /// Keeps what is over until the end of the turn: it may still be on the call stack. Nothing is
  /// to be expected of it but its destruction.
  template <class T>
  void reap(std::unique_ptr<T> over) {
    if (!over) return;
    over_.emplace_back(over.release(), [](void* object) { delete static_cast<T*>(object); });
    if (depth_ == 0) begin_turn_soon();
  }

  /// What is looked at after each turn. Cheap, since it is often. Set once.
  void after_turn(std::function<void()> action) { after_turn_ = std::move(action); }

  /// Runs the timers that are due by the clock, each in a turn of its own. The loop does that by
  /// itself, unless the clock is a test's. Returns whether there was one.
  bool run_due();
  /// When the next one is due.
  std::optional<SteadyTime> next_due() const { return timers_.next(); }

 private:
  friend class Deferred;
  friend class DeadlineTimer;

  struct Kernel;  ///< asio's part, kept out of the headers of those who use a loop

  explicit EventLoop(const Clock* clock);

  void set_timer(QueuedTimer& timer, SteadyTime due);
  void remove_timer(QueuedTimer& timer) { timers_.remove(timer); }
  void wait_for_timers();
  void append(Deferred& deferred);
  void unlink(Deferred& deferred);
  void begin_turn_soon();
  void run_deferred();
  void end_turn();

  SystemClock system_clock_;
  const Clock* clock_;
  std::unique_ptr<Kernel> kernel_;
  bool uses_kernel_timer_;
  std::optional<SteadyTime> armed_;  ///< for when the kernel's timer is set
  TimerQueue timers_;

  int depth_ = 0;
  bool turn_is_posted_ = false;
  Deferred* first_ = nullptr;
  Deferred* last_ = nullptr;
  std::vector<std::unique_ptr<void, void (*)(void*)>> over_;
  std::function<void()> after_turn_;
};

}  // namespace bridge
