#pragma once

#include <string_view>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "router/client.hpp"
#include "router/pending_requests.hpp"
#include "router/statistics.hpp"

namespace bridge {

/// How requests of clients end: in the statistics, and in the log, at debug level. Owned by the
/// router; the loop's thread only.
class RequestLog {
 public:
  RequestLog(EventLoop& loop, Log& log, Statistics& statistics)
      : loop_(loop), log_(log), statistics_(statistics) {}

  /// `frame` is the request as its client wrote it.
  void started(UpstreamId id, PendingRequest& request, const Frame& frame);
  void ended(UpstreamId id, const PendingRequest& request, Outcome outcome);
  /// A line at info level, whatever is counted or answered besides.
  void failed(UpstreamId id, const PendingRequest& request, const Failure& failure);
  /// Answers a client's request with the bridge's own error, or the upstream's error object in it.
  void answer_with(Client& client, std::string_view method, std::string_view raw_id,
                   const Failure& failure);

 private:
  static LogFields fields_of(UpstreamId id, const PendingRequest& request);

  EventLoop& loop_;
  Log& log_;
  Statistics& statistics_;
};

}  // namespace bridge
