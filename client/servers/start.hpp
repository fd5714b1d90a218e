#pragma once

#include "servers/instance.hpp"
#include "terminal/console.hpp"

namespace client {

/// The daemon for that server, running or not; nothing is started. If the server needs approval the
/// user is asked at the terminal.
std::variant<NamedDaemon, Failure> named_daemon(const Options& options, Console& console);

/// Starts it, unless another process has done so meanwhile, and connects to it. Missing values of
/// inputs are asked for at the terminal.
std::variant<Connected, Failure> start_named(const NamedDaemon& daemon, Console& console,
                                             Deadline deadline);

/// The number of the descriptor on which a daemon gets its definition: after the two that it passes
/// to the next process itself (BEHAVIOUR, "Upgrade in place").
constexpr int definition_number = 5;

/// The last line of a daemon's log, safe for a terminal.
struct LastWords {
  std::string text;
  /// The daemon's reason why it could not start: it has served no client.
  bool is_refusal = false;
};

/// From the log, starting at `begin`; `file` is named in place of the definition's
/// descriptor.
LastWords last_words_in(const std::string& log, std::size_t begin, std::string_view file);

/// The same of that text. Pure.
LastWords last_words_of(std::string_view said, std::string_view file);

/// The environment of a new daemon, as `NAME=value`: HOME, PATH, LANG, XDG_*, proxy variables, and
/// those that the definition names. Pure but for `environment`, which ends with nullptr.
std::vector<std::string> environment_for(const Definition& definition, char* const* environment);

}  // namespace client
