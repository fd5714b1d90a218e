#include "base/log_sinks.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/visible_text.hpp"

namespace bridge {

bool names_file(std::string_view variable, dev_t device, ino_t inode) {
  const char* const last = variable.data() + variable.size();
  std::uint64_t named_device = 0;
  const auto [colon, device_error] = std::from_chars(variable.data(), last, named_device);
  if (device_error != std::errc() || colon == last || *colon != ':') return false;
  std::uint64_t named_inode = 0;
  const auto [end, inode_error] = std::from_chars(colon + 1, last, named_inode);
  return inode_error == std::errc() && end == last && named_device == device &&
         named_inode == inode;
}

bool stderr_is_journal() {
  const char* const variable = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  return variable != nullptr && fstat(STDERR_FILENO, &file) == 0 &&
         names_file(variable, file.st_dev, file.st_ino);
}

std::string_view journal_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "<7>";
    case LogLevel::info: return "<6>";
    case LogLevel::warning: return "<4>";
    case LogLevel::error:
    case LogLevel::off: break;
  }
  return "<3>";
}

StderrWriter::StderrWriter(int descriptor, std::chrono::milliseconds timeout)
    : descriptor_(descriptor), timeout_(timeout) {
  struct stat status {};
  is_pipe_ = fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool StderrWriter::write(std::string_view line) {
  const auto timeout = stuck_ ? std::chrono::milliseconds(0) : timeout_;
  const std::size_t whole = line.size();
  while (!line.empty()) {
    if (is_pipe_ && !has_room(timeout)) {
      stuck_ = true;
      halved_ = halved_ || line.size() < whole;
      ++lost_;
      return false;
    }
    if (halved_) {
      std::string_view line_end = "\n";
      if (!write_some(line_end)) return false;
      halved_ = false;
      continue;
    }
    if (!write_some(line)) return false;
  }
  stuck_ = false;
  return true;
}

std::uint64_t StderrWriter::take_lost() {
  if (lost_ == 0 || !has_room(std::chrono::milliseconds(0))) return 0;
  return std::exchange(lost_, 0);
}

/// Room in a pipe means room for PIPE_BUF bytes, pipe(7): so much is written at once.
bool StderrWriter::has_room(std::chrono::milliseconds timeout) const {
  pollfd watched{descriptor_, POLLOUT, 0};
  return poll(&watched, 1, static_cast<int>(timeout.count())) > 0;
}

/// False if no more can be written.
bool StderrWriter::write_some(std::string_view& rest) const {
  const std::size_t size = is_pipe_ ? std::min<std::size_t>(rest.size(), PIPE_BUF) : rest.size();
  const ssize_t written = ::write(descriptor_, rest.data(), size);
  if (written < 0) return errno == EINTR;
  rest.remove_prefix(static_cast<std::size_t>(written));
  return true;
}

namespace {

constexpr std::size_t longest_request_id = 80;
constexpr std::size_t longest_method = 80;

double milliseconds(std::chrono::microseconds duration) {
  return static_cast<double>(duration.count()) / 1000;
}

/// A JSON string in which nothing is hidden from a reader of the raw line.
std::string visible_quote(std::string_view text) {
  std::string quoted;
  append_visible(quoted, quote(text));
  return quoted;
}

/// The characters of an id: a string without its quotes, a number unchanged.
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
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  JsonObject object;
  const auto add = [&object](std::string_view name, std::string_view text) {
    if (!text.empty()) object.add(name, RawJson{visible_quote(text)});
  };
  object
      .add("time", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                               fmt::gmtime(static_cast<std::time_t>(since_epoch.count() / 1000)),
                               since_epoch.count() % 1000))
      .add("level", name_of(level))
      .add("event", RawJson{visible_quote(kind)})
      .add("message", RawJson{visible_quote(message)});
  if (fields.client) object.add("client", value_of(*fields.client));
  add("request", fields.request.empty() ? std::string() : id_text(fields.request));
  if (fields.upstream) object.add("upstream", value_of(*fields.upstream));
  add("method", fields.method.substr(0, longest_method));
  add("traceparent", fields.traceparent);
  add("outcome", fields.outcome);
  if (fields.duration)
    object.add("duration_ms", RawJson{fmt::format("{:.3f}", milliseconds(*fields.duration))});
  line += object.text();
}

}  // namespace bridge
