#include "harness/requests.hpp"
#include "harness/statistics.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr std::size_t small_size = 64 * 1024;
// Below the default --max-frame by the size of the text's envelope in request and response.
constexpr std::size_t large_size = 8 * 1024 * 1024 - 1024;
constexpr std::size_t small_calls = 30;
constexpr std::size_t large_calls = 3;

/// Frames of one size in both directions.
class Echo {
 public:
  Echo(std::size_t size, std::size_t calls)
      : line_(line_request(echo_message(std::string(size, 'x')))), calls_(calls) {}

  /// The time of a call through the daemon, as a multiple of the bare relay's.
  double of_relay(Caller& through, Caller& relayed) const {
    const double bridged = median_of(calls_, [&] { through.call_well(line_); });
    return bridged / median_of(calls_, [&] { relayed.call_well(line_); });
  }

 private:
  std::string line_;
  std::size_t calls_;
};

}  // namespace

/// Beside a relay, since both pay for the machine's memory and for the server's: where a page that
/// is new costs much, a byte of 8 MiB costs many times what it costs in 64 KiB, which stay in
/// memory that is there.
void measure_bytes(Setting& setting) {
  setting.report.title("Cost of a byte");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  const Relay bare = start_bare_relay(setting.programs, setting.folder, upstream);
  Caller through = daemon.connect(), relayed = bare.connect();
  const Echo small(small_size, small_calls), large(large_size, large_calls);
  small.of_relay(through, relayed);
  large.of_relay(through, relayed);
  Rounds ratio, small_ratio, large_ratio;
  for (int round = 0; round < round_count; ++round) {
    const double of_small = small.of_relay(through, relayed),
                 of_large = large.of_relay(through, relayed);
    ratio.add(of_large / of_small);
    small_ratio.add(of_small);
    large_ratio.add(of_large);
  }
  setting.report.at_most("through/a bare relay: 8 MiB/64 KiB", ratio.middle(), 1.5, "x");
  setting.report.note("  64 KiB", small_ratio.middle(), "x");
  setting.report.note("  8 MiB", large_ratio.middle(), "x");
}

}  // namespace bench
