#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>

namespace bridge {

/// One accepted connection as bytes, in the clear or through TLS. Never blocks. It does not own the
/// descriptor, which must outlive it. A part of its HttpConnection; the loop's thread only.
class ByteStream {
 public:
  enum class State {
    done,         ///< `bytes` were moved
    wants_read,   ///< try again when the descriptor is readable
    wants_write,  ///< … or writable
    ended,        ///< the peer sends nothing more
    broken,       ///< a reset, or TLS that makes no sense
  };
  struct Result {
    State state;
    std::size_t bytes;
  };

  virtual ~ByteStream() = default;
  virtual Result read(char* buffer, std::size_t size) = 0;
  virtual Result write(const iovec* pieces, std::size_t count) = 0;
  /// Bytes were read from the descriptor that read() has not handed over.
  virtual bool has_pending() const { return false; }
  /// Nothing more will be written.
  virtual void finish() {}
};

std::unique_ptr<ByteStream> make_plain_stream(int descriptor);

}  // namespace bridge
