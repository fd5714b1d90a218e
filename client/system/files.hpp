#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace client {

/// Owns a file descriptor; -1 is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// Opens /dev/null for whichever of 0, 1, 2 is closed, so that no socket gets such a number.
void ensure_standard_descriptors();

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

struct FileText {
  std::string text{};
  int error = 0;  ///< errno; EFBIG if there is more than that
  /// Nobody but this user and root can have written it: it is one of theirs, and no group's.
  bool is_own = false;
};

/// What stands in a regular file; of anything else nothing is read, since it could have us wait.
FileText read_whole_file(const std::string& path, std::size_t most);

/// Returns errno.
int write_all(int file, std::string_view text);

/// Adds it to the end of a file that only its owner may read, which is made if it is not there.
/// Returns errno.
int append_to_file(const std::string& path, const std::string& text);

/// Gives a file that only its owner may read this content, whole or not at all. Returns errno.
int replace_file(const std::string& path, const std::string& text);

}  // namespace client
