#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace bridge {

class EventLoop;

/// An object with a due time. Belongs to at most one TimerQueue.
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

  /// Its time has come; it is no longer queued.
  virtual void expired() = 0;

 private:
  friend class TimerQueue;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  SteadyTime due_{};
  std::size_t place_ = nowhere;  ///< in the queue's heap
};

/// Finds the timer that is due next: a binary heap of timers that it does not own, each of which
/// knows its place in it. Pure: it never reads a clock.
///
/// Not Asio's timers, except for one that wakes the loop: those read a clock that is a type, so a
/// test could advance it only by a global, and each change of a deadline would cost a change in
/// Asio's queue, where a DeadlineTimer that is postponed costs the assignment of a variable.
class TimerQueue {
 public:
  /// Queues the timer, or moves it to another time.
  void set(QueuedTimer& timer, SteadyTime due);
  /// Does nothing if it is not queued.
  void remove(QueuedTimer& timer);
  std::optional<SteadyTime> next() const;
  /// Removes the earliest timer that is due at `now` and calls its expired(); false: none is due.
  bool run_one(SteadyTime now);

 private:
  void place(QueuedTimer& timer, std::size_t at);
  void rise(std::size_t at);
  void sink(std::size_t at);

  std::vector<QueuedTimer*> heap_;
};

/// Work to be done later in this turn: once, when everything that the turn was about is done,
/// however often it was scheduled. What is scheduled while deferred work runs is done in the same
/// turn. Destruction cancels it.
///
/// The only way to do something later: what must not happen in the middle of a call, or is better
/// done once for many causes (writing what was queued), is a Deferred of its owner. The loop's
/// thread only.
///
/// Work that is cheaper in batches waits for the end of the round: until all events of one wait
/// have been handled. Outside of a round that is the end of the turn.
class Deferred {
 public:
  enum class Until : std::uint8_t { end_of_turn, end_of_round };

  Deferred(EventLoop& loop, std::function<void()> action, Until until = Until::end_of_turn);
  ~Deferred();
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  void schedule();
  void cancel();
  bool is_scheduled() const { return scheduled_; }

 private:
  friend class EventLoop;

  EventLoop& loop_;
  std::function<void()> action_;
  Until until_;
  bool scheduled_ = false;
  bool in_round_ = false;  ///< the list that it is in
  // Its neighbours in the loop's list, while it is scheduled.
  Deferred* previous_ = nullptr;
  Deferred* next_ = nullptr;
};

/// The daemon's one event loop: descriptors, timers, their clock, and the turn.
///
/// A turn is all that one event from outside leads to. Each way in from the kernel (a readable
/// socket, a timer, a signal) opens a Turn; when the outermost one ends
///   1. deferred callbacks run (Deferred),
///   2. ended objects are destroyed (reap()), the one place where that happens,
///   3. after_turn() is called.
/// So no object is destroyed by what it has called, and nothing is written twice.
///
/// A round is one wait for the kernel and what is ready after it, 64 events at most, each of them a
/// turn. When it ends, callbacks deferred until then run, in a turn of their own: one step of many
/// requests after the other, rather than all steps of each. A processor's instruction cache holds
/// one step, but not all of them: with 32 clients half of a call's misses were in this program.
///
/// One per daemon, and one thread. With a test's clock it runs no timers itself: the test advances
/// the clock and calls run_due().
class EventLoop {
 public:
  /// Throws std::system_error.
  EventLoop() : EventLoop(nullptr) {}
  /// REQUIRES: `clock` outlives the loop.
  explicit EventLoop(const Clock& clock) : EventLoop(&clock) {}
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  SteadyTime now() const { return clock_->now(); }
  /// When this was first asked for in the current round, or now outside of a round. For frequent
  /// use where finer measurement is not needed: the start of a deadline or of a wait.
  SteadyTime round_began() const;
  WallTime wall_time() const { return clock_->wall_time(); }
  const Clock& clock() const { return *clock_; }

