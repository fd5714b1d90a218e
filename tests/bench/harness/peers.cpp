#include "harness/peers.hpp"

#include <charconv>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/sockets.hpp"

namespace bench {
namespace {

constexpr auto start_timeout = std::chrono::seconds(20);

std::uint16_t port_of(const std::string& line) {
  const std::size_t colon = line.rfind(':');
  std::uint16_t port = 0;
  if (colon != line.npos) std::from_chars(line.data() + colon + 1, line.data() + line.size(), port);
  if (port == 0) throw std::runtime_error("no port in: " + line);
  return port;
}

}  // namespace

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "mcp-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail("mkdtemp");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::fresh(const std::string& name) {
  return (path_ / (std::to_string(++given_) + name)).string();
}

Upstream::Upstream(const std::vector<std::string>& command, Folder& folder)
    : child_(command, folder.fresh("upstream.log"), true), port_(port_of(child_.first_line())) {
  Caller caller = connect();
  check_result(caller.call(http_post(initialize_message(), "")));
  session_ = header_value(caller.reader().head(), "Mcp-Session-Id");
  caller.call(request(initialized_message()));
}

Caller Upstream::connect() const { return Caller(connect_tcp(port_), Framing::http); }

Relay::Relay(std::vector<std::string> command, std::string socket, Folder& folder)
    : socket_(std::move(socket)), child_(command, folder.fresh("relay.log"), false) {
  const auto deadline = std::chrono::steady_clock::now() + start_timeout;
  while (!can_connect_unix(socket_)) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error(command[0] + " did not start");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Caller Relay::connect() const { return Caller(connect_unix(socket_), Framing::line); }

Upstream start_demo_upstream(const Programs& programs, Folder& folder) {
  // A connection that is idle between its rounds must not be closed.
  return Upstream({programs.demo_upstream, "--no-log", "--keep-alive-timeout", "600"}, folder);
}

Upstream start_bench_upstream(const Programs& programs, Folder& folder) {
  return Upstream({programs.bench_upstream}, folder);
}

Relay start_daemon(const Programs& programs, Folder& folder, const Upstream& upstream,
                   const std::vector<std::string>& options) {
  std::string socket = folder.fresh("mcp.sock");
  std::vector<std::string> command{programs.daemon, "--url",       upstream.url(), "--socket",
                                   socket,          "--log-level", "warning"};
  command.insert(command.end(), options.begin(), options.end());
  return Relay(std::move(command), std::move(socket), folder);
}

Relay start_daemon_of(const Programs& programs, Folder& folder,
                      const std::vector<std::string>& server) {
  std::string socket = folder.fresh("mcp.sock");
  std::vector<std::string> command{programs.daemon, "--socket",       socket, "--log-level",
                                   "warning",       "--connect-wait", "60s",  "--"};
  command.insert(command.end(), server.begin(), server.end());
  return Relay(std::move(command), std::move(socket), folder);
}

Relay start_bare_relay(const Programs& programs, Folder& folder, const Upstream& upstream) {
  std::string socket = folder.fresh("bare.sock");
  return Relay({programs.bare_relay, socket, upstream.url(), upstream.session()}, socket, folder);
}

Relay start_pipe_relay(const Programs& programs, Folder& folder,
                       const std::vector<std::string>& server) {
  std::string socket = folder.fresh("pipe.sock");
  std::vector<std::string> command{programs.pipe_relay, socket};
  command.insert(command.end(), server.begin(), server.end());
  return Relay(std::move(command), std::move(socket), folder);
}

std::string line_request(std::string message) {
  message += '\n';
  return message;
}

}  // namespace bench
