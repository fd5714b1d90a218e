// Calls to any MCP peer, one line of JSON for each: the input of figures.py.
//   bench-calls latency ROUNDS CALLS TOOL SIZE PEER…      p50 and p99 of a call, in microseconds;
//                                                         the tool "list": of tools/list
//   bench-calls rate ROUNDS MILLISECONDS CLIENTS PEER…    answers a second of a closed loop
//   bench-calls connect ROUNDS CALLS PEER…                p50 of connect, one call, close
// A peer is unix:PATH, http:PORT, or stdio:PROGRAM[ ARGUMENT]…; all are measured in turns.
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/load.hpp"
#include "harness/piped_child.hpp"
#include "harness/requests.hpp"
#include "harness/sockets.hpp"
#include "harness/statistics.hpp"

namespace {

/// A peer to be called, with its own session if it uses HTTP or is a process.
class Peer {
 public:
  explicit Peer(const std::string& spec) : spec_(spec), target_(spec.substr(spec.find(':') + 1)) {
    if (is_process()) {
      std::istringstream words(target_);
      std::vector<std::string> command;
      for (std::string word; words >> word;) command.push_back(word);
      child_ = std::make_unique<bench::PipedChild>(command);
    }
    if (is_socket()) return;
    bench::Caller caller = connect();
    bench::check_result(caller.call(request(bench::initialize_message())));
    if (is_process()) {
      caller.send(bench::initialized_message() + "\n");
    } else {
      session_ = bench::header_value(caller.reader().head(), "Mcp-Session-Id");
      caller.call(request(bench::initialized_message()));
    }
  }

  const std::string& spec() const { return spec_; }

  bench::Caller connect() const {
    if (is_socket()) return {bench::connect_unix(target_), bench::Framing::line};
    if (is_process()) {
      return {bench::Descriptor(dup(child_->output())), bench::Descriptor(dup(child_->input())),
              bench::Framing::line};
    }
    const auto port = static_cast<std::uint16_t>(std::strtoul(target_.c_str(), nullptr, 10));
    return {bench::connect_tcp(port), bench::Framing::http};
  }

  std::string request(const std::string& message) const {
    return is_socket() || is_process() ? message + "\n" : bench::http_post(message, session_);
  }

 private:
  bool is_socket() const { return spec_.starts_with("unix:"); }
  bool is_process() const { return spec_.starts_with("stdio:"); }

  std::string spec_, target_, session_;
  std::unique_ptr<bench::PipedChild> child_;
};

std::string message_of(const std::string& tool, std::size_t size) {
  if (tool == "list") return R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  return tool == "echo" ? bench::echo_message(std::string(size, 'x'))
                        : bench::large_result_message(tool, size);
}

double share(std::vector<double> values, double part) {
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::size_t number(const char* text) { return std::strtoul(text, nullptr, 10); }

void latency(const std::vector<std::unique_ptr<Peer>>& peers, std::size_t rounds, std::size_t calls,
             const std::string& message) {
  std::vector<bench::Caller> callers;
  std::vector<std::vector<double>> times(peers.size());
  for (const auto& peer : peers) callers.push_back(peer->connect());
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const std::string request = peers[i]->request(message);
      for (std::size_t call = 0; call < calls; ++call) {
        const double time = bench::microseconds_of([&] { callers[i].call_well(request); });
        if (round > 0) times[i].push_back(time);  // the first round warms up
      }
    }
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::printf("{\"peer\":%zu,\"p50\":%.2f,\"p99\":%.2f}\n", i, share(times[i], 0.5),
                share(times[i], 0.99));
  }
}

void connects(const std::vector<std::unique_ptr<Peer>>& peers, std::size_t rounds,
              std::size_t calls) {
  std::vector<std::vector<double>> times(peers.size());
  const std::string message = bench::echo_message("hello");
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const std::string request = peers[i]->request(message);
      for (std::size_t call = 0; call < calls; ++call) {
        const double time = bench::microseconds_of([&] { peers[i]->connect().call_well(request); });
        if (round > 0) times[i].push_back(time);
      }
    }
  }
  for (std::size_t i = 0; i < peers.size(); ++i)
    std::printf("{\"peer\":%zu,\"p50\":%.2f}\n", i, share(times[i], 0.5));
}

void rates(const std::vector<std::unique_ptr<Peer>>& peers, std::size_t rounds,
           std::chrono::milliseconds duration, std::size_t clients) {
  const std::string message = bench::echo_message("hello");
  std::vector<std::vector<bench::Caller>> callers(peers.size());
  std::vector<std::vector<double>> figures(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (std::size_t client = 0; client < clients; ++client)
      callers[i].push_back(peers[i]->connect());
  }
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const double rate = bench::calls_per_second(callers[i], peers[i]->request(message), duration);
      if (round > 0) figures[i].push_back(rate);
    }
  }
  for (std::size_t i = 0; i < peers.size(); ++i)
    std::printf("{\"peer\":%zu,\"rate\":%.1f}\n", i, share(figures[i], 0.5));
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int first = what == "latency" ? 6 : what == "rate" ? 5 : 4;
  if ((what != "latency" && what != "rate" && what != "connect") || argc <= first) {
    std::fprintf(stderr, "usage: bench-calls latency|rate|connect …, as its source says\n");
    return 64;
  }
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = first; i < argc; ++i) peers.push_back(std::make_unique<Peer>(argv[i]));
  const std::size_t rounds = number(argv[2]), count = number(argv[3]);
  if (what == "latency") latency(peers, rounds, count, message_of(argv[4], number(argv[5])));
  if (what == "connect") connects(peers, rounds, count);
  if (what == "rate") rates(peers, rounds, std::chrono::milliseconds(count), number(argv[4]));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-calls: %s\n", error.what());
    return 1;
  }
}
