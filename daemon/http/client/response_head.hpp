#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace bridge {

/// The few header fields of an HTTP response that the bridge reads. Pure: the time is an argument.
struct ResponseHead {
  enum class Content : std::uint8_t { other, json, event_stream };

  int status = 0;
  bool complete = false;  ///< its empty line was received: curl accepts a truncated head
  Content content = Content::other;
  std::string other_content;  ///< any other type, in lower case, without parameters
  std::string session_id;
  std::string www_authenticate;
  std::string authorization_server;
  std::string location;
  std::string content_encoding;  ///< in lower case; empty: none
  std::optional<std::size_t> content_length;
  std::optional<std::chrono::seconds> retry_after;
  std::optional<std::chrono::seconds> keep_alive_timeout;

  /// Starts another head.
  void clear();
  /// Takes one line from curl's header callback, with its line end. Returns whether it completes
  /// the head.
  ///
  /// A status line starts a new head, so that nothing of informational ones (100 Continue, 103
  /// Early Hints) remains. What follows the final head is a trailer, which must not be merged into
  /// it (RFC 9110, section 6.5), and is ignored. The clock converts a Retry-After date into a
  /// duration.
  bool line(std::string_view text, const Clock& clock);

  bool is_success() const { return status >= 200 && status < 300; }
  bool refuses_token() const { return status == 401 || status == 403; }
  bool is_json() const { return content == Content::json; }
  bool is_event_stream() const { return content == Content::event_stream; }
  bool is_encoded() const { return !content_encoding.empty(); }
  /// Whether the body is not encoded, or as libcurl decodes it in bounded memory: not twice, nor in
  /// a coding with a large window (br, zstd).
  bool can_be_decoded() const;
  /// Sets the type from a Content-Type value.
  void set_content_type(std::string_view value);
  /// In lower case, without parameters.
  std::string_view content_type() const;

 private:
  void field(std::string_view name, std::string_view value, const Clock& clock);

  bool begun_ = false;  ///< a line was read
};

}  // namespace bridge
