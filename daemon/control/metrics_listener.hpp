#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "http/server/http_server.hpp"

namespace bridge {

struct MetricsListenerOptions {
  std::optional<ListenAddress> address;   ///< --metrics-listen; none: no such listener
  std::optional<int> inherited_listener;  ///< of the process before an upgrade, bound to `address`
};

/// --metrics-listen: /metrics, /healthz and /readyz over plain HTTP, for every peer that can reach
/// the address, and nothing else.
///
/// Owned by the daemon, only if the option is set; the loop's thread only. Bounds: max_connections,
/// of which the longest idle one is closed for a new one; no body is read; the engine's timeouts
/// for a head, and `stall` for a peer that does not read.
class MetricsListener final : private HttpRequests {
 public:
  static constexpr std::size_t max_connections = 16;
  static constexpr std::chrono::seconds stall{10};

  /// Its reports, made on request.
  struct Reports {
    std::function<std::string()> metrics;  ///< Prometheus exposition
    std::function<bool()> is_ready;
  };

  /// Binds the port; throws StartError (73). REQUIRES: options.address.
  MetricsListener(EventLoop& loop, ByteBudget& budget, const MetricsListenerOptions& options,
                  Reports reports, Log& log);

  void start();
  void stop_accepting() { server_.stop_accepting(); }
  void close_all() { server_.close_all(); }
  /// The listening descriptor, for the new process.
  int listener() const { return server_.listener(); }
  /// `http://127.0.0.1:9464`, as bound.
  const std::string& url() const { return url_; }

 private:
  MetricsListener(EventLoop& loop, ByteBudget& budget, ListeningPort port, Reports reports,
                  Log& log);

  Admission request_begins(const HttpConnection& connection, const RequestHead& head,
                           bool has_body) override;
  HttpResponse refusal(int status, std::string_view reason) const override;
  void request(HttpConnection& connection, RequestHead head, ReceivedText body) override;

  Reports reports_;
  Log& log_;
  ByteCounts counts_;
  Deferred flush_;
  std::string url_;
  HttpServer server_;
};

}  // namespace bridge
