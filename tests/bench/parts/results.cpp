#include <array>
#include <string>

#include "harness/large_results.hpp"
#include "harness/piped_child.hpp"
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

/// What agents move: screenshots, files, tables.
constexpr std::array<Kind, 3> kinds{{
    {"base64", 5'200'000},
    {"escapes", 4'600'000},
    {"values", 4'800'000},
}};
/// Of each: through the daemon, in times of directly.
using Limits = std::array<double, kinds.size()>;

/// Two connections to the same server, and what is sent on each.
struct Ways {
  Caller& direct;
  std::string direct_request;
  Caller& through;
  std::string through_request;
};

void measure(Report& report, const std::string& name, const Kind& kind, double limit,
             const Relay& daemon, const Ways& ways) {
  ways.direct.call_well(ways.direct_request);
  ways.through.call_well(ways.through_request);
  Rounds straight, bridged, ratio;
  const double before = cpu_microseconds(daemon.pid());
  for (int i = 0; i < calls; ++i) {
    const double directly = microseconds_of([&] { ways.direct.call_well(ways.direct_request); });
    const double in_all = microseconds_of([&] { ways.through.call_well(ways.through_request); });
    straight.add(directly);
    bridged.add(in_all);
    ratio.add(in_all / directly);
  }
  const double cpu = (cpu_microseconds(daemon.pid()) - before) * 1000;
  report.at_most(name + ": through/direct", ratio.middle(), limit, "x");
  report.note("  direct", straight.middle() / 1000, "ms");
  report.note("  through the daemon", bridged.middle() / 1000, "ms");
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
    Caller direct = upstream.connect(), through = daemon.connect();
    const std::string text = message(kinds[i]);
    measure(setting.report, what + kinds[i].name, kinds[i], limits[i], daemon,
            {direct, upstream.request(text), through, line_request(text)});
  }
}

/// The same to the local one, which is there twice.
template <class Message>
void measure_local(Setting& setting, const std::string& what, const Limits& limits,
                   const Message& message) {
  const std::vector<std::string> command{setting.programs.bench_child};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Relay daemon = start_daemon_of(setting.programs, setting.folder, command);
    const PipedChild child(command);
    Caller direct(Descriptor(dup(child.output())), Descriptor(dup(child.input())), Framing::line);
    Caller through = daemon.connect();
    const std::string line = line_request(message(kinds[i]));
    measure(setting.report, what + kinds[i].name, kinds[i], limits[i], daemon,
            {direct, line, through, line});
  }
}

}  // namespace

/// The limits of the first are what a result may take; those on one CPU, where what is done counts
/// and not who waits for whom, are little over what f3bd05f took.
void measure_results(Setting& setting) {
  const auto result = [](const Kind& kind) { return large_result_message(kind.name, kind.size); };
  const auto call = [](const Kind& kind) { return large_call(kind.name, kind.size); };
  setting.report.title("Large messages, one client");
  measure_http(setting, "a result over HTTP, ", {2.0, 2.2, 2.5}, result);
  setting.report.title("Large messages, one client, all on one CPU");
  const PinnedToOneCpu pinned;
  measure_http(setting, "a result over HTTP, ", {1.8, 2.3, 2.9}, result);
  measure_http(setting, "a call over HTTP, ", {2.2, 2.5, 3.2}, call);
  measure_local(setting, "a result of a local server, ", {2.7, 3.7, 4.9}, result);
  measure_local(setting, "a call of a local server, ", {2.7, 3.7, 4.9}, call);
}

}  // namespace bench
