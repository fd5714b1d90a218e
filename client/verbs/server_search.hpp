#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "connection/connect.hpp"
#include "connection/deadline.hpp"
#include "connection/interrupt.hpp"
#include "system/file_descriptor.hpp"
#include "verbs/grep.hpp"

namespace client {

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
