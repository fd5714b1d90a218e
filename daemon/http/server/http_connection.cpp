#include "http/server/http_connection.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace bridge {
namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(int descriptor) : descriptor_(descriptor) {}

  Result read(char* buffer, std::size_t size) override {
    for (;;) {
      const ssize_t length = recv(descriptor_, buffer, size, MSG_DONTWAIT);
      if (length > 0) return {State::done, static_cast<std::size_t>(length)};
      if (length == 0) return {State::ended, 0};
      if (errno == EAGAIN) return {State::wants_read, 0};
      if (errno != EINTR) return {State::broken, 0};
    }
  }

  Result write(const iovec* pieces, std::size_t count) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces);
    message.msg_iovlen = count;
    for (;;) {
      const ssize_t length = sendmsg(descriptor_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (length >= 0) return {State::done, static_cast<std::size_t>(length)};
      if (errno == EAGAIN) return {State::wants_write, 0};
      if (errno != EINTR) return {State::broken, 0};
    }
  }

 private:
  int descriptor_;
};

}  // namespace

std::unique_ptr<ByteStream> make_plain_stream(int descriptor) {
  return std::make_unique<PlainStream>(descriptor);
}

namespace {

constexpr std::size_t pieces_per_write = 64;
/// A body up to this size is sent together with its head.
constexpr std::size_t small_body = 4096;

}  // namespace

void ResponseWriter::begin(const RequestHead& head) {
  keeps_connection_ = head.keeps_connection();
  has_body_ = head.method != "HEAD";
  is_http_1_0_ = head.is_http_1_0;
}

void ResponseWriter::push(std::string bytes) {
  if (bytes.empty()) return;
  if (unsent_.empty()) last_written_ = loop_.now();
  unsent_.push(std::move(bytes));
}

std::string ResponseWriter::head_of(const HttpResponse& response, ResponseFraming framing) {
  return response_head(response, framing, keeps_connection_,
                       date_.at(std::chrono::system_clock::to_time_t(loop_.wall_time())));
}

void ResponseWriter::respond(HttpResponse response) {
  std::string head = head_of(response, ResponseFraming::length);
  if (!has_body_ || response.status == 204) response.body.clear();
  if (response.body.size() < small_body) head += std::exchange(response.body, {});
  push(std::move(head));
  push(std::move(response.body));
}

void ResponseWriter::begin_stream(const HttpResponse& head) {
  if (is_http_1_0_) keeps_connection_ = false;
  push(head_of(head, is_http_1_0_ ? ResponseFraming::until_close : ResponseFraming::chunked));
}

void ResponseWriter::write_stream(std::string_view bytes) {
  if (has_body_ && !bytes.empty()) push(is_http_1_0_ ? std::string(bytes) : chunk_of(bytes));
}

void ResponseWriter::end_stream() {
  if (!is_http_1_0_ && has_body_) push(std::string(last_chunk));
}

ByteStream::Result ResponseWriter::write_to(ByteStream& stream) {
  std::array<iovec, pieces_per_write> pieces{};
  const std::size_t count = unsent_.gather(pieces.data(), pieces.size());
  const ByteStream::Result result = stream.write(pieces.data(), count);
  is_blocked_ = result.state == ByteStream::State::wants_write;
  if (result.state == ByteStream::State::done) {
    last_written_ = loop_.now();
    unsent_.consume(result.bytes);
  }
  return result;
}

