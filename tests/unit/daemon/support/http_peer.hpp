#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

/// The far end of a connection: a caller's reads and writes. Owns its descriptor.
class FakePeer {
 public:
  explicit FakePeer(int descriptor) : descriptor_(descriptor) {}
  ~FakePeer() { close(); }
  FakePeer(FakePeer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FakePeer& operator=(FakePeer&&) = delete;

  /// Returns how many of the bytes were sent.
  std::size_t send(std::string_view bytes) const {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  /// Reads the available bytes, at most `most`.
  std::string read(std::size_t most = std::string::npos) {
    std::string all;
    std::array<char, 64 << 10> buffer{};
    while (all.size() < most) {
      const ssize_t length = recv(descriptor_, buffer.data(),
                                  std::min(buffer.size(), most - all.size()), MSG_DONTWAIT);
      has_ended = has_ended || length == 0;
      was_reset = was_reset || (length < 0 && errno == ECONNRESET);
      if (length <= 0) break;
      all.append(buffer.data(), static_cast<std::size_t>(length));
    }
    return all;
  }
  void half_close() const { shutdown(descriptor_, SHUT_WR); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  int descriptor() const { return descriptor_; }

  bool has_ended = false;  ///< seen by read(): the end, or a reset
  bool was_reset = false;

 private:
  int descriptor_;
};

inline bool is_status(const std::string& answer, int status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + ' ');
}

}  // namespace bridge
