// usage: face-load PORT PATH CLIENTS MILLISECONDS
// A closed loop of `tools/call` over Streamable HTTP, a session and a kept connection for each
// client, which ends it at the end. Prints the answered calls per second.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/load.hpp"
#include "harness/requests.hpp"
#include "harness/sockets.hpp"

namespace {

/// Opens a session and returns its id.
std::string open_session(bench::Caller& caller, const std::string& path) {
  caller.call_well(bench::http_post(bench::initialize_message(), {}, path));
  const std::string session(bench::header_value(caller.reader().head(), "Mcp-Session-Id"));
  caller.call(bench::http_post(bench::initialized_message(), session, path));
  return session;
}

int run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: face-load PORT PATH CLIENTS MILLISECONDS");
  const auto port = static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10));
  const std::string path = argv[2];
  const std::size_t clients = std::strtoul(argv[3], nullptr, 10);
  const std::chrono::milliseconds duration(std::strtol(argv[4], nullptr, 10));
  std::vector<bench::Caller> callers;
  std::vector<std::string> requests;
  std::vector<std::string> ends;
  for (std::size_t i = 0; i < clients; ++i) {
    callers.emplace_back(bench::connect_tcp(port), bench::Framing::http);
    const std::string session = open_session(callers.back(), path);
    requests.push_back(bench::http_post(bench::echo_message("hi"), session, path));
    ends.push_back(bench::http_delete(session, path));
    callers.back().call_well(requests.back());
  }
  std::printf("%.0f\n", bench::calls_per_second(callers, requests, duration));
  for (std::size_t i = 0; i < clients; ++i) callers[i].call(ends[i]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "face-load: %s\n", error.what());
    return 2;
  }
}
