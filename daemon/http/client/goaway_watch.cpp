#include "http/client/goaway_watch.hpp"

#include <algorithm>
#include <charconv>

namespace bridge {
namespace {

/// The number that stands behind these words.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == text.npos) return std::nullopt;
  std::int64_t value = 0;
  const char* const begin = text.data() + at + words.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc{} || end == begin) return std::nullopt;
  return value;
}

/// "Using Stream ID: 5 (…" (curl 7), "[HTTP/2] [5] OPENED stream for …" (curl 8).
std::optional<std::int64_t> stream_of(std::string_view text) {
  if (text.find("OPENED stream") != text.npos) return number_after(text, "[HTTP/2] [");
  return number_after(text, "Using Stream ID: ");
}

/// "Connected to … port 443 (#5)", "Re-using existing connection #5 with host …".
std::optional<std::int64_t> connection_of(std::string_view text) {
  if (text.starts_with("Connected to ")) return number_after(text, "(#");
  if (text.starts_with("Re-using ")) return number_after(text, "connection #");
  return std::nullopt;
}

}  // namespace

void GoawayWatch::line(const void* handle, std::string_view text,
                       std::optional<std::int64_t> connection) {
  if (text.find("GOAWAY") != text.npos) {
    const auto last = number_after(text, "last_stream=");
    if (!connection) {
      const auto found = requests_.find(handle);
      if (found != requests_.end()) connection = found->second.sent_connection;
    }
    if (!last || !connection) return;
    if (goaways_.size() == max_goaways) goaways_.pop_front();
    goaways_.push_back({*connection, *last});
    return;
  }
  const auto found = requests_.find(handle);
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (const auto number = connection_of(text)) {
    request.connection = number;
  } else if (const auto stream = stream_of(text)) {
    request.stream = *stream;
    request.sent_connection = connection ? connection : request.connection;
  }
}

bool GoawayWatch::left_out(const void* handle) const {
  const auto found = requests_.find(handle);
  if (found == requests_.end() || !found->second.sent_connection || found->second.stream == 0)
    return false;
  const Request& request = found->second;
  return std::any_of(goaways_.begin(), goaways_.end(), [&request](const Goaway& goaway) {
    return goaway.connection == *request.sent_connection && request.stream > goaway.last_stream;
  });
}

}  // namespace bridge
