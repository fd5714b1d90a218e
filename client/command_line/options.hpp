#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/units.hpp"

namespace client {

using cli::format_duration;
using cli::Milliseconds;

struct Verb;

/// The exit codes. The numbers are part of the interface.
enum class ExitCode {
  ok = 0,
  answered_error = 1,  ///< the tool or the server answered with an error
  usage = 2,
  unreachable = 3,  ///< the daemon cannot be reached, hung up before answering, or cannot start
  upstream = 4,     ///< the daemon cannot reach or use the upstream
  unfinished = 75,  ///< the call continues as a job, or its job waits for an answer
  timed_out = 124,
  interrupted = 130,
  terminated = 143,
};

/// A parsed command line. "" means not given.
struct Options {
  const Verb* verb = nullptr;         ///< null: the relay
  std::vector<std::string> operands;  ///< the words after the verb that are not options

  std::string socket;
  std::string server;  ///< of @NAME, without the @
  std::string url;
  std::string command;  ///< of --run
  std::string config;
  std::vector<std::string> headers;  ///< `NAME: VALUE`; may be secret
  std::string token_file;
  std::string oauth_client_id;
  std::string oauth_client_secret_file;
  std::string oauth_redirect;
  std::string oauth_scope;
  bool oauth_assume_pkce = false;
  std::string peer;
  std::string as;                       ///< the uid to act as
  std::vector<std::string> roots;       ///< folders, as typed
  std::optional<Milliseconds> timeout;  ///< none: no limit
  Milliseconds wait{0};                 ///< for a socket that does not exist yet
  bool no_start = false;                ///< use only a running daemon
  bool help = false;
  bool version = false;
  bool keep = false;  ///< leave notifications in the daemon's ring
  bool json = false;
  bool names = false;
  bool brief = false;
  bool full = false;
  bool types = false;  ///< tools as TypeScript declarations
  std::string save;
  std::string prefix;                      ///< of the names of commands; the name of a grant
  std::string output;                      ///< the file for the result
  std::optional<std::uint64_t> max_bytes;  ///< of the output; the rest goes to a file
  std::string field;
  bool raw = false;  ///< send a call's arguments as typed

  std::optional<Milliseconds> listen_for;  ///< 0: only what is available now
  std::optional<std::uint64_t> count;      ///< of notifications; the calls of a grant
  std::optional<std::uint64_t> since;
  std::string exec;                      ///< the command for each notification
  std::vector<std::string> methods;      ///< globs
  std::optional<std::uint64_t> retries;  ///< none: for ever
  std::string dead;                      ///< the file for what was given up
  bool sequence = false;

  bool read_only = false;  ///< a grant is for tools that only read

  bool detach = false;
  std::optional<Milliseconds> detach_after;
  std::string key;
  bool task = false;   ///< a call that becomes a task at the server
  bool check = false;  ///< ask each server
  bool all = false;    ///< every server that the files name
  bool any = false;
  bool decline = false;
  bool cancel = false;
  bool device = false;
  bool open = false;
  bool skill = false;
  bool yes = false;
  bool follow = false;
  bool ready = false;
  bool metrics = false;
  bool watch = false;
};

/// Whether the options name a server instead of a daemon's socket.
inline bool names_server(const Options& options) {
  return !options.server.empty() || !options.url.empty() || !options.command.empty();
}

/// Whether a call is made as a job of the daemon.
inline bool is_job(const Options& options) {
  return options.detach || options.detach_after || !options.key.empty();
}

/// An option of mcp-bridged that a started daemon gets as it was given to mcp-nc: as an option, if
/// it is one here too, else by its environment name. Nothing secret.
struct DaemonOption {
  static constexpr unsigned is_path = 1;  ///< of a file, which the daemon reads
  static constexpr unsigned is_flag = 2;
  /// Leads to a credential: its environment counts with --url only, since any server of a file
  /// would get the credential.
  static constexpr unsigned is_credential = 4;

  std::string_view name;
  std::variant<std::monostate, std::string Options::*, bool Options::*> target{};
  unsigned traits = 0;
};
std::span<const DaemonOption> daemon_options();

/// An error in the command line, as one line for a person.
struct UsageError {
  std::string message;
  bool json = false;        ///< --json was among the words
  std::string_view verb{};  ///< whose help explains more; "" = unknown
};

/// Why a verb failed: reported on stderr, and with --json on stdout too.
struct Failure {
  /// `server`: the server answered with an error; `tool`: the tool reports a failure; `usage`;
  /// `daemon`: it is unreachable or hung up; `file`: a local file cannot be read or written;
  /// `timeout`, `interrupted`: of this program; else the kind of the bridge's own error.
  std::string kind;
  std::string message;
  ExitCode code = ExitCode::answered_error;
  std::string_view delivered = "no";  ///< whether the server received the request: yes, no, unknown
  std::string hint{};                 ///< what to do, "" = the kind's default
  std::string error_code = "null";    ///< JSON: the JSON-RPC error's code, if there is one
  std::string result{};               ///< JSON, of a failed tool: its whole result; "" = none
  std::string shown{};                ///< for a person; "" = same as the message
  /// Pages that the server wants opened first: of each its purpose, its whole address and its host,
  /// on separate lines, safe for a terminal.
  std::string pages{};
  bool wants_login = false;      ///< a login may solve the problem
  bool is_failed_start = false;  ///< the server has ended before it could be used
};

/// Parses `arguments`, without the program's name. Options may stand anywhere; `--` ends them.
std::variant<Options, UsageError> parse_command_line(
    const std::vector<std::string_view>& arguments);

/// The program and the server as named on the command line, for a command to be copied: `mcp-nc`,
/// `mcp-nc @github`, `mcp-nc -s /run/x`. Possible secrets in an address are left out. Pure; not
/// safe for a terminal.
std::string typed_program(const Options& options);
/// The text with the program so in each `mcp-nc VERB` for a person to type; with the files alone
/// where the verb is about those. Pure.
std::string as_typed(std::string text, const Options& options);

}  // namespace client
