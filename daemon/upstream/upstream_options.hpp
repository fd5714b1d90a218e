#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "auth/auth_options.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// A local server that is run as a child process and spoken to over its stdin and stdout.
struct ChildOptions {
  std::vector<std::string> command;                ///< the program and its arguments; empty: none
  std::map<std::string, std::string> environment;  ///< set beside what it inherits
  std::string folder;                              ///< where it runs; empty: where the daemon does
  std::optional<rlimit> descriptors{};             ///< the limit it runs with; none: ours
  bool lazy = false;  ///< started by the first request, not with the daemon

  std::size_t max_frame = 8u << 20;
  std::chrono::milliseconds request_timeout{300000};  ///< without a byte from the child; 0: none
  std::chrono::milliseconds request_max{3600000};     ///< for an answer in all; 0: none
};

/// How the upstream is spoken to.
enum class UpstreamKind {
  http,   ///< Streamable HTTP
  sse,    ///< HTTP+SSE, the transport of 2024-11-05
  child,  ///< a local process
};

/// What is known of the upstream, for whichever transport reaches it.
struct UpstreamOptions {
  UpstreamKind kind = UpstreamKind::http;
  HttpOptions http;
  AuthOptions auth;
  ChildOptions child;
};

}  // namespace bridge
