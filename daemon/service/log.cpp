#include "service/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace bridge {
namespace {

constexpr int lines_in_a_window = 10;
constexpr std::chrono::seconds window{10};

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

}  // namespace

struct Log::Sink {
  spdlog::logger logger{"mcp-bridged", std::make_shared<spdlog::sinks::stderr_sink_st>()};
};

Log::Log(LogLevel level) : level_(level), sink_(std::make_unique<Sink>()) {
  sink_->logger.set_level(spdlog_level(level));
  sink_->logger.set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  sink_->logger.flush_on(spdlog::level::debug);
}

Log::~Log() = default;

void Log::set_level(LogLevel level) {
  level_ = level;
  sink_->logger.set_level(spdlog_level(level));
}

void Log::write(LogLevel level, const std::string& text) {
  sink_->logger.log(spdlog_level(level), "{}", text);
}

bool Log::admit(LogLevel level, std::string_view kind) {
  Window& current = windows_[kind];
  const auto now = std::chrono::steady_clock::now();
  if (now - current.began >= window) {
    if (current.suppressed > 0) {
      write(level, fmt::format("{} more lines about \"{}\" were not logged", current.suppressed, kind));
    }
    current = Window{now, 0, 0};
  }
  if (current.lines >= lines_in_a_window) {
    ++current.suppressed;
    return false;
  }
  ++current.lines;
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    if (c < 0x20 || c > 0x7E) c = '?';
  }
  return out;
}

}  // namespace bridge
