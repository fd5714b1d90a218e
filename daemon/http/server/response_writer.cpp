#include "http/server/response_writer.hpp"

#include <sys/socket.h>

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
/// A body up to here leaves in one piece with its head.
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

}  // namespace bridge
