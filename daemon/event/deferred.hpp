#pragma once

#include <cstdint>
#include <functional>

namespace bridge {

class EventLoop;

/// Something to be done later in this turn: once, when everything that the turn was about has been
/// done, however often it was asked for. What is deferred while others run is done in the same
/// turn. Destruction cancels it.
///
/// The one spelling of "later": what must not happen in the middle of a call, or is better done
/// once for many causes (writing what was queued), is a Deferred of its owner's. The loop's thread
/// only.
///
/// What is worth more the more of it is done together waits for the end of the round: until all
/// that the kernel said at once has been heard. Outside of a round that is the end of the turn.
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
  bool in_round_ = false;  ///< of which list it is
  // Its neighbours in the loop's list, while it is scheduled.
  Deferred* previous_ = nullptr;
  Deferred* next_ = nullptr;
};

}  // namespace bridge
