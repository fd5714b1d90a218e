#pragma once

#include <cstddef>
#include <string_view>

namespace client {

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

}  // namespace client
