#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_log.hpp"
#include "base/log.hpp"
#include "control/metrics_listener.hpp"
#include "downstream/http/frontend_context.hpp"
#include "downstream/unix/connection.hpp"
#include "downstream/unix/pipes_folder.hpp"
#include "jobs/job_store.hpp"
#include "notifications/ring.hpp"
#include "options/option_table.hpp"
#include "policy/policy.hpp"
#include "process/resources.hpp"
#include "router/router_context.hpp"
#include "session/session_record.hpp"
#include "sockets/listening_socket.hpp"
#include "sockets/peer_credentials.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

/// Names of the options that now have another value than before and change only with a restart.
/// Pure.
std::vector<std::string> unchangeable_changes(const std::map<std::string, std::string>& before,
                                              const std::map<std::string, std::string>& now);

/// The same as text for people; empty: none.
std::string changed_for_good(const std::map<std::string, std::string>& before,
                             const std::map<std::string, std::string>& now);

/// All options of the daemon, each part in its owner's form. Defaults are those of the members.
/// Precedence of the sources: BEHAVIOUR, "Start".
struct Options {
  UpstreamOptions upstream;
  std::string unused_upstream;  ///< another upstream that is named and ignored: a warning, or empty
  SessionOptions session;
  RouterOptions router;
  JobOptions jobs;
  RingLimits ring;
  SocketOptions socket;
  PeerPolicy peers;
  PipesOptions pipes;
  AuditOptions audit;
  std::shared_ptr<const PolicyFile> policy;  ///< --policy; null: everything is allowed
  ClientLimits clients;
  FrontendOptions frontend;
  std::size_t max_clients = 256;
  /// With one client at a time the others are connected too, rather than in the accept queue, so
  /// that their control requests are answered.
  std::size_t max_connections() const {
    return std::min(connection_share, max_clients == 1 ? 256 : max_clients);
  }
  /// As many as the limit of file descriptors leaves (share_descriptors()).
  std::size_t connection_share = static_cast<std::size_t>(-1);
  std::size_t max_buffered = 256u << 20;
  std::chrono::milliseconds grace{5000};
  IdleOptions idle;
  StateOptions state;
  /// Values of the config file's inputs, headers and environment, as far as they are used.
  std::vector<std::string> secrets;
  LogOptions log;
  std::string metrics_file;  ///< empty: none
  MetricsListenerOptions metrics_listener;
  bool debuggable = false;  ///< --debuggable: other processes of the user may look into this one
  bool check = false;       ///< --check: check the options, report, and exit
  std::vector<std::string> warnings;  ///< for the log or --check; without values
};

/// What protects the server from the clients, for the log: the policy and the audit, or that there
/// is none. Pure.
std::string guards_of(const Options& options);

/// The output for stdout if the command line asked for information.
struct Informed {
  std::string text;
};

/// Result of reading flags, environment and --options-file, in that precedence, then defaults.
/// StartError is thrown for a wrong option or value (64) and for files (78).
struct ParsedOptions {
  Options options;
  std::map<std::string, std::string> given;    ///< every option that was set, by name, as text
  std::optional<Informed> informed;            ///< --help or --version
  std::map<std::string, std::string> answers;  ///< answers given on the terminal; secret
};
/// `earlier`: the result at the start, when read again. Then the terminal is not asked.
ParsedOptions parse_options(int argc, char** argv, const ParsedOptions* earlier = nullptr);

/// What SIGHUP may change, by name, with the content of the files behind it; secret. Pure.
std::map<std::string, std::string> changeable_values(const ParsedOptions& parsed);
/// The names whose values differ. Pure.
std::vector<std::string> changed_names(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now);

/// Warns of each variable that looks like one of an option and is none, for example because its
/// name is misspelled. Those that Kubernetes sets for a service are left out. Pure.
std::vector<std::string> warnings_of_variables(const char* const* environment,
                                               const std::vector<std::string_view>& known);

/// The lines of an --options-file by option name, without the dashes: `ring-ttl = 10m`, `ring-ttl
/// 10m`, or a name alone for a flag. `#` begins a comment; a name may occur several times. Throws
/// StartError (78) if it cannot be read.
std::map<std::string, OptionTable::Lines> read_options_file(const std::string& path);

/// The content of a file of at most 1 MiB (read_regular_file()), without the line end at its end.
/// Throws StartError (78).
std::string read_small_file(const std::string& path, const std::string& what);

/// The output of --help, within 80 columns: the two ways to call the daemon, and the options in
/// their groups, each with its environment variable and its default.
std::string help_text(const std::vector<OptionTable::Row>& options);

/// Raises the limit for the file descriptors that these options may need, and sets in `options`
/// each part's share; warns if they are too few. Called before anything is forked.
void share_descriptors(Options& options, Log& log);

}  // namespace bridge
