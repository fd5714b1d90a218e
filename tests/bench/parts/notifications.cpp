#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "harness/requests.hpp"
#include "harness/sockets.hpp"
#include "harness/statistics.hpp"
#include "harness/status.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

// The ring's own bound, and what may be added: what libcurl reads in one turn (100 times 16 KiB)
// and its messages, an event being read, and memory that the allocator cannot return yet.
constexpr double ring_mib = 16;
constexpr double slack_mib = 8;

struct Volley {
  std::size_t count;
  std::size_t padding;
};

std::string emit_post(const Volley& volley, const std::string& only_session) {
  std::string order =
      R"({"message":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":[")";
  order.append(volley.padding, 'x')
      .append("\",$N]}},\"count\":")
      .append(std::to_string(volley.count));
  if (!only_session.empty()) order.append(R"(,"session":")").append(only_session).append("\"");
  return http_post(order.append("}"), "", "/control/emit");
}

struct Reached {
  double a_second = 0;
  double peak_mib = 0;  ///< RssAnon
};

/// Only the probe is connected, which takes nothing.
Reached through_daemon(const Upstream& upstream, const Relay& daemon, const Volley& volley) {
  StatusProbe probe(daemon);
  wait_until("the server stream is open",
             [&] { return probe.ask().find("\"stream\":\"open\"") != std::string_view::npos; });
  std::size_t peak_kib = 0;
  const std::size_t goal = probe.number("newest") + volley.count;
  Caller control = upstream.connect();
  const std::string post = emit_post(volley, "");
  const double us = microseconds_of([&] {
    control.call(post);
    wait_until("all notifications are in the ring", [&] {
      peak_kib = std::max(peak_kib, status_kib(daemon.pid(), "RssAnon"));
      return probe.number("newest") >= goal;
    });
  });
  return {static_cast<double>(volley.count) * 1e6 / us, static_cast<double>(peak_kib) / 1024};
}

/// How fast the upstream can be read at most.
double directly(const Upstream& upstream, const Volley& volley) {
  const Descriptor stream = connect_tcp(upstream.port());
  write_all(stream.get(),
            "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " +
                upstream.session() + "\r\n\r\n");
  std::string bytes(1 << 20, '\0');
  if (read(stream.get(), bytes.data(), bytes.size()) <= 0) fail("read the stream");
  Caller control = upstream.connect();
  const std::string post = emit_post(volley, upstream.session());
  const std::string last = "\"," + std::to_string(volley.count) + "]}";
  const double us = microseconds_of([&] {
    control.call(post);
    std::string tail;
    while (tail.find(last) == tail.npos) {
      const ssize_t got = read(stream.get(), bytes.data(), bytes.size());
      if (got <= 0) fail("read the stream");
      tail = tail.substr(tail.size() - std::min(tail.size(), last.size())) +
             bytes.substr(0, static_cast<std::size_t>(got));
    }
  });
  return static_cast<double>(volley.count) * 1e6 / us;
}

}  // namespace

void measure_notifications(Setting& setting) {
  setting.report.title("Notifications into the ring, nobody connected");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  daemon.connect().call_well(line_request(echo_message("opens the session")));
  const double before = static_cast<double>(status_kib(daemon.pid(), "RssAnon")) / 1024;
  const Volley small{100'000, 0}, large{1'000, 60'000};
  Rounds rate, direct;
  double peak = 0;
  for (int round = 0; round < round_count; ++round) {
    const Reached reached = through_daemon(upstream, daemon, small);
    rate.add(reached.a_second);
    peak = std::max(peak, reached.peak_mib);
    direct.add(directly(upstream, small));
  }
  setting.report.at_least("100,000 small ones: rate", rate.middle(), 100'000, "/s");
  setting.report.note("  read by a bare socket", direct.middle(), "/s");
  setting.report.at_most("  RssAnon growth", peak - before, ring_mib + slack_mib, "MiB");
  Rounds large_rate;
  for (int round = 0; round < round_count; ++round) {
    const Reached reached = through_daemon(upstream, daemon, large);
    large_rate.add(reached.a_second);
    peak = std::max(peak, reached.peak_mib);
  }
  setting.report.at_most("1,000 of 60 kB, 7 times: RssAnon growth", peak - before,
                         ring_mib + slack_mib, "MiB");
  setting.report.note("  rate", large_rate.middle(), "/s");
}

}  // namespace bench