  /// Runs until stop(), or until nothing can happen.
  void run();
  /// Events that were not delivered yet are delivered when it runs again.
  void stop();
  /// After stop(): delivers the events already there, but a limited number, since a peer may keep
  /// sending; then run() may be called again. Not from the loop.
  void settle();
  /// Waits for at most `time` for events and handles them. Returns how many there were. Not from
  /// the loop.
  std::size_t run_once(std::chrono::nanoseconds time);
  /// Whether a descriptor or a time is waited for, or a callback is deferred.
  bool can_happen() const;

  struct Kernel;  ///< Asio's part, private to event/
  Kernel& kernel() { return *kernel_; }

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

  /// Keeps a finished object until the end of the turn: it may still be on the call stack. It is
  /// only destroyed.
  template <class T>
  void reap(std::unique_ptr<T> over) {
    if (!over) return;
    over_.push_back(nameless(std::move(over)));
    if (depth_ == 0) begin_turn_soon();
  }

  /// Keeps an object without another owner, until disown(), which reaps it, or the loop's end.
  template <class T>
  void own(std::unique_ptr<T> object) {
    owned_.push_back(nameless(std::move(object)));
  }
  void disown(const void* object);

  /// `action` is called after each turn, so it must be cheap. Set once.
  void after_turn(std::function<void()> action) { after_turn_ = std::move(action); }

  /// Runs the timers that are due by the clock, each in a turn of its own. The loop calls this
  /// automatically, except with a test's clock. Returns whether any was due.
  bool run_due();
  /// When the next timer is due.
  std::optional<SteadyTime> next_due() const { return timers_.next(); }

 private:
  friend class Deferred;
  friend class DeadlineTimer;
  using Nameless = std::unique_ptr<void, void (*)(void*)>;

  template <class T>
  static Nameless nameless(std::unique_ptr<T> object) {
    return {object.release(), [](void* one) { delete static_cast<T*>(one); }};
  }
  explicit EventLoop(const Clock* clock);

  void set_timer(QueuedTimer& timer, SteadyTime due);
  void remove_timer(QueuedTimer& timer) { timers_.remove(timer); }
  void set_alarm();
  std::size_t step(std::optional<std::chrono::nanoseconds> limit);
  std::size_t run_round(std::optional<std::chrono::nanoseconds> limit);
  /// Scheduled Deferreds, in order of scheduling.
  struct DeferredList {
    Deferred* first = nullptr;
    Deferred* last = nullptr;
  };
  DeferredList& list_of(const Deferred& deferred);
  void append(Deferred& deferred);
  void unlink(Deferred& deferred);
  void begin_turn_soon();
  void run_deferred();
  void end_turn();
  void end_round();

  SystemClock system_clock_;
  const Clock* clock_;
  bool runs_timers_;  ///< automatically
  std::unique_ptr<Kernel> kernel_;
  TimerQueue timers_;
  std::optional<SteadyTime> alarm_;  ///< when the kernel's timer expires
  bool stopped_ = false;

  int depth_ = 0;
  bool turn_is_posted_ = false;
  bool in_round_ = false;
  mutable std::optional<SteadyTime> round_began_;
  DeferredList end_of_turn_;
  DeferredList end_of_round_;
  std::vector<Nameless> over_;
  std::vector<Nameless> ending_;  ///< finished objects that are being destroyed
  std::vector<Nameless> owned_;
  std::function<void()> after_turn_;
};

/// A timer that is cheap to postpone: it keeps the deadline in a variable and its place in the
/// loop's queue, until that has come.
///
/// The callback runs on the loop, in a turn, once per deadline; it may set the next one, and may
/// destroy the timer. Destroying the timer cancels it. The loop's thread only.
class DeadlineTimer final : private QueuedTimer {
 public:
  DeadlineTimer(EventLoop& loop, std::function<void()> expired);
  ~DeadlineTimer() override;

  void set(SteadyTime deadline);
  void set_after(std::chrono::milliseconds delay) { set(loop_.now() + delay); }
  /// Like set(), but never moves an earlier deadline.
  void set_at_latest(SteadyTime deadline);
  void clear();
  bool is_set() const { return deadline_.has_value(); }

 private:
  void expired() override;

  EventLoop& loop_;
  std::function<void()> action_;
  std::optional<SteadyTime> deadline_;
};

}  // namespace bridge
