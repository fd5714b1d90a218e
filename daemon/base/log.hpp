#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace bridge {

enum class LogLevel { debug, info, warning, error, off };
enum class LogFormat { text, json };

struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool bodies = false;  ///< frames too, at debug level, including any secrets in them
};

/// What a line is about, besides its message. Unset fields are left out. In both formats the names
/// are those of the members.
struct LogFields {
  std::optional<ClientId> client{};
  std::string_view request{};            ///< the client's id of the request, as JSON
  std::optional<UpstreamId> upstream{};  ///< the bridge's id of the message
  std::string_view method{};
  std::string_view traceparent{};  ///< W3C Trace Context
  std::string_view outcome{};
  std::optional<std::chrono::microseconds> duration{};
};

/// The daemon's log: one line per event on stderr. Never bodies (except with --log-bodies), tokens
/// or session ids.
///
/// As text: time, level, message, fields; as JSON: an object with `time`, `level`, `event`,
/// `message` and the fields. If stderr is the journal each line begins with its priority,
/// sd-daemon(3), and the text has neither time nor level, which the journal records.
///
/// Owned by main; the loop's thread only. Events that a peer can cause are logged through peer(),
/// which passes a few lines of a kind per interval and counts the rest. If stderr is a pipe without
/// a reader, lines are lost and counted instead of blocking the daemon (StderrWriter).
class Log {
 public:
  /// `clock` measures the window of peer(); null: the machine's.
  explicit Log(LogOptions options, const Clock* clock = nullptr);
  explicit Log(LogLevel level) : Log(LogOptions{level, LogFormat::text, false}) {}
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `kind` is a literal that names the event: `event` in JSON.
  template <class... Args>
  void event(LogLevel level, std::string_view kind, const LogFields& fields,
             fmt::format_string<Args...> text, Args&&... args) {
    if (enabled(level)) write(level, kind, fields, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void event(LogLevel level, std::string_view kind, fmt::format_string<Args...> text,
             Args&&... args) {
    if (enabled(level)) write(level, kind, {}, fmt::format(text, std::forward<Args>(args)...));
  }

  /// Logs what a peer can cause as often as it likes; `kind` is a literal that names the cause.
  template <class... Args>
  void peer(LogLevel level, std::string_view kind, const LogFields& fields,
            fmt::format_string<Args...> text, Args&&... args) {
    if (!enabled(level) || !admit(level, kind)) return;
    write(level, kind, fields, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void peer(LogLevel level, std::string_view kind, fmt::format_string<Args...> text,
            Args&&... args) {
    if (!enabled(level) || !admit(level, kind)) return;
    write(level, kind, {}, fmt::format(text, std::forward<Args>(args)...));
  }

  /// Logs a frame, if --log-bodies is set; only its first 4 KiB.
  void body(std::string_view direction, const LogFields& fields, std::string_view frame) {
    if (bodies_ && enabled(LogLevel::debug)) write_body(direction, fields, frame);
  }

  void reconfigure(const LogOptions& options);

  bool enabled(LogLevel level) const { return level >= level_ && level != LogLevel::off; }
  /// Lines of peer() that were only counted.
  std::uint64_t suppressed() const { return suppressed_; }

 private:
  struct Sink;
  struct Window {
    LogLevel level;
    SteadyTime began;
    int lines = 0;
    std::uint64_t suppressed = 0;
  };

  bool admit(LogLevel level, std::string_view kind);
  void report_suppressed(SteadyTime now, bool all);
  void write(LogLevel level, std::string_view kind, const LogFields& fields,
             std::string_view message);
  void write_line(LogLevel level, std::string_view kind, const LogFields& fields,
                  std::string_view message);
  void write_body(std::string_view direction, const LogFields& fields, std::string_view frame);

  SystemClock system_clock_;
  const Clock* clock_;
  LogLevel level_ = LogLevel::info;
  LogFormat format_ = LogFormat::text;
  bool bodies_ = false;
  bool journal_;
  std::unique_ptr<Sink> sink_;
  std::unordered_map<std::string_view, Window> windows_;
  std::uint64_t suppressed_ = 0;
};

/// Text of a peer, for a person: at most `limit` bytes of it, no character cut in two, without
/// white space at its end. Characters that would be invisible become escapes, which the limit does
/// not count.
std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace bridge
