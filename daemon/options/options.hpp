#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "downstream/http/face_context.hpp"
#include "downstream/unix/connection.hpp"
#include "downstream/unix/listening_socket.hpp"
#include "downstream/unix/peer_credentials.hpp"
#include "jobs/job_options.hpp"
#include "notifications/ring.hpp"
#include "process/resources.hpp"
#include "router/router_options.hpp"
#include "session/session_options.hpp"
#include "state/state_options.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

/// Everything the daemon was told, each part in the form its owner wants. Defaults stand with the
/// members. Which source wins: BEHAVIOUR, "Start".
struct Options {
  UpstreamOptions upstream;
  std::string unused_upstream;  ///< what else names one and is not used: a warning, or empty
  SessionOptions session;
  RouterOptions router;
  JobOptions jobs;
  RingLimits ring;
  SocketOptions socket;
  PeerPolicy peers;
  ClientLimits clients;
  FaceOptions face;
  std::size_t max_clients = 256;
  /// With one client after the other the rest is connected too, and not in the accept queue, so
  /// that their control requests are answered.
  std::size_t max_connections() const { return max_clients == 1 ? 256 : max_clients; }
  std::size_t max_buffered = 256u << 20;
  std::chrono::milliseconds grace{5000};
  IdleOptions idle;
  StateOptions state;
  /// Values of the config file's inputs, headers and environment, as far as they are used.
  std::vector<std::string> secrets;
  LogOptions log;
  std::string metrics_file;  ///< empty: none
  bool debuggable = false;   ///< --debuggable: other processes of the user may look into this one
  bool check = false;        ///< --check: say whether all is well, and end
};

/// What the command line asked for instead of running: the text for stdout.
struct Informed {
  std::string text;
};

/// Reads flags, environment and --options-file: flags win over environment over file over default.
/// Throws StartError for a wrong option or value (64) and for files (78).
struct ParsedOptions {
  Options options;
  std::map<std::string, std::string> given;    ///< every option that was set, by name, as text
  std::optional<Informed> informed;            ///< --help or --version
  std::map<std::string, std::string> answers;  ///< what was asked for on the terminal; secret
};
/// `earlier`: what was read at the start, when it is read again. Then nothing is asked.
ParsedOptions parse_options(int argc, char** argv, const ParsedOptions* earlier = nullptr);

}  // namespace bridge
