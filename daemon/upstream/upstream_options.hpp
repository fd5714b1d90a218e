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

/// A local server, run as a child process.
struct ChildOptions {
  std::vector<std::string> command;                ///< the program and its arguments; empty: none
  std::map<std::string, std::string> environment;  ///< added to what it inherits
  std::string folder;                              ///< working folder; empty: the daemon's
  std::optional<rlimit> descriptors{};             ///< its own limit; none: the daemon's
  bool lazy = false;                               ///< started by the first request
  std::vector<std::string> secrets{};              ///< known ones that it is given

  std::size_t max_frame = 8u << 20;
  std::chrono::milliseconds request_timeout{300000};  ///< without a byte from the child; 0: none
  std::chrono::milliseconds request_max{3600000};     ///< for an answer in total; 0: none
};

/// The transports.
enum class UpstreamKind {
  http,   ///< Streamable HTTP
  sse,    ///< HTTP+SSE, the transport of 2024-11-05
  child,  ///< a local process
};

/// The options of the upstream, for all transports.
struct UpstreamOptions {
  UpstreamKind kind = UpstreamKind::http;
  HttpOptions http;
  AuthOptions auth;
  ChildOptions child;
};

}  // namespace bridge
