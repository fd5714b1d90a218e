#include "harness/child.hpp"
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

void against_relay(Setting& setting, const std::string& what, const Command& command) {
  const Ratios ratios = measure(setting, command);
  setting.report.at_most("p50 of a call to a " + what + ": through/a bare epoll relay",
                         ratios.to_relay.middle(), 1.5, "x");
  setting.report.note("  through/its pipes", ratios.to_pipes.middle(), "x");
  setting.report.note("  a bare epoll relay/its pipes", ratios.relay_to_pipes.middle(), "x");
  setting.report.note("  through", ratios.through_us.middle(), "us");
  setting.report.note("  a bare epoll relay", ratios.relay_us.middle(), "us");
  setting.report.note("  its pipes directly", ratios.pipes_us.middle(), "us");
}

}  // namespace

/// Pinned, else it would measure the scheduler's choice of CPUs.
void measure_stdio(Setting& setting) {
  setting.report.title("A local server, all on one CPU");
  const Programs& programs = setting.programs;
  const PinnedToOneCpu pinned;
  if (programs.node.empty()) {
    setting.report.left_out("p50 of a call to a Node server");
  } else {
    against_relay(setting, "Node server", {programs.node, programs.node_child});
  }
  against_relay(setting, "tiny server", {programs.bench_child});
}

}  // namespace bench
