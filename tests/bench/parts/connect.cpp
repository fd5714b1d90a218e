#include <string>

#include "harness/child.hpp"
#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t calls_a_round = 500;

/// `limit`: of connect+call+close through the daemon, as a multiple of the bare relay's.
void measure(Setting& setting, const Upstream& upstream, const std::string& where, double limit) {
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
  const std::string message = echo_message("hello from the benchmark");
  const std::string post = upstream.request(message);
  const std::string line = line_request(message);
  Caller direct = upstream.connect(), open = daemon.connect();
  const auto kept = [&] { direct.call_well(post); };
  const auto through = [&] { open.call_well(line); };
  const auto fresh = [&] { daemon.connect().call_well(line); };
  const auto relayed = [&] { bare.connect().call_well(line); };
  median_of(100, kept);
  median_of(100, through);
  median_of(100, fresh);
  median_of(100, relayed);
  Rounds of_relay, of_open, ratio, fresh_us;
  for (int round = 0; round < round_count; ++round) {
    const double straight = median_of(calls_a_round, kept);
    const double bridged = median_of(calls_a_round, fresh);
    of_open.add(bridged / median_of(calls_a_round, through));
    ratio.add(bridged / straight);
    of_relay.add(bridged / median_of(calls_a_round, relayed));
    fresh_us.add(bridged);
  }
  setting.report.at_most(where + ": connect+call+close, through/bare libcurl relay",
                         of_relay.middle(), limit, "x");
  setting.report.note("  through/a call on an open connection", of_open.middle(), "x");
  setting.report.note("  through/a direct call on a kept connection", ratio.middle(), "x");
  setting.report.note("  through", fresh_us.middle(), "us");
}

}  // namespace

// Pinned, else it would measure the kernel's choice of processors.
void measure_connect(Setting& setting) {
  setting.report.title("Connect, one call, close");
  {
    const PinnedToOneCpu pinned;
    measure(setting, start_demo_upstream(setting.programs, setting.folder), "all on one CPU", 1.45);
  }
  if (cpu_count() < 2) return;
  const auto upstream = [&] {
    const PinnedToOneCpu pinned(1);
    return start_demo_upstream(setting.programs, setting.folder);
  }();
  const PinnedToOneCpu pinned;
  measure(setting, upstream, "the server on a CPU of its own", 1.3);
}

void measure_process(Setting& setting) {
  setting.report.title("A whole process");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const std::vector<std::string> call{
      setting.programs.client, "-s", daemon.socket(), "call", "echo", "message=hi"};
  const std::vector<std::string> nothing{"/bin/true"};
  constexpr std::size_t starts_a_round = 40;
  time_process(call);
  Rounds call_us, nothing_us, ratio;
  for (int round = 0; round < round_count; ++round) {
    const double empty = median_of(starts_a_round, [&] { time_process(nothing); });
    const double called = median_of(starts_a_round, [&] { time_process(call); });
    nothing_us.add(empty);
    call_us.add(called);
    ratio.add(called / empty);
  }
  setting.report.at_most("mcp-nc call echo message=hi", call_us.middle() / 1000, 5, "ms");
  setting.report.note("  the same/a process that does nothing", ratio.middle(), "x");
  setting.report.note("  a process that does nothing", nothing_us.middle() / 1000, "ms");
}

}  // namespace bench
