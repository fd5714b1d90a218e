#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace bridge {

// The entries of the folder of pipes (PIPES.md): what their names mean, and whether two
// of them are a client's. Pure.

enum class PipeEntryKind {
  request,     ///< `NAME.in`: a client is ready
  response,    ///< `NAME.out`: it soon is
  unfinished,  ///< `.NAME.in`, `.NAME.out`: being made
  lock,        ///< the daemon's
  foreign,
};

struct PipeEntry {
  PipeEntryKind kind;
  std::string_view name;  ///< NAME: 16 to 64 letters, digits, `-` and `_`; empty for others
};

PipeEntry read_pipe_entry(std::string_view entry);

/// Why the files of a name are not a client's pipes, before they are opened; empty: they are.
std::string fault_of_pipes(const struct stat& in, const struct stat& out);

/// The mode of the folder may let others make pipes in it, but neither see nor remove those of one
/// another: without `r`, and sticky.
bool is_mode_of_pipes_folder(mode_t mode);

}  // namespace bridge
