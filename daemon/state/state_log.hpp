#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "state/archive.hpp"
#include "state/log_format.hpp"

namespace bridge {

/// What the state survives.
enum class Sync {
  process,  ///< the end of the process, whatever ended it
  power,    ///< that of the machine as well
};

struct StateOptions {
  std::string folder;  ///< --state-dir; empty: none is kept
  Sync sync = Sync::process;
  bool keep_session = true;  ///< --at-end keep: at an orderly end it stays open at the server
};

/// What is shown of the state: in the status and the metrics.
struct StateReport {
  bool durable = false;        ///< what happens now is kept
  std::uint64_t bytes = 0;     ///< of the log
  std::uint64_t failures = 0;  ///< so often it could not be written any more
  std::uint64_t rewrites = 0;  ///< so often it was written anew
  std::string error{};         ///< why it is not durable; empty: it is
};

/// The folder of the state (STATE.md): checked, and locked for as long as this lives. Files are
/// named in it by its descriptor, so that nobody puts another folder in its place.
///
/// Throws StartError (73) if it cannot be had; all else are values.
class StateFolder {
 public:
  /// Makes it (0700) if it is not there. It must be a real folder, of root or of this user, that
  /// others cannot write.
  explicit StateFolder(std::string path);

  /// As it was given, for people.
  const std::string& path() const { return path_; }
  int descriptor() const { return folder_.get(); }

  /// Opens a file of the state for reading and writing, or if that cannot be had only for reading.
  /// None if there is none. Throws StartError if it is not a file of the state's owner alone.
  struct Opened {
    Descriptor file;
    bool is_writable = false;
  };
  Opened open(const std::string& name) const;
  /// A new, empty file in the place of what has that name. None and errno if it cannot be had.
  Descriptor create(const std::string& name) const;
  /// False and errno if it cannot be.
  bool rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;
  /// What was renamed is there after a loss of power, too.
  bool sync() const;

 private:
  void lock();

  std::string path_;
  Descriptor folder_;
  Descriptor lock_;
};

/// Appends records to one log: they are gathered, and written with one write(2) when that is asked
/// for. Owned by the StateLog; the loop's thread only. Memory: what was gathered since.
class LogWriter {
 public:
  /// Goes on behind the first `size` bytes of a log.
  LogWriter(Descriptor file, const LogHeader& header, std::uint64_t size)
      : file_(std::move(file)), header_(header), written_(size) {}
  /// Begins one in an empty file.
  LogWriter(Descriptor file, const LogHeader& header)
      : file_(std::move(file)), header_(header), gathered_(header_bytes(header)) {}

  void append(std::uint32_t type, std::string_view payload) {
    append_record(gathered_, written_, header_, type, payload);
  }
  /// Of values, as they are now.
  template <class... Values>
  void append(std::uint32_t type, const Moment& now, const Values&... values) {
    append(type, Archive::write(Archive::Kind::disk, now, values...));
  }
  /// False and errno if it fails; then nothing more is to be written.
  bool write();
  /// What was written is on the disk. False and errno if that fails.
  bool sync() { return fdatasync(file_.get()) == 0; }

  bool has_gathered() const { return !gathered_.empty(); }
  /// Of the file, when all is written.
  std::uint64_t size() const { return written_ + gathered_.size(); }

 private:
  Descriptor file_;
  LogHeader header_;
  std::uint64_t written_ = 0;
  std::string gathered_;
};

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