namespace {

constexpr int reads_per_turn = 4;
constexpr std::size_t max_early = 64u << 10;
/// With more unsent bytes of earlier responses the next request has to wait.
constexpr std::size_t max_unsent(bool of_trusted) { return of_trusted ? 64u << 10 : 0; }
/// Bytes read at a time from a caller that has not been authenticated.
constexpr std::size_t untrusted_read = 16u << 10;
constexpr std::chrono::seconds max_head_time{10};
constexpr std::chrono::seconds body_stall{30};
constexpr std::chrono::minutes max_request_time{5};
/// With all buffers full, a body that has grown beyond this is not read further.
constexpr std::size_t always_read_body = 64u << 10;
/// Longer than proxies keep a connection, so that they close it first (no race of a POST with our
/// FIN).
constexpr std::chrono::seconds idle_time{75};
/// How long, and how many bytes, a refused peer may go on sending while it reads the refusal.
constexpr std::chrono::seconds drain_time{2};
constexpr std::size_t max_drained = 64u << 20;

}  // namespace

HttpConnection::HttpConnection(HttpConnectionContext& context, int descriptor,
                               std::unique_ptr<ByteStream> stream,
                               std::optional<PeerCredentials> peer)
    : context_(context),
      watch_(context.loop, descriptor, [this](DescriptorWatch::Event event) { on_ready(event); }),
      stream_(std::move(stream)),
      reader_(context.max_body),
      timer_(context.loop, [this] { expired(); }),
      share_(context.budget),
      writer_(context.loop, context.date),
      since_(context_.loop.now()),
      last_progress_(since_),
      local_peer_(std::move(peer)) {}

void HttpConnection::start() {
  watch_time();
  read_ready();
}

HttpConnection::Saved HttpConnection::save() const {
  return {watch_.descriptor(), early_, writer_.keeps_connection(), writer_.is_http_1_0()};
}

void HttpConnection::restore(Saved saved) {
  phase_ = Phase::answering;
  trusted_ = true;
  early_ = std::move(saved.early);
  writer_.begin(saved.keeps_connection, saved.is_http_1_0);
  count_held();
  wait();
}

void HttpConnection::on_ready(DescriptorWatch::Event event) {
  if (phase_ == Phase::over) return;
  switch (event) {
    case DescriptorWatch::Event::readable:
      read_ready();
      if (phase_ != Phase::over && !writer_.is_empty())
        mark();  // TLS may have waited for this to write
      break;
    case DescriptorWatch::Event::hung_up:
      peer_ = Peer::has_reset;
      lose(false);
      break;
    case DescriptorWatch::Event::writable:
      writer_.unblock();
      mark();
      read_ready();  // TLS may have waited for this to read
      break;
  }
}

void HttpConnection::wait() {
  if (phase_ == Phase::over) return;
  watch_.want(may_read() ? DescriptorWatch::Event::readable : DescriptorWatch::Event::hung_up);
}

bool HttpConnection::may_read() const {
  if (phase_ == Phase::over || peer_ != Peer::sends) return false;
  if (phase_ == Phase::answering) return early_.size() < max_early;
  return phase_ != Phase::reading || writer_.unsent() <= max_unsent(trusted_);
}

std::optional<SteadyTime> HttpConnection::spare_since() const {
  const bool is_idle = phase_ == Phase::reading && reader_.is_idle() && writer_.is_empty();
  const bool is_leaving = phase_ == Phase::draining;
  const bool is_unowned = !trusted_ && (phase_ == Phase::reading || phase_ == Phase::closing);
  return is_idle || is_leaving || is_unowned ? std::optional(since_) : std::nullopt;
}

std::optional<SteadyTime> HttpConnection::unfinished_since() const {
  const bool is_unfinished = phase_ == Phase::reading && !reader_.is_idle();
  return is_unfinished ? std::optional(since_) : std::nullopt;
}

void HttpConnection::reject() {
  refuse_for_now("all connections are in use, and this request is incomplete");
  flush();
}

