#include "http/client/response_head.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "text/characters.hpp"
#include "text/trim.hpp"

namespace bridge {
namespace {

constexpr std::string_view json = "application/json";
constexpr std::string_view event_stream = "text/event-stream";

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// RFC 9110, section 10.2.3: seconds or a date. At most a year, so that sums do not overflow.
std::optional<std::chrono::seconds> retry_after_of(std::string_view value, const Clock& clock) {
  constexpr std::chrono::seconds longest = std::chrono::hours(365 * 24);
  if (const auto seconds = number<unsigned>(value))
    return std::min(std::chrono::seconds(*seconds), longest);
  const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const auto now = std::chrono::floor<std::chrono::seconds>(clock.wall_time());
  return std::clamp(std::chrono::seconds(date) - now.time_since_epoch(), std::chrono::seconds(0),
                    longest);
}

std::optional<std::chrono::seconds> keep_alive_of(std::string_view given) {
  const std::string lowered = ascii_lower(given);
  std::string_view value = lowered;
  const auto at = value.find("timeout=");
  if (at == value.npos) return std::nullopt;
  value.remove_prefix(at + 8);
  const auto seconds = number<unsigned>(trimmed(value.substr(0, value.find_first_of(", ;"))));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace

bool ResponseHead::line(std::string_view text, const Clock& clock) {
  if (complete) return false;
  const bool begins = text.starts_with("HTTP/");
  if (begins) clear();
  begun_ = true;
  if (begins) {
    const auto space = text.find(' ');
    if (space != text.npos) status = number<int>(trimmed(text.substr(space, 4))).value_or(0);
    return false;
  }
  if (text == "\r\n" || text == "\n") {
    complete = status >= 200;
    return complete;
  }
  const auto colon = text.find(':');
  if (colon != text.npos) field(text.substr(0, colon), trimmed(text.substr(colon + 1)), clock);
  return false;
}

void ResponseHead::clear() {
  if (begun_) *this = ResponseHead{};
}

void ResponseHead::set_content_type(std::string_view value) {
  const std::string_view type = trimmed(value.substr(0, value.find(';')));
  content = equal_ignoring_case(type, json)           ? Content::json
            : equal_ignoring_case(type, event_stream) ? Content::event_stream
                                                      : Content::other;
  other_content = content == Content::other ? ascii_lower(type) : std::string();
}

std::string_view ResponseHead::content_type() const {
  switch (content) {
    case Content::json: return json;
    case Content::event_stream: return event_stream;
    case Content::other: break;
  }
  return other_content;
}

bool ResponseHead::can_be_decoded() const {
  return !is_encoded() || content_encoding == "gzip" || content_encoding == "x-gzip" ||
         content_encoding == "deflate";
}

// By length first: most lines are none of these.
void ResponseHead::field(std::string_view name, std::string_view value, const Clock& clock) {
  switch (name.size()) {
    case 8:
      if (equal_ignoring_case(name, "location")) location = value;
      break;
    case 10:
      if (equal_ignoring_case(name, "keep-alive")) keep_alive_timeout = keep_alive_of(value);
      break;
    case 11:
      if (equal_ignoring_case(name, "retry-after")) retry_after = retry_after_of(value, clock);
      break;
    case 12:
      if (equal_ignoring_case(name, "content-type")) set_content_type(value);
      break;
    case 14:
      if (equal_ignoring_case(name, "content-length")) content_length = number<std::size_t>(value);
      if (equal_ignoring_case(name, "mcp-session-id")) session_id = value;
      break;
    case 15:
      if (equal_ignoring_case(name, "mcp-auth-server")) authorization_server = value;
      break;
    case 16:
      if (equal_ignoring_case(name, "content-encoding") &&
          !equal_ignoring_case(value, "identity")) {
        if (is_encoded()) content_encoding += ", ";
        content_encoding += ascii_lower(value);
      }
      if (!equal_ignoring_case(name, "www-authenticate")) break;
      if (!www_authenticate.empty()) www_authenticate += ", ";  // several challenges form one list
      www_authenticate += value;
      break;
    default: break;
  }
}

}  // namespace bridge
