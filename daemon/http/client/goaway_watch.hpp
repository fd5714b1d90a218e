#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace bridge {

/// Knows which requests a server has left out by ending an HTTP/2 connection: those on streams
/// above the last one that its GOAWAY names, which it has not acted on (RFC 9113, section 6.8).
///
/// curl tells of that only in its log, so its lines are read here; where they are not understood
/// nobody counts as left out. Pure. Bounded by the handles and the last connections.
class GoawayWatch {
 public:
  /// A request begins on this handle.
  void begin(const void* handle) { requests_[handle] = Request{}; }
  void forget(const void* handle) { requests_.erase(handle); }

  /// One line of curl's log about this handle. `connection` is curl's number of its connection, if
  /// the caller knows it; else it is taken from the lines.
  void line(const void* handle, std::string_view text,
            std::optional<std::int64_t> connection = std::nullopt);

  /// Whether the server has said that it does not act on what was sent on this handle last.
  bool left_out(const void* handle) const;

 private:
  struct Request {
    std::optional<std::int64_t> connection;       ///< it is on now
    std::optional<std::int64_t> sent_connection;  ///< and was on when its stream began
    std::int64_t stream = 0;
  };
  struct Goaway {
    std::int64_t connection;
    std::int64_t last_stream;
  };

  static constexpr std::size_t max_goaways = 64;

  std::unordered_map<const void*, Request> requests_;
  std::deque<Goaway> goaways_;
};

}  // namespace bridge
