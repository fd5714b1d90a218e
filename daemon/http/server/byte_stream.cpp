#include "http/server/byte_stream.hpp"

#include <sys/socket.h>

#include <cerrno>

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

}  // namespace bridge
