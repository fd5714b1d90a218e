// What a connection writes: answers, streams, and its end.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "http/server/http_connection.hpp"

namespace bridge {

void HttpConnection::respond(HttpResponse response) {
  if (phase_ == Phase::over) return;
  writer_.respond(std::move(response));
  mark();
  request_done();
}

void HttpConnection::begin_stream(const HttpResponse& head) {
  if (phase_ == Phase::over) return;
  writer_.begin_stream(head);
  mark();
}

void HttpConnection::write_stream(std::string_view bytes) {
  if (phase_ == Phase::over) return;
  writer_.write_stream(bytes);
  mark();
}

void HttpConnection::end_stream() {
  if (phase_ == Phase::over) return;
  writer_.end_stream();
  mark();
  request_done();
}

void HttpConnection::request_done() {
  responder_ = nullptr;
  if (phase_ != Phase::answering) return;
  served_ = true;
  since_ = context_.loop.now();
  phase_ = writer_.keeps_connection() ? Phase::reading : Phase::closing;
  mark();  // what came early is looked at then
}

/// One write; false if nothing more can be done now.
bool HttpConnection::write_some() {
  const ByteStream::Result result = writer_.write_to(*stream_);
  if (result.state == ByteStream::State::broken) {
    peer_ = Peer::has_reset;
    lose(false);
    return false;
  }
  if (result.state != ByteStream::State::done) {
    watch_.want(is_blocked() ? DescriptorWatch::Event::writable : DescriptorWatch::Event::readable);
    return false;
  }
  last_progress_ = context_.loop.now();
  context_.counts.sent_bytes += result.bytes;
  return true;
}

void HttpConnection::flush() {
  marked_ = false;
  if (phase_ == Phase::over) return;
  if (is_blocked()) {
    count_held();
    return;
  }
  for (;;) {
    while (!writer_.is_empty() && write_some()) {
    }
    if (phase_ == Phase::over || !writer_.is_empty()) break;
    if (responder_ != nullptr) responder_->connection_drained();
    if (phase_ == Phase::over || writer_.is_empty()) break;
  }
  if (phase_ == Phase::over) return;
  if (phase_ == Phase::closing && writer_.is_empty()) begin_draining();
  if (phase_ == Phase::reading && !early_.empty()) process(std::exchange(early_, {}));
  if (stream_->has_pending() && may_read()) {
    read_ready();  // what TLS holds already makes no descriptor readable
  } else {
    wait();
  }
  count_held();
  watch_time();
}

void HttpConnection::count_held() {
  share_.set(reader_.pending_bytes() + early_.size() + unsent());
}

// Closing with unread input would reset the connection, and the peer would lose the answer.
void HttpConnection::begin_draining() {
  if (peer_ != Peer::sends) {
    lose(true);
    return;
  }
  phase_ = Phase::draining;
  since_ = context_.loop.now();
  stream_->finish();
  shutdown(watch_.descriptor(), SHUT_WR);
}

// A reset leaves the count of what was not acknowledged as it was.
std::uint64_t HttpConnection::acknowledged() const {
  int unread = 0;
  if (ioctl(watch_.descriptor(), SIOCOUTQ, &unread) != 0 || unread < 0) return 0;
  return writer_.sent() - std::min(writer_.sent(), static_cast<std::uint64_t>(unread));
}

bool HttpConnection::peer_has_all() {
  if (peer_ == Peer::has_reset || !writer_.is_empty()) return false;
  int unread = 0;
  return ioctl(watch_.descriptor(), SIOCOUTQ, &unread) == 0 && unread == 0;
}

}  // namespace bridge
