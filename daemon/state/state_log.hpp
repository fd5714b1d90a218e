#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "state/log_writer.hpp"
#include "state/state_folder.hpp"
#include "state/state_options.hpp"
#include "state/state_report.hpp"

namespace bridge {

/// Who knows all that is to be kept, and can say it again for a log that is written anew.
/// Implemented by DaemonState.
class StateSource {
 public:
  /// What there is now is to be said.
  virtual void begin_snapshot() = 0;
  /// Appends about so many bytes of records more; false when all was said. What has changed since
  /// begin_snapshot() was appended meanwhile, and may be said as it is now.
  virtual bool continue_snapshot(LogWriter& out, std::size_t bytes) = 0;
  /// About how many bytes all of it takes.
  virtual std::size_t saved_bytes() const = 0;

 protected:
  ~StateSource() = default;
};

/// The log of the state in its folder (BEHAVIOUR, "State"; STATE.md): appended to once a turn, and
/// written anew, in steps, when more than half of it is obsolete. If it cannot be written it is
/// renamed to `state.stale`, where it stays until a new one is complete; the daemon continues in
/// memory and tries to write a new one every 10 s.
///
/// Owned by the DaemonState; the loop's thread only. Bounds: the file is at most three times what
/// is kept, and 1 MiB. No error is more than a line in the log.
class StateLog {
 public:
  StateLog(EventLoop& loop, StateFolder& folder, const TargetHash& target, Sync sync,
           StateSource& source, Log& log);

  /// Goes on in a log that was read, behind its first `size` bytes. False if it cannot be written.
  bool go_on(Descriptor file, const LogHeader& header, std::uint64_t size);
  /// Writes one from nothing, if it can at once, else later.
  void begin();

  template <class... Values>
  void append(std::uint32_t type, const Values&... values) {
    append_payload(type, Archive::write(Archive::Kind::disk, now(), values...));
  }
  void append_payload(std::uint32_t type, std::string_view payload);
  /// For values of other records.
  Moment now() const { return {loop_.now(), loop_.wall_time()}; }
  /// Whatever was appended is in the file, if it can be. Goes on with a log that is written anew.
  void write();
  /// The same, and no more: for what must be in the file before the turn ends.
  void write_now();

  bool is_durable() const { return current_.has_value(); }
  StateReport report() const;

 private:
  static constexpr std::chrono::seconds next_try{10};

  bool begin_anew();
  void step();
  void finish();
  bool is_too_large() const;
  void fail();
  void give_up_new_one();
  void timer_fired();

  EventLoop& loop_;
  StateFolder& folder_;
  TargetHash target_;
  Sync sync_;
  StateSource& source_;
  Log& log_;
  std::optional<LogWriter> current_;  ///< none: nothing is durable
  std::optional<LogWriter> next_;     ///< the one that will take its place
  std::size_t appended_ = 0;          ///< since the last step
  bool has_failed_ = false;           ///< and that was said
  std::string error_;                 ///< why, of the last try
  std::uint64_t failures_ = 0;
  std::uint64_t rewrites_ = 0;
  DeadlineTimer timer_;  ///< the next step, or the next try
};

}  // namespace bridge
