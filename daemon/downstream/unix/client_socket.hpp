#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <functional>
#include <optional>

#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// The descriptors of a client: a socket, or two pipes.
struct ClientEnds {
  int in = -1;
  int out = -1;  ///< the pipe that the client reads; -1: `in` is a socket
};

/// The stream of a client, a socket or two pipes, and what the kernel knows of the client.
///
/// Of two pipes, the end of `in` is the half-close, and a reader of `out` that is gone has left.
/// Owned by its Connection; the loop's thread only.
class ClientSocket {
 public:
  using Ready = std::function<void(DescriptorWatch::Event)>;

  /// Takes ownership of the descriptors, which must be non-blocking.
  ClientSocket(EventLoop& loop, ClientEnds ends, Ready ready);

  ClientEnds ends() const { return {in_.descriptor(), out_ ? out_->descriptor() : -1}; }
  void want(DescriptorWatch::Event event);
  ssize_t receive(char* bytes, std::size_t size) const;
  /// As send(2).
  ssize_t write(iovec* pieces, std::size_t count);
  /// `unwritten` bytes do not fit. True: there is room now; else wait for Event::writable.
  bool make_room(std::size_t unwritten);
  bool is_full() const { return is_full_; }
  void note_room() { is_full_ = false; }
  /// Nothing more is sent. The reader of a pipe sees that when the descriptor is closed.
  void shut_down();

  /// Whether both directions are closed.
  bool has_hung_up() const;
  /// Whether the client has read all that was written.
  bool has_read_all();
  /// The client has closed with unread data.
  bool was_reset() const { return was_reset_; }
  void set_reset(bool was_reset) { was_reset_ = was_reset; }
  /// After shut_down(): whether the client reads nothing more.
  bool has_left() const { return out_ ? has_hung_up() : was_reset_; }

 private:
  int written_end() const { return out_ ? out_->descriptor() : in_.descriptor(); }
  bool widen();

  DescriptorWatch in_;                  ///< or the socket
  std::optional<DescriptorWatch> out_;  ///< of two pipes
  bool is_full_ = false;                ///< takes no more for now
  bool is_wide_ = false;                ///< was enlarged
  bool was_reset_ = false;              ///< the kernel reports it only once
};

}  // namespace bridge
