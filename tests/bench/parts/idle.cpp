#include <chrono>
#include <thread>
#include <vector>

#include "harness/requests.hpp"
#include "harness/status.hpp"
#include "parts/parts.hpp"

namespace bench {
namespace {

constexpr auto settling = std::chrono::seconds(3);
// Deadlines that were set while opening expire with one wake-up each, the last of them 30 s after
// the notification `initialized`. A repeated wake-up is an error.
constexpr auto opening_lapses = std::chrono::seconds(32);
constexpr auto idle_time = std::chrono::seconds(30);
constexpr auto after_burst = std::chrono::seconds(10);
constexpr std::size_t idle_clients = 200;
constexpr std::size_t burst_calls = 64;

double mib(pid_t pid, const std::string& field) {
  return static_cast<double>(status_kib(pid, field)) / 1024;
}

/// A client that has opened the session and stays.
Caller open_session(const Relay& daemon) {
  Caller client = daemon.connect();
  client.call_well(line_request(initialize_message()));
  client.send(line_request(initialized_message()));
  return client;
}

void measure_idle_session(Setting& setting, const Upstream& upstream) {
  const Relay daemon =
      start_daemon(setting.programs, setting.folder, upstream, {"--keepalive", "0"});
  const Caller client = open_session(daemon);
  std::this_thread::sleep_for(settling);
  setting.report.at_most("one session, before load: RssAnon", mib(daemon.pid(), "RssAnon"), 3,
                         "MiB");
  setting.report.at_most("one session, before load: VmRSS", mib(daemon.pid(), "VmRSS"), 17, "MiB");
  std::this_thread::sleep_for(opening_lapses);
  const std::size_t before = voluntary_switches(daemon.pid());
  std::this_thread::sleep_for(idle_time);
  setting.report.at_most("wake-ups in 30 s with one session, no keep-alive",
                         static_cast<double>(voluntary_switches(daemon.pid()) - before), 0, "");
}

void measure_idle_clients(Setting& setting, const Upstream& upstream) {
  const Relay daemon =
      start_daemon(setting.programs, setting.folder, upstream, {"--keepalive", "0"});
  const Caller client = open_session(daemon);
  StatusProbe probe(daemon);
  const std::size_t others = probe.clients();
  const std::size_t before = status_kib(daemon.pid(), "RssAnon");
  std::vector<Caller> idle;
  for (std::size_t i = 0; i < idle_clients; ++i) idle.push_back(daemon.connect());
  wait_until("the idle clients are served",
             [&] { return probe.clients() == others + idle_clients; });
  const double growth = static_cast<double>(status_kib(daemon.pid(), "RssAnon") - before);
  setting.report.at_most("RssAnon for each of 200 idle clients", growth / idle_clients, 16, "KiB");
}

void measure_burst(Setting& setting, const Upstream& upstream) {
  const Relay daemon =
      start_daemon(setting.programs, setting.folder, upstream, {"--keepalive", "0"});
  const Caller client = open_session(daemon);
  {
    // Slow ones, so that they are all in flight at once.
    const std::string call = line_request(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":2,"delayMs":300}}})");
    std::vector<Caller> callers;
    for (std::size_t i = 0; i < burst_calls; ++i) callers.push_back(daemon.connect());
    for (Caller& caller : callers) caller.send(call);
    for (Caller& caller : callers) {
      while (!caller.read_some()) {
      }
      check_result(caller.reader().body());
    }
  }
  std::this_thread::sleep_for(after_burst);
  setting.report.at_most("10 s after a burst of 64 calls at once: RssAnon",
                         mib(daemon.pid(), "RssAnon"), 6, "MiB");
}

}  // namespace

void measure_idle(Setting& setting) {
  setting.report.title("Idle");
  const Upstream upstream = start_demo_upstream(setting.programs, setting.folder);
  measure_idle_clients(setting, upstream);
  measure_burst(setting, upstream);
  measure_idle_session(setting, upstream);
}

}  // namespace bench
