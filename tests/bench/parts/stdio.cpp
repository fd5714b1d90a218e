#include <optional>

#include "harness/piped_child.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t calls_a_round = 1000;
constexpr std::size_t warm_up = 300;

using Command = std::vector<std::string>;

const std::string& echo() {
  static const std::string line = line_request(echo_message("hello from the benchmark"));
  return line;
}

double p50(Caller& caller, std::size_t calls) {
  return median_of(calls, [&] { caller.call_well(echo()); });
}

/// For a connection without the daemon, which does this automatically.
void open_session(Caller& caller) {
  caller.call_well(line_request(initialize_message()));
  caller.send(line_request(initialized_message()));
}

/// Through the daemon, through the bare relay and over the pipes, in turns.
struct Ratios {
  Rounds to_relay, to_pipes, relay_to_pipes, through_us, relay_us, pipes_us;
};

Ratios measure(Setting& setting, const Command& command) {
  const Relay daemon = start_daemon_of(setting.programs, setting.folder, command);
  const Relay bare = start_pipe_relay(setting.programs, setting.folder, command);
  const PipedChild child(command);
  Caller through = daemon.connect(), relayed = bare.connect();
  Caller direct(Descriptor(dup(child.output())), Descriptor(dup(child.input())), Framing::line);
  open_session(relayed);
  open_session(direct);
  for (Caller* caller : {&through, &relayed, &direct}) p50(*caller, warm_up);
  Ratios ratios;
  for (int round = 0; round < round_count; ++round) {
    const double pipes = p50(direct, calls_a_round);
    const double here = p50(through, calls_a_round);
    const double relay = p50(relayed, calls_a_round);
    ratios.to_relay.add(here / relay);
    ratios.to_pipes.add(here / pipes);
    ratios.relay_to_pipes.add(relay / pipes);
    ratios.through_us.add(here);
    ratios.relay_us.add(relay);
    ratios.pipes_us.add(pipes);
  }
  return ratios;
}

void report_ratios(Setting& setting, const Ratios& ratios) {
  setting.report.note("  through/its pipes", ratios.to_pipes.middle(), "x");
  setting.report.note("  a bare epoll relay/its pipes", ratios.relay_to_pipes.middle(), "x");
  setting.report.note("  through", ratios.through_us.middle(), "us");
  setting.report.note("  a bare epoll relay", ratios.relay_us.middle(), "us");
  setting.report.note("  its pipes directly", ratios.pipes_us.middle(), "us");
}

/// Without a limit if the processes are not pinned: that measures the scheduler's choice of CPUs.
void against_relay(Setting& setting, const std::string& what, const Command& command,
                   std::optional<double> limit) {
  const Ratios ratios = measure(setting, command);
  const std::string name = "p50 of a call to a " + what + ": through/a bare epoll relay";
  if (limit) {
    setting.report.at_most(name, ratios.to_relay.middle(), *limit, "x");
  } else {
    setting.report.note(name, ratios.to_relay.middle(), "x");
  }
  report_ratios(setting, ratios);
}

}  // namespace

void measure_stdio(Setting& setting) {
  setting.report.title("A local server");
  const Programs& programs = setting.programs;
  const Command node{programs.node, programs.node_child};
  const bool with_node = !programs.node.empty();
  if (with_node) {
    against_relay(setting, "Node server, free", node, std::nullopt);
  } else {
    setting.report.left_out("p50 of a call to a Node server");
  }
  const PinnedToOneCpu pinned;
  if (with_node) against_relay(setting, "Node server, pinned to one CPU", node, 1.5);
  against_relay(setting, "tiny server, pinned to one CPU", {programs.bench_child}, 1.5);
}

}  // namespace bench
