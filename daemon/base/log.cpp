#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include "base/log_sinks.hpp"
#include "text/characters.hpp"
#include "text/secret_forms.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr int lines_in_a_window = 10;
constexpr std::chrono::seconds window{10};
constexpr std::size_t longest_body = 4096;
/// A stderr reader that takes longer for one line is treated as not reading at all.
constexpr std::chrono::milliseconds stderr_timeout{200};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: break;
  }
  return spdlog::level::off;
}

const char* pattern_of(LogFormat format, bool journal) {
  if (format == LogFormat::json) return "%v";
  return journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v";
}

class StderrSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit StderrSink(StderrWriter& writer) : writer_(writer) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    writer_.write({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  StderrWriter& writer_;
};

}  // namespace

struct Log::Sink {
  StderrWriter writer{STDERR_FILENO, stderr_timeout};
  spdlog::logger logger{"mcp-bridged", std::make_shared<StderrSink>(writer)};
};

Log::Log(LogOptions options, const Clock* clock)
    : clock_(clock != nullptr ? clock : &system_clock_),
      journal_(stderr_is_journal()),
      sink_(std::make_unique<Sink>()) {
  reconfigure(options);
}

Log::~Log() { report_suppressed(clock_->now(), true); }

void Log::reconfigure(const LogOptions& options) {
  level_ = options.level;
  format_ = options.format;
  bodies_ = options.bodies;
  sink_->logger.set_level(spdlog_level(level_));
  sink_->logger.set_pattern(pattern_of(format_, journal_));
}

void Log::write(LogLevel level, std::string_view kind, const LogFields& fields,
                std::string_view message) {
  if (const std::uint64_t lost = sink_->writer.take_lost()) {
    write_line(LogLevel::warning, "lost lines", {},
               fmt::format("{} log lines were lost: stderr was not read", lost));
  }
  write_line(level, kind, fields, message);
}

void Log::write_line(LogLevel level, std::string_view kind, const LogFields& fields,
                     std::string_view message) {
  std::string line;
  if (journal_) line = journal_prefix(level);
  if (format_ == LogFormat::json) {
    append_json_line(line, clock_->wall_time(), level, kind, fields, message);
  } else {
    append_text_line(line, fields, message);
  }
  sink_->logger.log(spdlog_level(level), spdlog::string_view_t(line));
}

void Log::write_body(std::string_view direction, const LogFields& fields, std::string_view frame) {
  const bool is_whole = frame.size() <= longest_body;
  write(
      LogLevel::debug, "body", fields,
      fmt::format("{} ({} bytes): {}{}", direction, frame.size(),
                  without_grants(std::string(frame.substr(0, longest_body))), is_whole ? "" : "…"));
}

bool Log::admit(LogLevel level, std::string_view kind) {
  const auto now = clock_->now();
  report_suppressed(now, false);
  Window& current = windows_.try_emplace(kind, Window{level, now, 0, 0}).first->second;
  if (now - current.began >= window) current = Window{level, now, 0, 0};
  if (current.lines >= lines_in_a_window) {
    ++current.suppressed;
    ++suppressed_;
    return false;
  }
  ++current.lines;
  return true;
}

// Reported with the first line of any kind of a peer's after the window, or at the daemon's end.
void Log::report_suppressed(std::chrono::steady_clock::time_point now, bool all) {
  for (auto& [kind, past] : windows_) {
    if (past.suppressed == 0 || (!all && now - past.began < window)) continue;
    const std::uint64_t count = std::exchange(past.suppressed, 0);
    if (enabled(past.level)) {
      write(past.level, kind, {},
            fmt::format("{} more lines about \"{}\" were not logged", count, kind));
    }
  }
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  append_visible(out, whole_characters(text, limit));
  return without_grants(std::move(out));
}

}  // namespace bridge