void HttpConnection::read_ready() {
  auto& buffer = context_.read_buffer;
  for (int reads = 0; reads < reads_per_turn || stream_->has_pending(); ++reads) {
    if (!may_read()) break;
    const std::size_t most = trusted_ ? buffer.size() : untrusted_read;
    const ByteStream::Result result = stream_->read(buffer.data(), most);
    if (result.state == ByteStream::State::done) {
      last_progress_ = context_.loop.now();
      context_.counts.received_bytes += result.bytes;
      take_input(std::string_view(buffer.data(), result.bytes));
      if (result.bytes < most && !stream_->has_pending()) break;
    } else if (result.state == ByteStream::State::ended) {
      end_of_input();
    } else if (result.state == ByteStream::State::broken) {
      peer_ = Peer::has_reset;
      lose(false);
    } else {
      if (result.state == ByteStream::State::wants_write)
        watch_.want(DescriptorWatch::Event::writable);
      break;
    }
  }
  wait();
}

void HttpConnection::take_input(std::string_view bytes) {
  switch (phase_) {
    case Phase::reading:
      if (!early_.empty()) {
        early_.append(bytes);
      } else {
        process(bytes);
      }
      break;
    case Phase::answering: early_.append(bytes); break;
    case Phase::closing:
    case Phase::draining:
      drained_bytes_ += bytes.size();
      if (drained_bytes_ > max_drained) lose(false);
      break;
    case Phase::over: break;
  }
  count_held();
}

void HttpConnection::process(std::string_view bytes) {
  while (phase_ == Phase::reading) {
    if (writer_.unsent() > max_unsent(trusted_)) {
      early_.append(bytes);
      break;
    }
    if (reader_.is_idle()) since_ = last_progress_;
    const RequestReader::Event event = reader_.advance(bytes);
    if (event == RequestReader::Event::more) {
      const std::size_t always_read = trusted_ ? always_read_body : 0;
      if (context_.budget.over() && reader_.pending_bytes() > always_read)
        refuse_for_now(overloaded_reason);
      break;
    }
    if (event == RequestReader::Event::fault) {
      const HttpFault fault = reader_.fault();
      refuse(context_.requests.refusal(fault.status, fault.reason));
    } else if (event == RequestReader::Event::head) {
      Admission admission =
          context_.requests.request_begins(*this, reader_.head(), reader_.expects_body());
      trusted_ = trusted_ || admission.is_trusted;
      if (admission.refusal) {
        if (reader_.expects_body()) {
          refuse(std::move(*admission.refusal));
        } else {
          begin_answer(reader_.head());
          reader_.next();
          respond(std::move(*admission.refusal));
        }
      } else if (reader_.expects_body() && !reader_.head().is_http_1_0 &&
                 reader_.head().header_has("expect", "100-continue")) {
        writer_.push("HTTP/1.1 100 Continue\r\n\r\n");
        mark();
      }
    } else {
      RequestHead head = reader_.take_head();
      ReceivedText body = reader_.take_body();
      reader_.next();
      begin_answer(head);
      context_.requests.request(*this, std::move(head), std::move(body));
    }
  }
  if (phase_ == Phase::answering) early_.append(bytes);
  watch_time();
}

void HttpConnection::begin_answer(const RequestHead& head) {
  phase_ = Phase::answering;
  writer_.begin(head);
}

/// A response before the request is complete: no further request can follow.
void HttpConnection::refuse(HttpResponse response) {
  begin_answer(reader_.head());
  reader_.next();
  writer_.close_after();
  respond(std::move(response));
}

void HttpConnection::refuse_for_now(std::string_view reason) {
  HttpResponse response = context_.requests.refusal(503, reason);
  response.headers.emplace_back("Retry-After", "1");
  refuse(std::move(response));
}

void HttpConnection::end_of_input() {
  peer_ = Peer::sends_no_more;
  writer_.close_after();
  const bool answer_comes =
      phase_ == Phase::closing ||
      (phase_ == Phase::answering && (responder_ == nullptr || !responder_->ends_with_input()));
  if (answer_comes) return;
  if (phase_ == Phase::reading && !writer_.is_empty()) {
    phase_ = Phase::closing;  // the response was requested; the peer has only finished sending
    return;
  }
  lose(peer_has_all());
}

