#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/call.hpp"
#include "router/client.hpp"

namespace bridge {

/// The `params._meta.traceparent` of a request if it is valid (W3C Trace Context, section 3.2),
/// else empty: a log line must not carry arbitrary text. Parses the params again: only for the log
/// at debug level and the audit. `params` is JSON or empty.
std::string traceparent_of(std::string_view params);

/// How a client's request ended.
enum class Outcome : std::uint8_t {
  ok,            ///< answered with a result
  error,         ///< answered with an error of the upstream's
  bridge_error,  ///< answered with an error of the bridge's
  cancelled,     ///< its client has cancelled it
  left,          ///< its client has left before the answer
};
constexpr std::size_t outcomes = 5;

/// Bounds of the latency histogram: from the last byte of a request to the last byte of its answer,
/// in microseconds.
inline constexpr std::array<std::int64_t, 16> total_bounds = {
    1'000,   2'500,     5'000,     10'000,    25'000,     50'000,     100'000,    250'000,
    500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000, 300'000'000};
inline constexpr std::array<std::int64_t, 13> added_bounds = {
    25, 50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 100'000, 1'000'000, 10'000'000};

/// Counters of the router for status and metrics; the loop's thread only.
struct Statistics {
  std::uint64_t requests = 0;            ///< of clients, without `bridge/*`
  std::uint64_t errors = 0;              ///< answered with an error, of the upstream or the bridge
  std::uint64_t control_requests = 0;    ///< `bridge/*`
  std::uint64_t invalid_frames = 0;      ///< from clients
  std::uint64_t malformed_messages = 0;  ///< from upstream
  std::uint64_t unknown_answers = 0;     ///< unsolicited responses, from either side
  std::uint64_t dropped_notifications = 0;

  /// Requests that have ended. With those in flight and waiting they add up to `requests`.
  std::array<std::array<std::uint64_t, outcomes>, method_classes> ended{};
  /// The bridge's own errors, by kind.
  std::array<std::uint64_t, error_kinds> bridge_errors{};

  LatencyWindow total;
  LatencyWindow added;  ///< latency added by the bridge
  std::array<Histogram<total_bounds>, method_classes> total_by_class;
  Histogram<added_bounds> added_in_all;

  struct LastError {
    WallTime at;
    ErrorKind kind;
    std::string message;
  };
  std::optional<LastError> last_error;

  void count_end(MethodClass of, Outcome outcome) {
    ++ended[static_cast<std::size_t>(of)][static_cast<std::size_t>(outcome)];
    if (outcome == Outcome::error || outcome == Outcome::bridge_error) ++errors;
  }

  void answered_in(MethodClass of, std::chrono::steady_clock::duration whole,
                   std::chrono::steady_clock::duration here) {
    total.add(whole);
    added.add(here);
    total_by_class[static_cast<std::size_t>(of)].add(whole);
    added_in_all.add(here);
  }

  void failed(WallTime at, ErrorKind kind, std::string message) {
    last_error = LastError{at, kind, std::move(message)};
  }
};

constexpr std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok: return "ok";
    case Outcome::error: return "error";
    case Outcome::bridge_error: return "bridge_error";
    case Outcome::cancelled: return "cancelled";
    case Outcome::left: return "left";
  }
  return "ok";
}

/// Records how requests of clients end: in the statistics, and at debug level in the log. Owned by
/// the router; the loop's thread only.
class RequestLog {
 public:
  RequestLog(EventLoop& loop, Log& log, Statistics& statistics)
      : loop_(loop), log_(log), statistics_(statistics) {}

  /// `frame` is the request as its client wrote it.
  void started(UpstreamId id, Call& call, const Frame& frame);
  void request_ended(UpstreamId id, const Call& call, Outcome outcome);
  /// Logs a failure at info level; counts and answers nothing.
  void failed(UpstreamId id, const Call& call, const Failure& failure);
  /// Answers a request that the policy refuses: counted, but not shown as the daemon's last error.
  void deny(Caller& caller, std::string_view method, std::string_view raw_id,
            const Failure& failure);
  /// Answers a request with the bridge's own error, or with the upstream's error object in it; one
  /// of the bridge itself is not counted.
  void answer_with(Caller& caller, std::string_view method, std::string_view raw_id,
                   const Failure& failure);
  // Answers of the bridge in place of the upstream. `result`, `error`: JSON.
  void answer_result(Client& client, const Frame& request, std::string_view result);
  void answer_error(Client& client, const Frame& request, std::string_view error);
  void answer_error(Client& client, const Frame& request, int code, std::string_view message);

 private:
  static LogFields fields_of(UpstreamId id, const Call& call);

  EventLoop& loop_;
  Log& log_;
  Statistics& statistics_;
};

}  // namespace bridge
