#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bridge {

enum class LogLevel { debug, info, warning, error, off };

/// The daemon's log: one line an event on stderr. Never bodies, tokens or session ids.
///
/// Owned by main; the loop's thread only. What a peer can cause is logged through peer(), which lets
/// through a few lines of a kind in a while and counts the rest.
class Log {
 public:
  explicit Log(LogLevel level);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) {
    line(LogLevel::debug, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) {
    line(LogLevel::info, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) {
    line(LogLevel::warning, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) {
    line(LogLevel::error, text, std::forward<Args>(args)...);
  }

  /// A line that a peer can cause as often as it likes; `kind` is a literal that names the cause.
  template <class... Args>
  void peer(LogLevel level, std::string_view kind, fmt::format_string<Args...> text, Args&&... args) {
    if (!enabled(level) || !admit(level, kind)) return;
    write(level, fmt::format(text, std::forward<Args>(args)...));
  }

  void set_level(LogLevel level);

  bool enabled(LogLevel level) const { return level >= level_ && level != LogLevel::off; }

 private:
  struct Sink;
  struct Window {
    std::chrono::steady_clock::time_point began;
    int lines = 0;
    std::uint64_t suppressed = 0;
  };

  template <class... Args>
  void line(LogLevel level, fmt::format_string<Args...> text, Args&&... args) {
    if (enabled(level)) write(level, fmt::format(text, std::forward<Args>(args)...));
  }
  bool admit(LogLevel level, std::string_view kind);
  void write(LogLevel level, const std::string& text);

  LogLevel level_;
  std::unique_ptr<Sink> sink_;
  std::unordered_map<std::string_view, Window> windows_;
};

/// Text of a peer's for a log line or an error: at most `limit` bytes of it, what is not printable
/// ASCII replaced by '?'.
std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace bridge