void HttpConnection::lose(bool has_read_all) {
  if (phase_ == Phase::over) return;
  phase_ = Phase::over;
  timer_.clear();
  mark();
  if (HttpResponder* responder = std::exchange(responder_, nullptr))
    responder->connection_lost(has_read_all);
}

void HttpConnection::drop() {
  responder_ = nullptr;
  reset();
}

void HttpConnection::reset() {
  // Otherwise the kernel would keep what the peer does not read.
  const linger at_once{1, 0};
  setsockopt(watch_.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  lose(false);
}

void HttpConnection::mark() {
  if (!std::exchange(marked_, true)) context_.dirty.push_back(this);
  context_.flush.schedule();
}

/// The time by which something must have happened.
std::optional<SteadyTime> HttpConnection::due() const {
  if (!writer_.is_empty()) return last_written() + context_.stall;
  switch (phase_) {
    case Phase::reading:
      // A peer that never sends anything is like one that stops within a head.
      if (reader_.is_idle()) return served_ ? since_ + idle_time : since_ + max_head_time;
      if (!reader_.has_head()) return since_ + max_head_time;
      return std::min<SteadyTime>(last_progress_ + body_stall, since_ + max_request_time);
    case Phase::draining: return since_ + drain_time;
    default: return std::nullopt;
  }
}

void HttpConnection::watch_time() {
  if (phase_ == Phase::over) return;
  if (const auto time = due()) timer_.set_at_latest(*time);
}

void HttpConnection::expired() {
  const auto time = due();
  if (phase_ == Phase::over || !time) return;
  if (*time > context_.loop.now()) {
    timer_.set(*time);
  } else if (phase_ == Phase::reading && writer_.is_empty() && !reader_.is_idle()) {
    refuse(context_.requests.refusal(408, "the request did not come in time"));
  } else {
    lose(false);
  }
}

// What a connection writes: responses, streams, and its end.

void HttpConnection::respond(HttpResponse response) {
  if (phase_ == Phase::over) return;
  writer_.respond(std::move(response));
  mark();
  count_held();
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
  count_held();
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
  mark();  // bytes that came early are handled then
}

/// One write; false if no more can be done for now.
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
    read_ready();  // bytes that TLS holds already do not make the descriptor readable
  } else {
    wait();
  }
  count_held();
  watch_time();
}

void HttpConnection::count_held() {
  share_.set(reader_.pending_bytes() + early_.size() + writer_.memory());
}

// Closing with unread input would reset the connection, and the peer would lose the response.
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

// A reset leaves the count of unacknowledged bytes unchanged, but not that of a Unix socket, which
// is exact only at 0.
std::uint64_t HttpConnection::acknowledged() {
  if (local_peer_) {
    if (peer_ == Peer::has_reset) return read_by_peer_;
    const PeerReading reading = look_what_peer_read(watch_.descriptor());
    if (reading.was_reset) peer_ = Peer::has_reset;
    if (reading.has_read_all && !(reading.has_sent && has_hung_up(watch_.descriptor())))
      read_by_peer_ = writer_.sent();
    return read_by_peer_;
  }
  int unread = 0;
  if (ioctl(watch_.descriptor(), SIOCOUTQ, &unread) != 0 || unread < 0) return 0;
  return writer_.sent() - std::min(writer_.sent(), static_cast<std::uint64_t>(unread));
}

std::string HttpConnection::remote_address() const {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (getpeername(watch_.descriptor(), reinterpret_cast<sockaddr*>(&peer), &length) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const address =
      peer.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return {};
  const char* const written = inet_ntop(peer.ss_family, address, text.data(), text.size());
  return written == nullptr ? std::string() : std::string(written);
}

bool HttpConnection::peer_has_all() {
  return peer_ != Peer::has_reset && writer_.is_empty() && acknowledged() == writer_.sent();
}

}  // namespace bridge
