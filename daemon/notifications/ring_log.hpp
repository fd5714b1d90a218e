#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "notifications/notification_feed.hpp"
#include "state/state_log.hpp"

namespace bridge {

/// An event's id that is longer cannot be asked for.
constexpr std::size_t longest_event_id = 1024;

/// Where a stream of the server stood: in which session, and behind which event.
struct StreamPosition {
  std::uint64_t session = 0;  ///< 0: nowhere
  std::string event_id;

  bool operator==(const StreamPosition&) const = default;
  template <class A>
  void each_field(A& archive) {
    archive(session, event_id);
  }
};

/// The ring that a log's records describe, in whatever order they tell of different entries. Pure.
/// Memory: that of the entries.
class RingReplay {
 public:
  // Each is false if the payload is none of that kind.
  /// `position` is set to that of the event the entry came in, if it has one.
  bool entry(std::string_view payload, StreamPosition& position);
  bool marks(std::string_view payload);
  bool superseded(std::string_view payload);
  bool counts(std::string_view payload);

  /// What they come to. Once.
  Ring::Saved take();

 private:
  std::map<Sequence, RingEntry> entries_;
  RingCounts counts_;
  Sequence oldest_{};
};

/// The ring's part of the log of the state: its entries and who has taken them, as they change.
///
/// Owned by the DaemonState; the loop's thread only. Memory: the marks of one turn.
class RingLog {
 public:
  /// `position`: where the server stream stands now. The parts outlive this.
  RingLog(EventLoop& loop, StateLog& log, NotificationFeed& feed,
          std::function<StreamPosition()> position);
  ~RingLog();

  /// From now on what happens to the ring is written. REQUIRES: it is restored.
  void begin();
  /// What has changed since is appended.
  void note_changes();
  void note_position();

  // For a log that is being rewritten.
  void begin_snapshot();
  /// Appends the position, before all entries.
  void snapshot_position(LogWriter& out);
  /// Appends about so many bytes of entries; false when all were said.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  /// Appends the counts, behind all entries.
  void end_snapshot(LogWriter& out);
  std::size_t saved_bytes() const;

 private:
  void changed(RingChange change, const RingEntry& entry);
  void mark(Sequence sequence, bool taken);
  void write_marks();

  StateLog& log_;
  NotificationFeed& feed_;
  std::function<StreamPosition()> position_;
  StreamPosition written_position_;
  bool marks_taken_ = false;
  std::vector<Sequence> marks_;  ///< of this turn, all taken or all given back
  RingCounts counts_;
  Sequence oldest_{};
  Sequence snapshot_at_{};   ///< entries up to this are in the new log
  Sequence snapshot_end_{};  ///< those after it are appended as they come
  DeadlineTimer look_;       ///< whether clients have read what they were given
};

}  // namespace bridge
