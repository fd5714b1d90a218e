#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

namespace bridge {

/// What was read of a file, or why it cannot be.
struct FileContent {
  std::string bytes;
  std::string fault;      ///< empty: it was read. Names neither the file nor anything in it
  struct stat status {};  ///< of what was read
};

/// Reads a file of the configuration: a regular one of at most `most` bytes, links followed.
///
/// It never waits, and opens nothing that acts on being opened: a FIFO, a terminal or another
/// device in the file's place is a fault. Every file that an option names goes through here. May be
/// called on the loop's thread at any time.
FileContent read_regular_file(const std::string& path, std::size_t most);

}  // namespace bridge
