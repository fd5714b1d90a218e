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

/// The `params._meta.traceparent` of a request, if it is one (W3C Trace Context, section 3.2): else
/// nothing, so that a log line cannot be made to carry something else. Reads the params' members
/// again; for the log at debug level only. `params` is JSON or empty.
std::string traceparent_of(std::string_view params);

/// What became of a client's request.
enum class Outcome : std::uint8_t {
  ok,            ///< answered with a result
  error,         ///< answered with an error of the upstream's
  bridge_error,  ///< answered with an error of the bridge's
  cancelled,     ///< its client has cancelled it
  left,          ///< its client has left before the answer
};
constexpr std::size_t outcomes = 5;

/// From a request's last byte to its answer's, at the bridge; in microseconds.
inline constexpr std::array<std::int64_t, 16> total_bounds = {
    1'000,   2'500,     5'000,     10'000,    25'000,     50'000,     100'000,    250'000,
    500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000, 300'000'000};
inline constexpr std::array<std::int64_t, 13> added_bounds = {
    25, 50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 100'000, 1'000'000, 10'000'000};

/// Counters of the router for the status and the metrics: plain numbers of the loop's thread, read
/// on request.
struct Statistics {
  std::uint64_t requests = 0;            ///< of clients, without `bridge/*`
  std::uint64_t errors = 0;              ///< answered with an error, the upstream's or the bridge's
  std::uint64_t control_requests = 0;    ///< `bridge/*`
  std::uint64_t invalid_frames = 0;      ///< from clients
  std::uint64_t malformed_messages = 0;  ///< from upstream
  std::uint64_t unknown_answers = 0;     ///< answers to nothing, from either side
  std::uint64_t dropped_notifications = 0;

  /// Requests that have ended. Their sum, with those in flight and those queued, is `requests`.
  std::array<std::array<std::uint64_t, outcomes>, method_classes> ended{};
  /// The bridge's own errors, by kind.
  std::array<std::uint64_t, error_kinds> bridge_errors{};

  LatencyWindow total;
  LatencyWindow added;  ///< by the bridge itself
  std::array<Histogram<total_bounds>, method_classes> total_by_class;
  Histogram<added_bounds> added_in_all;

  struct LastError {
    WallTime at;
    ErrorKind kind;
    std::string message;
  };
  std::optional<LastError> last_error;

  void end(MethodClass of, Outcome outcome) {
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

/// How requests of clients end: in the statistics, and in the log, at debug level. Owned by the
/// router; the loop's thread only.
class RequestLog {
 public:
  RequestLog(EventLoop& loop, Log& log, Statistics& statistics)
      : loop_(loop), log_(log), statistics_(statistics) {}

  /// `frame` is the request as its client wrote it.
  void started(UpstreamId id, Call& call, const Frame& frame);
  void ended(UpstreamId id, const Call& call, Outcome outcome);
  /// A line at info level, whatever is counted or answered besides.
  void failed(UpstreamId id, const Call& call, const Failure& failure);
  /// Answers a request that the policy refuses: it is counted, but not the daemon's last error.
  void deny(Caller& caller, std::string_view method, std::string_view raw_id,
            const Failure& failure);
  /// Answers a request with the bridge's own error, or the upstream's error object in it.
  void answer_with(Caller& caller, std::string_view method, std::string_view raw_id,
                   const Failure& failure);
  // What the bridge answers in the upstream's place. `result`, `error`: JSON.
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
