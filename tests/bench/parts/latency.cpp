#include "harness/child.hpp"
#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t calls_a_round = 1000;
constexpr std::size_t warm_up = 200;

void measure(Setting& setting, const Upstream& upstream, const std::string& where, double limit) {
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
  const std::string message = echo_message("hello from the benchmark");
  const std::string post = upstream.request(message);
  const std::string line = line_request(message);
  Caller direct = upstream.connect(), through = daemon.connect(), relayed = bare.connect();
  const auto p50 = [](Caller& caller, const std::string& request, std::size_t calls) {
    return median_of(calls, [&] { caller.call_well(request); });
  };
  p50(direct, post, warm_up);
  p50(through, line, warm_up);
  p50(relayed, line, warm_up);
  Rounds ratio, bare_ratio, of_bare, direct_us, through_us;
  for (int round = 0; round < round_count; ++round) {
    const double straight = p50(direct, post, calls_a_round);
    const double bridged = p50(through, line, calls_a_round);
    ratio.add(bridged / straight);
    const double plain = p50(relayed, line, calls_a_round);
    bare_ratio.add(plain / straight);
    of_bare.add(bridged / plain);
    direct_us.add(straight);
    through_us.add(bridged);
  }
  setting.report.at_most("p50 of a call, one client, " + where + ": through/bare libcurl relay",
                         of_bare.middle(), limit, "x");
  setting.report.note("  through/direct", ratio.middle(), "x");
  setting.report.note("  a bare libcurl relay/direct", bare_ratio.middle(), "x");
  setting.report.note("  direct", direct_us.middle(), "us");
  setting.report.note("  through", through_us.middle(), "us");
}

}  // namespace

void measure_latency(Setting& setting) {
  setting.report.title("Latency");
  // Pinned: the kernel wakes processes on the same CPU or on different ones, which costs about 25
  // us each time and would dominate the figure.
  {
    const PinnedToOneCpu pinned;
    measure(setting, start_demo_upstream(setting.programs, setting.folder), "all on one CPU", 1.3);
  }
  if (cpu_count() < 2) return;
  // Usually a server is on another machine, and the daemon beside its client.
  const auto upstream = [&] {
    const PinnedToOneCpu pinned(1);
    return start_demo_upstream(setting.programs, setting.folder);
  }();
  const PinnedToOneCpu pinned;
  measure(setting, upstream, "the server on a CPU of its own", 1.25);
}

}  // namespace bench
