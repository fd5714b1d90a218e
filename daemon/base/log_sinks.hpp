#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace bridge {

/// Whether `variable` (JOURNAL_STREAM, `device:inode`) names this file: systemd.exec(5),
/// "Environment variables set or propagated by the service manager".
bool names_file(std::string_view variable, dev_t device, ino_t inode);

/// Whether stderr goes to the journal, so that a line may begin with its priority.
bool stderr_is_journal();

/// `<N>`, the priority that the journal strips from the line: sd-daemon(3).
std::string_view journal_prefix(LogLevel level);

/// Writes whole lines to a descriptor that is shared with other processes: its flags stay as they
/// are.
///
/// A pipe may be full, and its reader may have stopped reading. A line waits for room for at most
/// `timeout`; then it is lost and counted, and further lines are not waited for until there is room
/// again. Anything but a pipe is written to as a file.
class StderrWriter {
 public:
  explicit StderrWriter(int descriptor, std::chrono::milliseconds timeout);

  /// `line` includes its line end. False if the line or its end was lost.
  bool write(std::string_view line);

  /// Lines lost since the last call that returned more than 0; 0 until there is room again.
  std::uint64_t take_lost();

 private:
  bool has_room(std::chrono::milliseconds timeout) const;
  bool write_some(std::string_view& rest) const;

  int descriptor_;
  std::chrono::milliseconds timeout_;
  bool is_pipe_;
  bool stuck_ = false;   ///< the last line was lost
  bool halved_ = false;  ///< and its beginning had been written
  std::uint64_t lost_ = 0;
};

// One line of the log, without its line end. Pure. No text of a peer can break the line or hide in
// it: control, bidi and invisible characters are escaped, in text and in JSON alike.

/// `message client=1 request="a" upstream=7 …`.
void append_text_line(std::string& line, const LogFields& fields, std::string_view message);

/// `{"time":"2026-01-31T12:00:00.000Z","level":"info","event":…,"message":…,"client":1,…}`.
/// `request` is always a string, `duration_ms` a number.
void append_json_line(std::string& line, WallTime time, LogLevel level, std::string_view kind,
                      const LogFields& fields, std::string_view message);

std::string_view name_of(LogLevel level);

}  // namespace bridge
