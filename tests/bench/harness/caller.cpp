#include "harness/caller.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/sockets.hpp"

namespace bench {
namespace {

constexpr std::size_t chunk = 256 * 1024;
constexpr std::size_t small = 16 * 1024;

}  // namespace

bool AnswerReader::read_some(int fd) {
  const std::size_t room = used_ < small ? small : chunk;
  if (buffer_.size() < used_ + room) buffer_.resize(std::max(used_ + room, buffer_.size() * 2));
  const ssize_t got = read(fd, buffer_.data() + used_, room);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got < 0) fail("read");
  if (got == 0)
    throw std::runtime_error("the connection was closed in the middle of a measurement");
  used_ += static_cast<std::size_t>(got);
  return is_whole();
}

bool AnswerReader::is_whole() {
  if (framing_ == Framing::line) return buffer_[used_ - 1] == '\n';
  if (extent_.head == 0) {
    const auto extent = http_extent(std::string_view(buffer_.data(), used_));
    if (!extent) return false;
    extent_ = *extent;
  }
  if (extent_.is_chunked)
    return std::string_view(buffer_.data(), used_).ends_with("\r\n0\r\n\r\n") ||
           body() == "0\r\n\r\n";
  return used_ >= extent_.head + extent_.body;
}

void AnswerReader::reset() {
  used_ = 0;
  extent_ = {};
}

void Caller::send(std::string_view request) {
  reader_.reset();
  write_all(to_.get() >= 0 ? to_.get() : connection_.get(), request);
}

std::string_view Caller::call(std::string_view request) {
  send(request);
  while (!read_some()) {
  }
  return reader_.body();
}

void Caller::call_well(std::string_view request) { check_result(call(request)); }

void check_result(std::string_view answer) {
  if (answer.substr(0, 200).find("\"result\"") != answer.npos) return;
  throw std::runtime_error("no result: " + std::string(answer.substr(0, 300)));
}

}  // namespace bench
