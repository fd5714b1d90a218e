#include "base/log_line.hpp"
#include "base/clock.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>

#include "text/json_text.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_request_id = 80;
constexpr std::size_t longest_method = 80;

double milliseconds(std::chrono::microseconds duration) {
  return static_cast<double>(duration.count()) / 1000;
}

/// A JSON string in which nothing is hidden from whoever reads the raw line.
std::string visible_quote(std::string_view text) {
  std::string quoted;
  append_visible(quoted, quote(text));
  return quoted;
}

/// An id's own characters: a string without its quotes, a number as it stands.
std::string_view id_text(std::string_view raw) {
  if (raw.size() >= 2 && raw.front() == '"') raw = raw.substr(1, raw.size() - 2);
  return raw.substr(0, longest_request_id);
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
    case LogLevel::off: break;
  }
  return "off";
}

void append_text_line(std::string& line, const LogFields& fields, std::string_view message) {
  const auto out = std::back_inserter(line);
  append_visible(line, message);
  if (fields.client) fmt::format_to(out, " client={}", value_of(*fields.client));
  if (!fields.request.empty())
    fmt::format_to(out, " request={}", printable(fields.request, longest_request_id));
  if (fields.upstream) fmt::format_to(out, " upstream={}", value_of(*fields.upstream));
  if (!fields.method.empty())
    fmt::format_to(out, " method={}", printable(fields.method, longest_method));
  if (!fields.traceparent.empty()) fmt::format_to(out, " traceparent={}", fields.traceparent);
  if (!fields.outcome.empty()) fmt::format_to(out, " outcome={}", fields.outcome);
  if (fields.duration) fmt::format_to(out, " duration_ms={:.3f}", milliseconds(*fields.duration));
}

void append_json_line(std::string& line, WallTime time, LogLevel level, std::string_view kind,
                      const LogFields& fields, std::string_view message) {
  const auto out = std::back_inserter(line);
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  fmt::format_to(
      out, R"({{"time":"{:%Y-%m-%dT%H:%M:%S}.{:03}Z","level":"{}","event":{},"message":{})",
      fmt::gmtime(static_cast<std::time_t>(since_epoch.count() / 1000)), since_epoch.count() % 1000,
      name_of(level), visible_quote(kind), visible_quote(message));
  if (fields.client) fmt::format_to(out, R"(,"client":{})", value_of(*fields.client));
  if (!fields.request.empty())
    fmt::format_to(out, R"(,"request":{})", visible_quote(id_text(fields.request)));
  if (fields.upstream) fmt::format_to(out, R"(,"upstream":{})", value_of(*fields.upstream));
  if (!fields.method.empty())
    fmt::format_to(out, R"(,"method":{})", visible_quote(fields.method.substr(0, longest_method)));
  if (!fields.traceparent.empty())
    fmt::format_to(out, R"(,"traceparent":{})", visible_quote(fields.traceparent));
  if (!fields.outcome.empty())
    fmt::format_to(out, R"(,"outcome":{})", visible_quote(fields.outcome));
  if (fields.duration)
    fmt::format_to(out, R"(,"duration_ms":{:.3f})", milliseconds(*fields.duration));
  line += '}';
}

}  // namespace bridge
