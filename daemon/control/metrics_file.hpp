#pragma once

#include <functional>
#include <string>

#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// Writes `text` to `path`, whole or not at all: a file beside it, mode 0644, renamed onto it.
/// Returns what went wrong; empty: nothing.
std::string replace_file(const std::string& path, const std::string& text);

/// --metrics-file: the metrics for a textfile collector, at once and then every 15 s. At an orderly
/// end the file is removed, so that nobody takes the last figures for today's.
///
/// Owned by the daemon, only if the option is set; the loop's thread only. A write that fails is
/// logged and tried again with the next.
class MetricsFile {
 public:
  static constexpr std::chrono::seconds interval{15};

  MetricsFile(EventLoop& loop, std::string path, std::function<std::string()> text, Log& log);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void start() { write(); }

 private:
  void write();

  std::string path_;
  std::function<std::string()> text_;
  Log& log_;
  DeadlineTimer timer_;
  bool written_ = false;
};

}  // namespace bridge
