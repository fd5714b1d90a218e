// usage: bridge-bench DAEMON CLIENT DEMO_UPSTREAM BENCH_UPSTREAM BARE_RELAY PIPE_RELAY BENCH_CHILD
// NODE NODE_CHILD [PART…]                   an empty NODE leaves out what needs one
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "parts/parts.hpp"

namespace {

struct Part {
  std::string_view name;
  void (*measure)(bench::Setting&);
};

constexpr std::array<Part, 9> parts{{
    {"latency", bench::measure_latency},
    {"throughput", bench::measure_throughput},
    {"connect", bench::measure_connect},
    {"process", bench::measure_process},
    {"bytes", bench::measure_bytes},
    {"results", bench::measure_results},
    {"notifications", bench::measure_notifications},
    {"idle", bench::measure_idle},
    {"stdio", bench::measure_stdio},
}};

bool known(const std::string& name) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part& part) { return part.name == name; });
}

int usage() {
  std::fprintf(stderr, "parts:");
  for (const Part& part : parts) std::fprintf(stderr, " %s", std::string(part.name).c_str());
  std::fprintf(stderr, "\n");
  return 64;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 9) return usage();
  const bench::Programs programs{arguments[0], arguments[1], arguments[2],
                                 arguments[3], arguments[4], arguments[5],
                                 arguments[6], arguments[7], arguments[8]};
  const std::vector<std::string> chosen(arguments.begin() + 9, arguments.end());
  if (!std::all_of(chosen.begin(), chosen.end(), known)) return usage();
  bench::Folder folder;
  bench::Report report;
  bench::Setting setting{programs, folder, report};
  for (const Part& part : parts) {
    const bool wanted =
        chosen.empty() || std::find(chosen.begin(), chosen.end(), part.name) != chosen.end();
    if (wanted) part.measure(setting);
  }
  return report.all_ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bridge-bench: %s\n", error.what());
    return 2;
  }
}
