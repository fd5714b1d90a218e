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

/// Of a connection without the daemon; the daemon does it by itself.
void open_session(Caller& caller) {
  caller.call_well(line_request(initialize_message()));
  caller.send(line_request(initialized_message()));
}

Relay start_pipe_relay(Setting& setting, const Command& command) {
  std::string socket = setting.folder.fresh("pipe.sock");
  Command all{setting.programs.pipe_relay, socket};
  all.insert(all.end(), command.begin(), command.end());
  return Relay(std::move(all), std::move(socket), setting.folder);
}

/// Through the daemon, through the bare relay and over the pipes, in turns.
struct Ratios {
  Rounds to_relay, to_pipes, relay_to_pipes, through_us, relay_us, pipes_us;
};

Ratios measure(Setting& setting, const Command& command) {
  const Relay daemon = start_daemon_of(setting.programs, setting.folder, command);
  const Relay bare = start_pipe_relay(setting, command);
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

void note_times(Setting& setting, const Ratios& ratios) {
  setting.report.note("  through", ratios.through_us.middle(), "us");
  setting.report.note("  a bare epoll relay", ratios.relay_us.middle(), "us");
  setting.report.note("  its pipes directly", ratios.pipes_us.middle(), "us");
}

/// Free, it is the scheduler's choice of CPUs that is measured: only a note.
void against_pipes(Setting& setting, bool pinned) {
  const Ratios ratios = measure(setting, {setting.programs.node, setting.programs.node_child});
  const std::string what = "p50 of a call to a Node server, ";
  if (pinned) {
    setting.report.at_most(what + "pinned to one CPU: through/its pipes", ratios.to_pipes.middle(),
                           1.5, "x");
  } else {
    setting.report.note(what + "free: through/its pipes", ratios.to_pipes.middle(), "x");
  }
  setting.report.note("  a bare epoll relay/its pipes", ratios.relay_to_pipes.middle(), "x");
  note_times(setting, ratios);
}

}  // namespace

void measure_stdio(Setting& setting) {
  setting.report.title("A local server");
  const bool with_node = !setting.programs.node.empty();
  if (with_node) {
    against_pipes(setting, false);
  } else {
    setting.report.left_out("p50 of a call to a Node server");
  }
  const PinnedToOneCpu pinned;
  if (with_node) against_pipes(setting, true);
  const Ratios ratios = measure(setting, {setting.programs.bench_child});
  setting.report.at_most(
      "p50 of a call to a tiny server, pinned to one CPU: through/a bare epoll relay",
      ratios.to_relay.middle(), 1.5, "x");
  note_times(setting, ratios);
}

}  // namespace bench
