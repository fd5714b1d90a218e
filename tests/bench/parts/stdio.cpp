#include "harness/piped_child.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t calls_a_round = 1000;
constexpr std::size_t warm_up = 300;

using Command = std::vector<std::string>;

double p50(Caller& caller, const std::string& request, std::size_t calls) {
  return median_of(calls, [&] { caller.call_well(request); });
}

/// Rounds of both in turns; the ratio of their medians.
void compare(Setting& setting, Caller& through, Caller& other, const std::string& what, double limit,
             const std::string& other_name) {
  const std::string line = line_request(echo_message("hello from the benchmark"));
  p50(through, line, warm_up);
  p50(other, line, warm_up);
  Rounds ratio, through_us, other_us;
  for (int round = 0; round < round_count; ++round) {
    const double there = p50(other, line, calls_a_round);
    const double here = p50(through, line, calls_a_round);
    ratio.add(here / there);
    through_us.add(here);
    other_us.add(there);
  }
  setting.report.at_most(what, ratio.middle(), limit, "x");
  setting.report.note("  " + other_name, other_us.middle(), "us");
  setting.report.note("  through", through_us.middle(), "us");
}

Relay start_daemon_of(Setting& setting, const Command& command) {
  std::string socket = setting.folder.fresh("mcp.sock");
  Command all{setting.programs.daemon, "--socket", socket, "--log-level", "warning", "--"};
  all.insert(all.end(), command.begin(), command.end());
  return Relay(std::move(all), std::move(socket), setting.folder);
}

void against_relay(Setting& setting) {
  const Command child{setting.programs.bench_child};
  const Relay daemon = start_daemon_of(setting, child);
  std::string socket = setting.folder.fresh("pipe.sock");
  const Relay bare({setting.programs.pipe_relay, socket, child[0]}, socket, setting.folder);
  Caller through = daemon.connect(), relayed = bare.connect();
  compare(setting, through, relayed, "p50 of a call to a local server, pinned to one CPU: through/bare epoll relay", 1.5,
          "a bare epoll relay");
}

void against_pipes(Setting& setting, const std::string& where) {
  const Command node{setting.programs.node, setting.programs.node_child};
  const Relay daemon = start_daemon_of(setting, node);
  const PipedChild child(node);
  Caller through = daemon.connect();
  Caller direct(Descriptor(dup(child.output())), Descriptor(dup(child.input())), Framing::line);
  compare(setting, through, direct, "p50 of a call to a Node server, " + where + ": through/its pipes directly", 1.5,
          "its pipes directly");
}

}  // namespace

void measure_stdio(Setting& setting) {
  setting.report.title("A local server");
  against_pipes(setting, "free");
  const PinnedToOneCpu pinned;
  against_relay(setting);
  against_pipes(setting, "pinned to one CPU");
}

}  // namespace bench
