#include "control/metrics_listener.hpp"

#include <utility>

#include "http/request.hpp"
#include "http/response.hpp"

namespace bridge {
namespace {

ListeningPort port_of(const MetricsListenerOptions& options) {
  if (options.inherited_listener) return ListeningPort::kept(*options.inherited_listener);
  return ListeningPort::open(*options.address, "--metrics-listen");
}

bool is_served(std::string_view path) {
  return path == "/metrics" || path == "/healthz" || path == "/readyz";
}

HttpResponse refusal_text(int status, std::string_view reason) {
  return text_response(status, std::string(reason).append("\n"));
}

}  // namespace

MetricsListener::MetricsListener(EventLoop& loop, ByteBudget& budget,
                                 const MetricsListenerOptions& options, Reports reports, Log& log)
    : MetricsListener(loop, budget, port_of(options), std::move(reports), log) {}

MetricsListener::MetricsListener(EventLoop& loop, ByteBudget& budget, ListeningPort port,
                                 Reports reports, Log& log)
    : reports_(std::move(reports)),
      log_(log),
      flush_(
          loop, [this] { server_.flush(); }, Deferred::Until::end_of_round),
      url_("http://" + port.authority),
      server_(HttpConnectionContext{loop, budget, counts_, *this, flush_, 0, stall},
              std::move(port), nullptr, max_connections, log) {}

void MetricsListener::start() {
  server_.start();
  log_.event(LogLevel::info, "metrics listener", "metrics, /healthz and /readyz on {}", url_);
}

Admission MetricsListener::request_begins(const HttpConnection&, const RequestHead& head,
                                          bool has_body) {
  if (!is_served(head.path))
    return {refusal_text(404, "only /metrics, /healthz and /readyz are served here")};
  if (head.method != "GET" && head.method != "HEAD") {
    HttpResponse response = refusal_text(405, "only GET and HEAD are answered");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return {std::move(response)};
  }
  if (has_body) return {refusal_text(413, "this request takes no body")};
  return {};
}

HttpResponse MetricsListener::refusal(int status, std::string_view reason) const {
  return refusal_text(status, reason);
}

void MetricsListener::request(HttpConnection& connection, RequestHead head, ReceivedText) {
  if (head.path == "/healthz") {
    connection.respond(text_response(200, "ok\n"));
  } else if (head.path == "/metrics") {
    connection.respond({200, "text/plain; version=0.0.4; charset=utf-8", reports_.metrics(), {}});
  } else if (reports_.is_ready()) {
    connection.respond(text_response(200, "ready\n"));
  } else {
    connection.respond(
        text_response(503, "the last try to reach or to use the upstream has failed\n"));
  }
}

}  // namespace bridge
