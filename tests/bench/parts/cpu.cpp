#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t calls_a_round = 1000;

double cpu_per_call(const Relay& relay, Caller& caller, const std::string& line) {
  const double before = cpu_microseconds(relay.pid());
  for (std::size_t i = 0; i < calls_a_round; ++i) caller.call_well(line);
  return (cpu_microseconds(relay.pid()) - before) / static_cast<double>(calls_a_round);
}

}  // namespace

void measure_cpu(Setting& setting) {
  setting.report.title("CPU time of the daemon, one client");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
  const std::string line = line_request(echo_message("hello from the benchmark"));
  Caller through = daemon.connect(), relayed = bare.connect();
  cpu_per_call(daemon, through, line);
  cpu_per_call(bare, relayed, line);
  Rounds daemon_us, ratio;
  for (int round = 0; round < round_count; ++round) {
    const double bridged = cpu_per_call(daemon, through, line);
    ratio.add(bridged / cpu_per_call(bare, relayed, line));
    daemon_us.add(bridged);
  }
  setting.report.note("CPU time of a call", daemon_us.middle(), "us");
  setting.report.note("  daemon/bare libcurl relay", ratio.middle(), "x");
}

}  // namespace bench
