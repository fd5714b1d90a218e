// What a connection writes: answers, streams, and its end.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "http/server/http_connection.hpp"

namespace bridge {
namespace {

constexpr std::size_t pieces_per_write = 64;
/// A body up to here leaves in one piece with its head.
constexpr std::size_t small_body = 4096;

}  // namespace

void HttpConnection::queue(std::string bytes) {
  if (phase_ == Phase::over || bytes.empty()) return;
  if (unsent_.empty()) last_written_ = context_.loop.now();
  unsent_.push(std::move(bytes));
  mark();
}

const std::string& HttpConnection::date() {
  return context_.date.at(std::chrono::system_clock::to_time_t(context_.loop.wall_time()));
}

void HttpConnection::respond(HttpResponse response) {
  const bool has_body = form_.has_body && response.status != 204 && !response.body.empty();
  std::string head =
      response_head(response, ResponseFraming::length, form_.keeps_connection, date());
  if (has_body && response.body.size() < small_body) {
    head += response.body;
    queue(std::move(head));
  } else {
    queue(std::move(head));
    if (has_body) queue(std::move(response.body));
  }
  request_done();
}

void HttpConnection::begin_stream(const HttpResponse& head) {
  form_.is_chunked = !form_.is_http_1_0;
  if (form_.is_http_1_0) form_.keeps_connection = false;
  const auto framing = form_.is_chunked ? ResponseFraming::chunked : ResponseFraming::until_close;
  queue(response_head(head, framing, form_.keeps_connection, date()));
}

void HttpConnection::write_stream(std::string_view bytes) {
  if (form_.has_body && !bytes.empty())
    queue(form_.is_chunked ? chunk_of(bytes) : std::string(bytes));
}

void HttpConnection::end_stream() {
  if (form_.is_chunked && form_.has_body) queue(std::string(last_chunk));
  request_done();
}

void HttpConnection::request_done() {
  responder_ = nullptr;
  if (phase_ != Phase::answering) return;
  served_ = true;
  since_ = context_.loop.now();
  phase_ = form_.keeps_connection ? Phase::reading : Phase::closing;
  mark();  // what came early is looked at then
}

/// One write; false if nothing more can be done now.
bool HttpConnection::write_some() {
  std::array<iovec, pieces_per_write> pieces{};
  const std::size_t count = unsent_.gather(pieces.data(), pieces.size());
  const ByteStream::Result result = stream_->write(pieces.data(), count);
  if (result.state == ByteStream::State::broken) {
    reset_ = true;
    lose(false);
    return false;
  }
  if (result.state != ByteStream::State::done) {
    blocked_ = result.state == ByteStream::State::wants_write;
    watch_.want(blocked_ ? DescriptorWatch::Event::writable : DescriptorWatch::Event::readable);
    return false;
  }
  last_progress_ = last_written_ = context_.loop.now();
  context_.counts.sent_bytes += result.bytes;
  unsent_.consume(result.bytes);
  return true;
}

void HttpConnection::flush() {
  marked_ = false;
  if (phase_ == Phase::over || blocked_) return;
  for (;;) {
    while (!unsent_.empty()) {
      if (!write_some()) break;
    }
    if (phase_ == Phase::over || !unsent_.empty()) break;
    if (responder_ != nullptr) responder_->connection_drained();
    if (phase_ == Phase::over || unsent_.empty()) break;
  }
  if (phase_ == Phase::over) return;
  if (phase_ == Phase::closing && unsent_.empty()) begin_draining();
  if (phase_ == Phase::reading && !early_.empty()) process(std::exchange(early_, {}));
  if (stream_->has_pending() && may_read()) {
    read_ready();  // what TLS holds already makes no descriptor readable
  } else {
    wait();
  }
  share_.set(reader_.pending_bytes() + early_.size() + unsent_.bytes());
  watch_time();
}

// Closing with unread input would reset the connection, and the peer would lose the answer.
void HttpConnection::begin_draining() {
  if (input_ended_) {
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
  return unsent_.consumed() - std::min(unsent_.consumed(), static_cast<std::uint64_t>(unread));
}

bool HttpConnection::peer_has_all() {
  if (reset_ || !unsent_.empty()) return false;
  int unread = 0;
  return ioctl(watch_.descriptor(), SIOCOUTQ, &unread) == 0 && unread == 0;
}

}  // namespace bridge
