#include <fmt/format.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "loop.hpp"

namespace {

constexpr int kUsage = 64;
constexpr int kPortTaken = 73;

constexpr std::string_view kHelp =
    R"(fault-proxy --to HOST:PORT [--listen 127.0.0.1:0] [--control 127.0.0.1:0]

Passes TCP connections on to HOST:PORT and spoils them as it is told on the control port, a line
a command: delay-ms, throttle, {cut,reset,hang}-after-{up,down} N [once], refuse on|off,
accept-hang on|off, to HOST:PORT, close-all, reset-all, hang-all, pass, stats, quit.
tests/support/README.md describes them.
)";

proxy::Socket ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return proxy::Socket(::signalfd(-1, &signals, SFD_CLOEXEC));
}

struct Addresses {
  std::optional<sockaddr_in> to;
  std::optional<sockaddr_in> listen = proxy::parse_address("0");
  std::optional<sockaddr_in> control = proxy::parse_address("0");
};

Addresses parse(int argc, char** argv) {
  Addresses addresses;
  for (int at = 1; at < argc; at += 2) {
    const std::string_view name = argv[at];
    auto* const slot = name == "--to"        ? &addresses.to
                       : name == "--listen"  ? &addresses.listen
                       : name == "--control" ? &addresses.control
                                             : nullptr;
    if (slot == nullptr || at + 1 == argc) return {};
    *slot = proxy::parse_address(argv[at + 1]);
  }
  return addresses;
}

}  // namespace

int main(int argc, char** argv) {
  auto addresses = parse(argc, argv);
  if (!addresses.to || !addresses.listen || !addresses.control) {
    const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
    fmt::print(help ? stdout : stderr, "{}", kHelp);
    return help ? 0 : kUsage;
  }
  const auto signals = ending_signals();
  auto listener = proxy::listen_on(*addresses.listen);
  const auto control = proxy::listen_on(*addresses.control);
  if (!listener.is_open() || !control.is_open()) {
    fmt::print(stderr, "fault-proxy: cannot listen\n");
    return kPortTaken;
  }
  fmt::print("listening on {}\ncontrol on {}\n", proxy::to_text(*addresses.listen),
             proxy::to_text(*addresses.control));
  std::fflush(stdout);
  proxy::Proxy proxy(*addresses.to, std::move(listener), *addresses.listen);
  proxy::run(proxy, control, signals);
  return 0;
}
