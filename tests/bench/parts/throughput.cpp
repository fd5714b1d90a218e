#include "harness/load.hpp"
#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t client_count = 32;
constexpr std::size_t many_clients = 400;
constexpr auto round_length = std::chrono::milliseconds(700);
constexpr auto warm_up = std::chrono::milliseconds(200);

template <class Peer>
std::vector<Caller> connect_all(const Peer& peer, std::size_t count = client_count) {
  std::vector<Caller> callers;
  for (std::size_t i = 0; i < count; ++i) callers.push_back(peer.connect());
  return callers;
}

struct Rates {
  Rounds direct, through_over_direct, through_over_bare, bare_over_direct;
};

Rates measure(Setting& setting, const Upstream& upstream) {
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
  const std::string message = echo_message("hello from the benchmark");
  const std::string post = upstream.request(message);
  const std::string line = line_request(message);
  auto direct = connect_all(upstream), through = connect_all(daemon), relayed = connect_all(bare);
  calls_per_second(direct, post, warm_up);
  calls_per_second(through, line, warm_up);
  calls_per_second(relayed, line, warm_up);
  Rates rates;
  for (int round = 0; round < round_count; ++round) {
    const double straight = calls_per_second(direct, post, round_length);
    const double bridged = calls_per_second(through, line, round_length);
    const double plain = calls_per_second(relayed, line, round_length);
    rates.direct.add(straight);
    rates.through_over_direct.add(bridged / straight);
    rates.through_over_bare.add(bridged / plain);
    rates.bare_over_direct.add(plain / straight);
  }
  return rates;
}

/// What a call of many clients costs, as a multiple of one of 32.
double growth(Setting& setting, const Upstream& upstream) {
  const Relay daemon =
      start_daemon(setting.programs, setting.folder, upstream, {"--max-clients", "500"});
  const std::string line = line_request(echo_message("hello from the benchmark"));
  auto few = connect_all(daemon), many = connect_all(daemon, many_clients);
  calls_per_second(many, line, warm_up);
  Rounds ratio;
  for (int round = 0; round < round_count; ++round) {
    const double of_few = calls_per_second(few, line, round_length);
    ratio.add(of_few / calls_per_second(many, line, round_length));
  }
  return ratio.middle();
}

}  // namespace

void measure_throughput(Setting& setting) {
  setting.report.title("Throughput, 32 clients");
  const Upstream upstream = start_bench_upstream(setting.programs, setting.folder);
  const Rates rates = measure(setting, upstream);
  setting.report.at_least("through/bare libcurl relay", rates.through_over_bare.middle(), 0.75,
                          "x");
  setting.report.note("  through/direct", rates.through_over_direct.middle(), "x");
  setting.report.note("  bare libcurl relay/direct", rates.bare_over_direct.middle(), "x");
  setting.report.note("  direct", rates.direct.middle(), "calls/s");
  setting.report.at_most("a call of 400 clients/a call of 32", growth(setting, upstream), 1.5, "x");
}

}  // namespace bench
