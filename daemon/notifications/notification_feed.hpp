#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "notifications/ring.hpp"

namespace bridge {

/// Clients that are fed from the ring: UnixClients, HttpFrontend, Listens.
class NotificationReaders {
 public:
  /// The ring has a new entry.
  virtual void ring_grew() = 0;
  /// Reports to the ring what clients have read.
  virtual void acknowledge_read() = 0;

 protected:
  ~NotificationReaders() = default;
};

/// The ring and its readers. Owned by the daemon; the loop's thread only.
class NotificationFeed {
 public:
  /// `clock` outlives the feed.
  NotificationFeed(RingLimits limits, const Clock& clock)
      : clock_(clock), ring_(std::move(limits)) {}

  /// `readers` must outlive the feed's last use.
  void add_readers(NotificationReaders& readers) { readers_.push_back(&readers); }

  /// Puts a session notification into the ring and wakes the readers.
  void publish(std::string message, std::string_view method, std::string coalesce_key = {}) {
    // Entries that clients have read meanwhile count as taken, not dropped.
    const auto now = clock_.wall_time();
    if (ring_.about_to_drop(message.size(), now)) acknowledge_read();
    if (!ring_.push(std::move(message), method, std::move(coalesce_key), now)) return;
    for (NotificationReaders* readers : readers_) readers->ring_grew();
  }

  void acknowledge_read() {
    for (NotificationReaders* readers : readers_) readers->acknowledge_read();
  }

  Ring& ring() { return ring_; }
  const Ring& ring() const { return ring_; }

 private:
  const Clock& clock_;
  Ring ring_;
  std::vector<NotificationReaders*> readers_;
};

}  // namespace bridge
