#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "program.hpp"

namespace {

constexpr int kUsage = 64;
constexpr int kPortTaken = 73;

/// Called before any thread is started, so that all inherit it and only sigwait gets them.
void block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  std::string error;
  const auto options = demo::parse_options(argc, argv, error);
  if (!options) {
    fmt::print(stderr, "demo-upstream: {}\n", error);
    return kUsage;
  }
  if (options->help) {
    fmt::print("{}", demo::kHelp);
    return 0;
  }
  block_ending_signals();
  demo::Program program(*options);
  const int port = program.bind();
  if (port < 0) {
    fmt::print(stderr, "demo-upstream: cannot listen on port {}\n", options->port);
    return kPortTaken;
  }
  fmt::print("listening on http://127.0.0.1:{}/mcp\n", port);
  std::fflush(stdout);
  program.run();
  return 0;
}
