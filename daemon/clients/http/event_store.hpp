#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "clients/http/sse_event.hpp"
#include "loop/byte_budget.hpp"
#include "protocol/ids.hpp"

namespace bridge {

/// What was sent on the streams of one session, so that a broken one can be resumed.
///
/// Pure. Bounded by bytes, the oldest out first, whether they were received or not; with the budget
/// of all queues exhausted nothing is kept. What came from the ring is kept as its sequence number
/// only.
class EventStore {
 public:
  struct Event {
    EventId id;
    std::string message;  ///< empty: it is in the ring
    Sequence sequence{};
  };

  EventStore(std::size_t limit, ByteBudget& budget)
      : limit_(limit), budget_(budget), share_(budget) {}

  /// The id for a new event on that stream, which is not kept by itself.
  EventId next_id(std::uint64_t stream) { return {stream, ++last_}; }

  void keep(EventId id, std::string message) { add({id, std::move(message), Sequence{}}); }
  void keep(EventId id, Sequence sequence) { add({id, {}, sequence}); }

  /// Whether nothing that came after this event has been pushed out.
  bool reaches_back_to(EventId id) const { return id.number <= last_ && id.number >= forgotten_; }

  /// What was sent on that event's stream after it, oldest first.
  template <class Visit>
  void each_after(EventId id, Visit&& visit) const {
    for (const Event& event : events_) {
      if (event.id.stream == id.stream && event.id.number > id.number) visit(event);
    }
  }

  std::size_t bytes() const { return share_.held(); }

 private:
  static std::size_t size_of(const Event& event) { return sizeof(Event) + event.message.size(); }

  void add(Event event) {
    share_.add(size_of(event));
    events_.push_back(std::move(event));
    while (!events_.empty() && (share_.held() > limit_ || budget_.over())) {
      forgotten_ = events_.front().id.number;
      share_.remove(size_of(events_.front()));
      events_.pop_front();
    }
  }

  std::size_t limit_;
  ByteBudget& budget_;
  ByteBudget::Share share_;
  std::deque<Event> events_;
  std::uint64_t last_ = 0;
  std::uint64_t forgotten_ = 0;  ///< the newest that was pushed out
};

}  // namespace bridge
