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
  Echo(const Upstream& upstream, std::size_t size, std::size_t calls)
      : post_(upstream.request(echo_message(std::string(size, 'x')))),
        line_(line_request(echo_message(std::string(size, 'x')))),
        size_(size),
        calls_(calls) {}

  /// The nanoseconds per byte that the daemon adds.
  double added(Caller& direct, Caller& through) const {
    const double straight = median_of(calls_, [&] { direct.call_well(post_); });
    const double bridged = median_of(calls_, [&] { through.call_well(line_); });
    return (bridged - straight) * 1000 / static_cast<double>(size_);
  }

 private:
  std::string post_, line_;
  std::size_t size_, calls_;
};

}  // namespace

void measure_bytes(Setting& setting) {
  setting.report.title("Cost of a byte");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  const Relay daemon = start_daemon(setting.programs, setting.folder, upstream);
  Caller direct = upstream.connect(), through = daemon.connect();
  const Echo small(upstream, small_size, small_calls), large(upstream, large_size, large_calls);
  small.added(direct, through);
  large.added(direct, through);
  Rounds ratio, small_ns, large_ns;
  for (int round = 0; round < round_count; ++round) {
    const double of_small = small.added(direct, through), of_large = large.added(direct, through);
    ratio.add(of_large / of_small);
    small_ns.add(of_small);
    large_ns.add(of_large);
  }
  setting.report.at_most("a byte (through - direct) in 8 MiB/in 64 KiB", ratio.middle(), 3, "x");
  setting.report.note("  in 64 KiB", small_ns.middle(), "ns");
  setting.report.note("  in 8 MiB", large_ns.middle(), "ns");
}

}  // namespace bench
