// What --metrics-listen serves and refuses, over loopback, by a clock that the test advances.
#include "control/metrics_listener.hpp"

#include "../support/captured_stderr.hpp"
#include "../support/loopback_callers.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

MetricsListenerOptions on_a_free_port() {
  MetricsListenerOptions options;
  options.address = parse_listen_address("127.0.0.1:0");
  return options;
}

struct ListenerFixture : LoopbackCallers {
  ListenerFixture() {
    take_port(listener.url());
    listener.start();
  }

  /// The response to this, with its body.
  std::string answer(std::string_view request, std::string_view more = {}) {
    FakePeer peer = connect();
    std::string head = std::string(request) + " HTTP/1.1\r\nHost: evil.example\r\n";
    return answer_to(peer, head.append(more).append("Connection: close\r\n\r\n"), "\x01");
  }

  bool is_ready = true;
  int asked = 0;
  CapturedStderr logged;
  Log log{LogLevel::warning};
  ByteBudget budget{64u << 20};
  MetricsListener listener{loop,
                           budget,
                           on_a_free_port(),
                           {[this] {
                              ++asked;
                              return std::string("m 1\n");
                            },
                            [this] { return is_ready; }},
                           log};
};

TEST_CASE("it answers three paths, whatever Host is, and has the metrics made for one of them") {
  ListenerFixture http;
  const std::string metrics = http.answer("GET /metrics?x=1");
  CHECK(is_status(metrics, 200));
  CHECK(metrics.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != metrics.npos);
  CHECK(metrics.ends_with("\r\n\r\nm 1\n"));
  CHECK(http.asked == 1);
  CHECK(http.answer("GET /healthz").ends_with("\r\n\r\nok\n"));
  CHECK(http.answer("GET /readyz").ends_with("\r\n\r\nready\n"));
  http.is_ready = false;
  CHECK(is_status(http.answer("GET /readyz"), 503));
  CHECK(is_status(http.answer("GET /healthz"), 200));
  CHECK(http.asked == 1);
  const std::string head = http.answer("HEAD /metrics");
  CHECK(is_status(head, 200));
  CHECK(head.ends_with("\r\n\r\n"));
}

TEST_CASE("it serves nothing else") {
  ListenerFixture http;
  for (const char* path : {"/", "/mcp", "/status", "/metrics/", "/openapi.json", "/METRICS"})
    CHECK(is_status(http.answer(std::string("GET ") + path), 404));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const std::string refusal = http.answer(std::string(method) + " /metrics");
    CHECK(is_status(refusal, 405));
    CHECK(refusal.find("Allow: GET, HEAD\r\n") != refusal.npos);
  }
  CHECK(is_status(http.answer("GET /metrics", "Content-Length: 1\r\n"), 413));
  CHECK(is_status(http.answer("GET /metrics", "Transfer-Encoding: chunked\r\n"), 413));
  CHECK(http.asked == 0);
}

TEST_CASE("what is idle gives way, so that nobody keeps the next caller out") {
  ListenerFixture http;
  std::vector<FakePeer> silent;
  for (std::size_t i = 0; i < 3 * MetricsListener::max_connections; ++i) {
    silent.push_back(http.connect());
    http.advance(milliseconds(1));
  }
  CHECK(is_status(http.answer("GET /metrics"), 200));
  // A connection that sends nothing is closed.
  http.advance(seconds(11));
  CHECK(http.has_ended(silent.back()));
}

TEST_CASE("a port that is taken ends the start and names the option") {
  ListenerFixture http;
  MetricsListenerOptions options;
  options.address = ListenAddress{"127.0.0.1", http.port};
  try {
    MetricsListener(http.loop, http.budget, options, {}, http.log);
    FAIL("it took a port that is taken");
  } catch (const StartError& error) {
    CHECK(error.code() == exit_code::cannot_bind);
    CHECK(std::string(error.what()).starts_with("--metrics-listen: 127.0.0.1 port "));
  }
}

}  // namespace
}  // namespace bridge
