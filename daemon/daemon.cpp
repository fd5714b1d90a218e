#include "daemon.hpp"

#include <csignal>
#include <utility>

namespace bridge {
namespace {

/// The end of the session may take this long after the grace; then the daemon goes anyway.
constexpr std::chrono::milliseconds goodbye_time{2500};

ListeningSocket take_socket(const SocketOptions& options) {
  if (auto inherited = ListeningSocket::inherited()) return std::move(*inherited);
  return ListeningSocket::open(options);
}

/// With one client after the other the rest waits here, not in the accept queue, so that their
/// control requests are answered.
std::size_t connections_of(const Options& options) { return options.max_clients == 1 ? 256 : options.max_clients; }

}  // namespace

Daemon::Daemon(Options options, Log& log)
    : options_(std::move(options)),
      log_(log),
      budget_(options_.max_buffered),
      feed_(options_.ring),
      upstream_(loop_, turn_, options_.http, budget_, log_),
      session_(loop_, turn_, ids_, upstream_, log_, options_.session),
      router_(loop_, turn_, ids_, session_, feed_, budget_, log_, options_.router),
      control_(router_, session_, upstream_, feed_),
      clients_(ConnectionContext{loop_, turn_, feed_, budget_, log_, options_.clients, {}, {}}, router_,
               take_socket(options_.socket), options_.peers, connections_of(options_)),
      signals_(loop_, SIGTERM, SIGINT),
      grace_(loop_, turn_, [this] { end_shutdown(); }),
      last_moment_(loop_, turn_, [this] { loop_.stop(); }) {
  upstream_.set_events(session_);
  session_.set_events(router_);
  router_.set_control(control_);
  feed_.add_readers(clients_);
  turn_.on_finish([this] { clients_.flush(); });
  budget_.on_relief([this] { turn_.request_finish(); });
}

int Daemon::run() {
  wait_for_signal();
  clients_.start();
  log_.info("mcp-bridged {} serves {} on {}", MCP_BRIDGE_VERSION, options_.http.target, options_.socket.path);
  {
    Turn::Scope scope(turn_);
    router_.start();
  }
  loop_.run();
  return exit_code_;
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const std::error_code& error, int signal) {
    if (error) return;
    Turn::Scope scope(turn_);
    if (ending_) {
      hurry(signal);
    } else {
      begin_shutdown(signal);
    }
    wait_for_signal();
  });
}

// The order: no new clients; those who wait are told; requests in flight get their grace; then the
// session is ended, and everybody is left.
void Daemon::begin_shutdown(int signal) {
  ending_ = true;
  log_.info("ending after signal {}: {} requests in flight have {} ms", signal, router_.in_flight(),
            options_.grace.count());
  clients_.stop_accepting();
  router_.begin_shutdown();
  if (!router_.has_requests_in_flight()) {
    end_shutdown();
    return;
  }
  router_.on_idle([this] { grace_.set(std::chrono::steady_clock::now()); });
  grace_.set_after(options_.grace);
}

void Daemon::end_shutdown() {
  router_.end_shutdown();
  last_moment_.set_after(goodbye_time);
  session_.end([this] { leave(); });
}

void Daemon::leave() {
  clients_.flush();
  clients_.close_all();
  if (const std::size_t untaken = feed_.ring().untaken()) {
    log_.warning("{} notifications were not taken by any client and are lost", untaken);
  }
  log_.info("ended");
  loop_.stop();
}

void Daemon::hurry(int signal) {
  exit_code_ = 128 + signal;
  loop_.stop();
}

}  // namespace bridge
