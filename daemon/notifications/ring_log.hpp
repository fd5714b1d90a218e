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

/// The longest event id that is used for resuming.
constexpr std::size_t longest_event_id = 1024;

/// A position in the server's stream: the session and the last event.
struct StreamPosition {
  std::uint64_t session = 0;  ///< 0: none
  std::string event_id;

  bool operator==(const StreamPosition&) const = default;
  template <class A>
  void each_field(A& archive) {
    archive(session, event_id);
  }
};

/// Restores a ring from a log's records; records of different entries may be in any order. Pure.
/// Memory: that of the entries.
class RingReplay {
 public:
  // Each returns false if the payload is of another kind.
  /// `position` is set if the record contains the position of the entry's event.
  bool entry(std::string_view payload, StreamPosition& position);
  bool marks(std::string_view payload);
  bool superseded(std::string_view payload);
  bool counts(std::string_view payload);

  /// The restored ring. Called once.
  Ring::Saved take();

 private:
  std::map<Sequence, RingEntry> entries_;
  RingCounts counts_;
  Sequence oldest_{};
};

/// The ring's part of the state's log: writes entries and their marks as they change.
///
/// Owned by the DaemonState; the loop's thread only. Memory: the marks of one turn.
class RingLog {
 public:
  /// `position`: returns the present position in the server's stream. The parts outlive this.
  RingLog(EventLoop& loop, StateLog& log, NotificationFeed& feed,
          std::function<StreamPosition()> position);
  ~RingLog();

  /// Begins to write changes. REQUIRES: the ring was restored.
  void begin();
  /// Writes the changes since the last call.
  void note_changes();
  void note_position();

  // For rewriting the log.
  void begin_snapshot();
  /// Appends the position, before all entries.
  void snapshot_position(LogWriter& out);
  /// Appends about this many bytes of entries; false when complete.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  /// Appends the counters, after all entries.
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
  Sequence snapshot_at_{};   ///< entries up to this one are in the new log
  Sequence snapshot_end_{};  ///< later ones are appended as they change
  DeadlineTimer look_;       ///< checks what clients have read
};

}  // namespace bridge
