#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace client {

using FileDescriptor = bridge::Descriptor;

/// An output that may be shared with other processes (stdout, stderr): its file status flags are
/// never changed, since O_NONBLOCK would stay with a shell's terminal. Does not own it.
class Sink {
 public:
  enum class Result {
    ok,
    would_block,
    closed,       ///< nobody reads it any more
    failed,       ///< errno tells why, a full disk for example
    interrupted,  ///< the interrupt descriptor became readable while it was stuck
  };

  explicit Sink(int descriptor);

  int descriptor() const { return descriptor_; }

  /// Writes as much as cannot block, into `written`. REQUIRES: poll(2) said POLLOUT.
  Result write_some(std::string_view data, std::size_t& written) const;

  /// Writes all, waiting as long as it takes. `interrupt` is -1 or a descriptor that ends the wait.
  Result write_all(std::string_view data, int interrupt) const;

 private:
  enum class Kind { file, pipe, socket, other };

  std::size_t safe_size(std::size_t wanted) const;

  int descriptor_;
  Kind kind_;
};

/// Reads to the end. Returns errno, EFBIG if there is more than `most`.
int read_all(int file, std::string& text, std::size_t most);

/// Makes the folder and those above it that are not there. Returns errno.
int make_folders(const std::string& path, mode_t mode);

/// Of a path: what stands before its last part.
std::string folder_of(const std::string& path);
/// Where links lead to; the path itself where that cannot be told.
std::string real_path(const std::string& path);

/// Adds it to the end of a file that only its owner may read, which is made if it is not there.
/// Returns errno.
int append_to_file(const std::string& path, const std::string& text);

/// Gives a file that only its owner may read this content, whole or not at all. Returns errno.
int replace_file(const std::string& path, const std::string& text);

}  // namespace client
