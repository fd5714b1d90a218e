#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/caller.hpp"
#include "harness/child.hpp"
#include "harness/requests.hpp"

namespace bench {

/// The paths of the programs.
struct Programs {
  std::string daemon, client, demo_upstream, bench_upstream, bare_relay;
  std::string pipe_relay, bench_child, node, node_child;
};

/// A folder for sockets and logs, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// An unused path in it.
  std::string fresh(const std::string& name);

 private:
  std::filesystem::path path_;
  int given_ = 0;
};

/// An MCP server with a session of the benchmark's own, for direct calls and the bare relay.
class Upstream {
 public:
  Upstream(const std::vector<std::string>& command, Folder& folder);

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
  const std::string& session() const { return session_; }
  pid_t pid() const { return child_.pid(); }

  Caller connect() const;
  /// A request for such a connection.
  std::string request(std::string_view message) const { return http_post(message, session_); }

 private:
  Child child_;
  std::uint16_t port_;
  std::string session_;
};

/// Listens on a Unix socket and relays to an upstream: the daemon, or the bare relay.
class Relay {
 public:
  Relay(std::vector<std::string> command, std::string socket, Folder& folder);

  const std::string& socket() const { return socket_; }
  pid_t pid() const { return child_.pid(); }
  void stop() { child_.stop(); }

  Caller connect() const;

 private:
  std::string socket_;
  Child child_;
};

Upstream start_demo_upstream(const Programs& programs, Folder& folder);
Upstream start_bench_upstream(const Programs& programs, Folder& folder);
/// The first call opens its session.
Relay start_daemon(const Programs& programs, Folder& folder, const Upstream& upstream,
                   const std::vector<std::string>& options = {});
/// The daemon in front of a local server, started by this command.
Relay start_daemon_of(const Programs& programs, Folder& folder,
                      const std::vector<std::string>& server);
Relay start_bare_relay(const Programs& programs, Folder& folder, const Upstream& upstream);
Relay start_pipe_relay(const Programs& programs, Folder& folder,
                       const std::vector<std::string>& server);

/// A request for a Unix socket connection.
std::string line_request(std::string message);

}  // namespace bench
