#pragma once

#include <sys/types.h>

#include "command_line/options.hpp"
#include "connection/connect.hpp"
#include "connection/conversation.hpp"
#include "system/files.hpp"
#include "system/signals.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/failure.hpp"

namespace client {

/// What a server has with all the words in it.
struct Hits {
  bool has_any = false;
  std::string text;  ///< a line for each
  std::string json;  ///< the members of an object: the lists, each with its hits
};

/// Looks into all that the server lists. Each line begins with `prefix`. A list that the server
/// answers with an error of its own is empty; else the Answer says why nothing is known.
std::variant<Hits, Answer> find_hits(Dialogue& dialogue, const Options& options,
                                     std::string_view prefix);

/// The same in every server that files name, side by side. A daemon that does not run is started,
/// unless that is not wanted. Why one was left out is told on stderr, and
/// with --json in its place.
ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt);

/// What one of several servers gave, or why it was left out.
struct SearchOutcome {
  Hits hits{};
  std::string why{};  ///< "" = it was searched
  bool was_interrupted = false;
};

/// As one process tells another. Pure. What cannot be read was left out.
std::string outcome_text(const SearchOutcome& outcome);
SearchOutcome read_outcome(std::string_view text);

/// A server that is searched by a process of its own, so that none waits for another. It asks
/// nothing at the terminal. Ended with this.
class ServerSearch {
 public:
  /// Begins. `name` is safe for a terminal. `is_new`: the daemon was started for it.
  ServerSearch(Connected connected, const std::string& name, const Options& options,
               Deadline deadline, bool is_new);
  ~ServerSearch();
  ServerSearch(const ServerSearch&) = delete;
  ServerSearch& operator=(const ServerSearch&) = delete;

  /// Waits until it is there, or a signal has come. REQUIRES: called once.
  SearchOutcome outcome(Interrupt& interrupt);

 private:
  FileDescriptor told_;  // by the process
  pid_t process_ = -1;
};

}  // namespace client
