#include <array>
#include <string>

#include "harness/child.hpp"
#include "harness/large_results.hpp"
#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "harness/status.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr int calls = 15;

struct Kind {
  const char* name;
  std::size_t size;
};

/// Typical content of agents: screenshots, files, tables.
constexpr std::array<Kind, 3> kinds{{
    {"base64", 5'200'000},
    {"escapes", 4'600'000},
    {"values", 4'800'000},
}};
/// For each kind: the time through the daemon, as a multiple of the bare relay's.
using Limits = std::array<double, kinds.size()>;

/// Three connections to servers of one kind, and the messages sent on them.
struct Ways {
  Caller direct;
  std::string direct_request;
  Caller through, relayed;
  std::string line;
};

void measure(Report& report, const std::string& name, const Kind& kind, double limit,
             const Relay& daemon, Ways ways) {
  const auto directly = [&] { ways.direct.call_well(ways.direct_request); };
  const auto through = [&] { ways.through.call_well(ways.line); };
  const auto relayed = [&] { ways.relayed.call_well(ways.line); };
  directly();
  through();
  relayed();
  Rounds direct_us, through_us, of_relay, of_direct;
  double cpu = 0;
  for (int i = 0; i < calls; ++i) {
    const double straight = microseconds_of(directly);
    const double before = cpu_microseconds(daemon.pid());
    const double bridged = microseconds_of(through);
    cpu += (cpu_microseconds(daemon.pid()) - before) * 1000;
    direct_us.add(straight);
    through_us.add(bridged);
    of_relay.add(bridged / microseconds_of(relayed));
    of_direct.add(bridged / straight);
  }
  report.at_most(name + ": through/a bare relay", of_relay.middle(), limit, "x");
  report.note("  through/direct", of_direct.middle(), "x");
  report.note("  direct", direct_us.middle() / 1000, "ms");
  report.note("  through the daemon", through_us.middle() / 1000, "ms");
  report.note("  the daemon's CPU time, a byte", cpu / static_cast<double>(kind.size * calls),
              "ns");
}

/// A message of each kind, made by `message(kind)`, to the HTTP server.
template <class Message>
void measure_http(Setting& setting, const std::string& what, const Limits& limits,
                  const Message& message) {
  const Upstream upstream = start_bench_upstream(setting.programs, setting.folder);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
    const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
    const std::string text = message(kinds[i]);
    measure(setting.report, what + kinds[i].name, kinds[i], limits[i], daemon,
            {upstream.connect(), upstream.request(text), daemon.connect(), bare.connect(),
             line_request(text)});
  }
}

/// The same to local servers, one for each kind of connection.
template <class Message>
void measure_local(Setting& setting, const std::string& what, const Limits& limits,
                   const Message& message) {
  const std::vector<std::string> command{setting.programs.bench_child};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Relay daemon = start_daemon_of(setting.programs, setting.folder, command);
    const PipedChild child(command);
    const Relay bare = start_pipe_relay(setting.programs, setting.folder, command);
    const std::string line = line_request(message(kinds[i]));
    measure(setting.report, what + kinds[i].name, kinds[i], limits[i], daemon,
            {Caller(Descriptor(dup(child.output())), Descriptor(dup(child.input())), Framing::line),
             line, daemon.connect(), bare.connect(), line});
  }
}

}  // namespace

/// The first limits are the acceptable times for a result. Those on one CPU, where the amount of
/// work counts and not the waiting, are slightly above what was measured with the loop over epoll
/// and with Asio's (the same).
void measure_results(Setting& setting) {
  const auto result = [](const Kind& kind) { return large_result_message(kind.name, kind.size); };
  const auto call = [](const Kind& kind) { return large_call(kind.name, kind.size); };
  setting.report.title("Large messages, one client");
  measure_http(setting, "a result over HTTP, ", {2.0, 2.2, 2.5}, result);
  setting.report.title("Large messages, one client, all on one CPU");
  const PinnedToOneCpu pinned;
  measure_http(setting, "a result over HTTP, ", {1.1, 1.4, 2.0}, result);
  measure_http(setting, "a call over HTTP, ", {1.4, 1.5, 1.8}, call);
  measure_local(setting, "a result of a local server, ", {1.4, 1.9, 2.4}, result);
  measure_local(setting, "a call of a local server, ", {1.6, 2.1, 2.9}, call);
}

}  // namespace bench
