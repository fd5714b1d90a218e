#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "state/archive.hpp"
#include "state/log_format.hpp"

namespace bridge {

/// What the state survives.
enum class Sync {
  process,  ///< any end of the process
  power,    ///< also a loss of power
};

struct StateOptions {
  std::string folder;  ///< --state-dir; empty: no state is kept
  Sync sync = Sync::process;
  bool keep_session = true;  ///< --at-end keep: at an orderly shutdown it stays open at the server
};

/// The state as reported in the status and the metrics.
struct StateReport {
  bool durable = false;        ///< changes are being saved
  std::uint64_t bytes = 0;     ///< size of the log
  std::uint64_t failures = 0;  ///< how often writing it has failed
  std::uint64_t rewrites = 0;  ///< how often it was rewritten
  std::string error{};         ///< why it is not durable; empty: it is
};

/// The folder of the state (STATE.md): checked, and locked for its lifetime. Files in it are opened
/// by its descriptor, so that it cannot be replaced by another folder.
///
/// The constructor and open() throw StartError (73); all other errors are return values.
class StateFolder {
 public:
  /// Creates it (0700) if absent. It must be a real folder, of root or this user, that others
  /// cannot write to.
  explicit StateFolder(std::string path);

  /// As given by the user, for messages.
  const std::string& path() const { return path_; }
  int descriptor() const { return folder_.get(); }

  /// Opens a file of the state for reading and writing, or else only for reading. None if absent.
  /// Throws StartError unless only the state's owner can access the file.
  struct Opened {
    Descriptor file;
    bool is_writable = false;
  };
  Opened open(const std::string& name) const;
  /// Creates a new, empty file, replacing one of that name. On failure none, with errno.
  Descriptor create(const std::string& name) const;
  /// False, with errno, on failure.
  bool rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;
  /// Makes renames survive a loss of power.
  bool sync() const;

 private:
  void lock();

  std::string path_;
  Descriptor folder_;
  Descriptor lock_;
};

/// Appends records to one log: they are collected, and written with one write(2) by write(). Owned
/// by the StateLog; the loop's thread only. Memory: the collected records.
class LogWriter {
 public:
  /// Continues a log after its first `size` bytes.
  LogWriter(Descriptor file, const LogHeader& header, std::uint64_t size)
      : file_(std::move(file)), header_(header), written_(size) {}
  /// Starts a log in an empty file.
  LogWriter(Descriptor file, const LogHeader& header)
      : file_(std::move(file)), header_(header), gathered_(header_bytes(header)) {}

  void append(std::uint32_t type, std::string_view payload) {
    append_record(gathered_, written_, header_, type, payload);
  }
  /// A record of values, as they are now.
  template <class... Values>
  void append(std::uint32_t type, const Moment& now, const Values&... values) {
    append(type, Archive::write(Archive::Kind::disk, now, values...));
  }
  /// False, with errno, on failure; then no more may be written.
  bool write();
  /// Flushes what was written to the disk. False, with errno, on failure.
  bool sync() { return fdatasync(file_.get()) == 0; }

  bool has_gathered() const { return !gathered_.empty(); }
  /// Of the file, including what is still collected.
  std::uint64_t size() const { return written_ + gathered_.size(); }

 private:
  Descriptor file_;
  LogHeader header_;
  std::uint64_t written_ = 0;
  std::string gathered_;
};

/// Knows all that is to be saved, and writes it again when the log is rewritten. Implemented by
/// DaemonState.
class StateSource {
 public:
  /// Starts writing the present state.
  virtual void begin_snapshot() = 0;
  /// Appends about so many bytes of records; false when all is written. What has changed since
  /// begin_snapshot() was also appended as a change, and may be written in its present state.
  virtual bool continue_snapshot(LogWriter& out, std::size_t bytes) = 0;
  /// The approximate size of all of it.
  virtual std::size_t saved_bytes() const = 0;

 protected:
  ~StateSource() = default;
};

/// The log of the state in its folder (BEHAVIOUR, "State"; STATE.md): appended to once a turn, and
/// rewritten, in steps, when more than half of it is obsolete. If it cannot be written it is
/// renamed to `state.stale`, where it stays until a new one is complete; the daemon continues in
/// memory and tries to write a new one every 10 s.
///
/// Owned by the DaemonState; the loop's thread only. Bounds: the file is at most three times its
/// content, and 1 MiB. Errors are only logged.
class StateLog {
 public:
  StateLog(EventLoop& loop, StateFolder& folder, const TargetHash& target, Sync sync,
           StateSource& source, Log& log);

  /// Continues a log that was read, after its first `size` bytes. False if it cannot be written.
  bool proceed(Descriptor file, const LogHeader& header, std::uint64_t size);
  /// Writes a new log, at once if possible, else later.
  void begin();

  template <class... Values>
  void append(std::uint32_t type, const Values&... values) {
    append_payload(type, Archive::write(Archive::Kind::disk, now(), values...));
  }
  void append_payload(std::uint32_t type, std::string_view payload);
  /// For the values of other records.
  Moment now() const { return {loop_.now(), loop_.wall_time()}; }
  /// Writes what was appended to the file, if possible. Also continues rewriting the log.
  void write();
  /// Writes only what was appended: for what must be in the file before the turn ends.
  void write_now();

  bool is_durable() const { return current_.has_value(); }
  StateReport report() const;

 private:
  static constexpr std::chrono::seconds next_try{10};

  bool begin_rewrite();
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
  std::optional<LogWriter> next_;     ///< will replace it
  std::size_t appended_ = 0;          ///< since the last step
  bool has_failed_ = false;           ///< and that was logged
  std::string error_;                 ///< of the last try
  std::uint64_t failures_ = 0;
  std::uint64_t rewrites_ = 0;
  DeadlineTimer timer_;  ///< the next step, or the next try
};

}  // namespace bridge
