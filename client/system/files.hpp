#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace client {

using FileDescriptor = bridge::Descriptor;

/// An output that may be shared with other processes (stdout, stderr): its file status flags are
/// never changed, since O_NONBLOCK would persist on a shell's terminal. Not owned.
class Sink {
 public:
  enum class Result {
    ok,
    would_block,
    closed,       ///< its reader is gone
    failed,       ///< see errno, a full disk for example
    interrupted,  ///< the interrupt descriptor became readable while writing was blocked
  };

  explicit Sink(int descriptor);

  int descriptor() const { return descriptor_; }

  /// Writes as much as possible without blocking; sets `written`. REQUIRES: poll(2) said POLLOUT.
  Result write_some(std::string_view data, std::size_t& written) const;

  /// Writes everything, without a time limit. `interrupt` is -1 or a descriptor that ends the wait.
  Result write_all(std::string_view data, int interrupt) const;

 private:
  enum class Kind { file, pipe, socket, other };

  std::size_t safe_size(std::size_t wanted) const;

  int descriptor_;
  Kind kind_;
};

/// Reads to the end. Returns errno, EFBIG if there is more than `most`.
int read_all(int file, std::string& text, std::size_t most);

/// Creates the folder and its missing parents. Returns errno.
int make_folders(const std::string& path, mode_t mode);

/// The path without its last part.
std::string folder_of(const std::string& path);
/// The path with links resolved; unchanged if that fails.
std::string real_path(const std::string& path);

/// Visits the names of the folder's entries with this ending, without it.
void each_file(const std::string& folder, std::string_view suffix,
               const std::function<void(std::string_view name)>& visit);

/// Appends the text to a file that only its owner may read, which is created if missing. Returns
/// errno.
int append_to_file(const std::string& path, const std::string& text);

/// Replaces the content of a file that only its owner may read, atomically. Returns errno.
int replace_file(const std::string& path, const std::string& text);

}  // namespace client
