// What a client of the Unix socket is given, and whether it has read it.
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

#include "downstream/unix/connection.hpp"

namespace bridge {
namespace {

constexpr std::size_t pieces_per_write = 64;
/// With so much left when the socket is full, that is made to hold twice as much: the client and we
/// wake one another less often.
constexpr int large = 256 << 10;

/// Most often there is one, which costs the kernel less as such.
ssize_t write_pieces(int descriptor, iovec* pieces, std::size_t count) {
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (count == 1) return send(descriptor, pieces->iov_base, pieces->iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  return sendmsg(descriptor, &message, flags);
}

}  // namespace

/// False if it is as wide as it gets. What the kernel gives is twice what it is asked for, which is
/// net.core.wmem_max at most.
bool Connection::widen_socket() {
  int size = 0;
  socklen_t length = sizeof size;
  if (std::exchange(is_wide_, true) ||
      getsockopt(watch_.descriptor(), SOL_SOCKET, SO_SNDBUF, &size, &length) != 0 ||
      size >= 2 * large)
    return false;
  return setsockopt(watch_.descriptor(), SOL_SOCKET, SO_SNDBUF, &large, sizeof large) == 0;
}

void Connection::send(std::string frame) { queue(std::move(frame), Sequence{}); }

void Connection::send_entry(std::string_view, std::string frame, Sequence entry) {
  queue(std::move(frame), entry);
}

void Connection::queue(std::string frame, Sequence entry) {
  if (outbox_.bytes() == 0) last_progress_ = context_.loop.round_began();
  outbox_.push(std::move(frame), entry);
  update_load();
  mark();
}

void Connection::send_ahead(std::string frame) {
  outbox_.push_ahead(std::move(frame));
  update_load();
  mark();
}

void Connection::set_feed(RingFeed feed) {
  if (feed_ == feed) return;
  feed_ = feed;
  if (feed == RingFeed::none) {
    outbox_.stop_reading();
  } else if (feed_begun_) {
    outbox_.join(context_.loop.wall_time());
    if (feed == RingFeed::takes) context_.feed.ring().take(outbox_.reader());
    mark();
  }
}

void Connection::give_back_feed() {
  outbox_.give_back();
  feed_ = RingFeed::none;
}

void Connection::finish() {
  if (phase_ == Phase::over) return;
  phase_ = Phase::finishing;
  outbox_.stop_at_newest();
  mark();
  wait_for_input();
}

void Connection::mark() {
  if (!std::exchange(marked_, true)) context_.dirty.push_back(this);
  context_.flush.schedule();
}

void Connection::flush() {
  marked_ = false;
  if (phase_ == Phase::over || blocked_) return;
  // Once more is written, an empty queue says nothing about what was written before.
  acknowledge_read();
  std::array<iovec, pieces_per_write> pieces{};
  for (;;) {
    const std::size_t count = outbox_.gather(pieces.data(), pieces.size());
    report_lost();
    if (count == 0) break;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) wanted += pieces[i].iov_len;
    const ssize_t written = write_pieces(watch_.descriptor(), pieces.data(), count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) {
      reset_ = reset_ || errno == ECONNRESET;  // the kernel has told it now, and will not again
      hung_up();  // EPIPE: what it still sent counts, and whether it had read all is seen there
      return;
    }
    if (written > 0) {
      context_.counts.sent_bytes += static_cast<std::size_t>(written);
      outbox_.consume(static_cast<std::size_t>(written));
      if (outbox_.bytes() > 0) last_progress_ = context_.loop.now();
      if (stall_.is_set()) stall_.set_after(context_.limits.stall);
    }
    if (written < 0 || static_cast<std::size_t>(written) < wanted) {
      const std::size_t left = wanted - (written < 0 ? 0 : static_cast<std::size_t>(written));
      if (left >= large && widen_socket()) continue;
      blocked_ = true;
      watch_.want(DescriptorWatch::Event::writable);
      break;
    }
  }
  update_load();
  // Room in the queue may have brought forth the last answers: they are written first.
  if (phase_ == Phase::finishing && !blocked_ && !marked_) linger();
}

// The client sees the end now. If it was given notifications the connection stays until it is known
// whether it has read them. No event tells that: with both sides shut down poll says POLLHUP
// however it is, so it is looked at after 1 ms, 2 ms, 4 ms and so on.
void Connection::linger() {
  acknowledge_read();
  if (!outbox_.has_unacknowledged() || feed_ == RingFeed::reads) {
    leave(true);
    return;
  }
  phase_ = Phase::lingering;
  watch_.cancel();
  shutdown(watch_.descriptor(), SHUT_WR);
  stall_.set_after(linger_step_);
}

void Connection::look_whether_read() {
  const bool has_read_all = peer_has_read_all();
  linger_step_ *= 2;
  if (has_read_all || reset_ || linger_step_ > context_.limits.stall) {
    leave(has_read_all);
  } else {
    stall_.set_after(linger_step_);
  }
}

void Connection::update_load() {
  share_.set(outbox_.bytes() + splitter_.pending_bytes());
  // A single frame is admitted whatever its size.
  const bool over = outbox_.bytes() > context_.limits.buffer && outbox_.frames() > 1;
  const bool drained = outbox_.bytes() <= context_.limits.buffer / 2;
  if (congested_ ? !drained : !over) return;
  congested_ = !congested_;
  if (congested_) {
    stall_.set_after(context_.limits.stall);
  } else if (phase_ != Phase::lingering) {
    stall_.clear();
  }
  if (phase_ == Phase::open || phase_ == Phase::half_closed) {
    events_.client_congestion(identity_.id, congested_);
  }
}

void Connection::report_lost() {
  if (const std::uint64_t lost = outbox_.take_lost()) {
    context_.counts.lost_notifications += lost;
    context_.log.peer(LogLevel::warning, "client behind the ring", {.client = identity_.id},
                      "{} notifications were pushed out of the ring before a client came to them",
                      lost);
  }
}

}  // namespace bridge
