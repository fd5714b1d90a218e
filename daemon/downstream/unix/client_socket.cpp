#include "downstream/unix/client_socket.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "sockets/peer_credentials.hpp"

namespace bridge {
namespace {

using Event = DescriptorWatch::Event;

/// With this much left when the socket is full, the socket is enlarged to twice this: the client
/// and the daemon wake each other less often.
constexpr int large = 256 << 10;

/// How many bytes wait in a pipe; at both of its ends, and after one was closed.
int bytes_in_pipe(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, FIONREAD, &bytes) == 0 ? bytes : -1;
}

}  // namespace

ClientSocket::ClientSocket(EventLoop& loop, ClientEnds ends, Ready ready)
    : in_(loop, ends.in, ready) {
  if (ends.out >= 0) out_.emplace(loop, ends.out, std::move(ready));
}

void ClientSocket::want(Event event) {
  if (!out_) {
    in_.want(event);
    return;
  }
  if (event == Event::readable) in_.want(event);
  // The other pipe does not report that the reader is gone.
  out_->want(event == Event::readable ? Event::hung_up : event);
}

ssize_t ClientSocket::receive(char* bytes, std::size_t size) const {
  return out_ ? read(in_.descriptor(), bytes, size)
              : recv(in_.descriptor(), bytes, size, MSG_DONTWAIT);
}

/// Usually there is one piece, for which send() costs the kernel less.
ssize_t ClientSocket::write(iovec* pieces, std::size_t count) {
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (out_) return writev(out_->descriptor(), pieces, static_cast<int>(count));
  if (count == 1) return send(in_.descriptor(), pieces->iov_base, pieces->iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  return sendmsg(in_.descriptor(), &message, flags);
}

bool ClientSocket::make_room(std::size_t unwritten) {
  if (unwritten >= large && widen()) return true;
  is_full_ = true;
  want(Event::writable);
  return false;
}

/// False if it cannot grow. Of a socket the kernel grants twice the requested size, which is
/// limited by net.core.wmem_max; of a pipe fs.pipe-max-size and fs.pipe-user-pages-soft limit it.
bool ClientSocket::widen() {
  if (std::exchange(is_wide_, true)) return false;
  if (out_) return fcntl(out_->descriptor(), F_SETPIPE_SZ, 2 * large) > 0;
  int size = 0;
  socklen_t length = sizeof size;
  if (getsockopt(in_.descriptor(), SOL_SOCKET, SO_SNDBUF, &size, &length) != 0 || size >= 2 * large)
    return false;
  return setsockopt(in_.descriptor(), SOL_SOCKET, SO_SNDBUF, &large, sizeof large) == 0;
}

void ClientSocket::shut_down() {
  in_.cancel();
  if (!out_) shutdown(in_.descriptor(), SHUT_WR);
}

bool ClientSocket::has_hung_up() const { return bridge::has_hung_up(written_end()); }

bool ClientSocket::has_read_all() {
  // A frame that the client has sent meanwhile may say that it takes nothing: that is read first.
  if (out_) return bytes_in_pipe(out_->descriptor()) == 0 && bytes_in_pipe(in_.descriptor()) == 0;
  if (was_reset_) return false;
  const PeerReading reading = look_what_peer_read(in_.descriptor());
  was_reset_ = reading.was_reset;
  return reading.has_read_all && !reading.has_sent;
}

}  // namespace bridge
