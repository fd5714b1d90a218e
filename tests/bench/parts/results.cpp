#include <array>
#include <string>

#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "harness/status.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr int calls = 15;

struct Kind {
  const char* tool;
  std::size_t size;
  double limit;  ///< through the daemon, in times of directly
};

// What agents move: screenshots, files, tables. The limits are little over the worst of four
// runs at 8226d6a: 2.2, 2.0 and 3.0.
constexpr std::array<Kind, 3> kinds{{
    {"base64", 5'200'000, 2.5},
    {"escapes", 4'600'000, 2.4},
    {"values", 4'800'000, 3.3},
}};

void measure_kind(Setting& setting, const Kind& kind, const Upstream& upstream,
                  const Relay& daemon) {
  Caller direct = upstream.connect(), through = daemon.connect();
  const std::string message = large_result_message(kind.tool, kind.size);
  const std::string post = upstream.request(message), line = line_request(message);
  direct.call_well(post);
  through.call_well(line);
  Rounds straight, bridged, ratio;
  const double before = cpu_microseconds(daemon.pid());
  for (int i = 0; i < calls; ++i) {
    const double directly = microseconds_of([&] { direct.call_well(post); });
    const double in_all = microseconds_of([&] { through.call_well(line); });
    straight.add(directly);
    bridged.add(in_all);
    ratio.add(in_all / directly);
  }
  const double cpu = (cpu_microseconds(daemon.pid()) - before) * 1000;
  const std::string name = kind.tool;
  setting.report.at_most(name + ": through/direct", ratio.middle(), kind.limit, "x");
  setting.report.note("  direct", straight.middle() / 1000, "ms");
  setting.report.note("  through the daemon", bridged.middle() / 1000, "ms");
  setting.report.note("  the daemon's CPU time, a byte",
                      cpu / static_cast<double>(kind.size * calls), "ns");
}

}  // namespace

void measure_results(Setting& setting) {
  setting.report.title("Large results, one client");
  const Upstream upstream = start_bench_upstream(setting.programs, setting.folder);
  for (const Kind& kind : kinds) {
    const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
    measure_kind(setting, kind, upstream, daemon);
  }
}

}  // namespace bench
