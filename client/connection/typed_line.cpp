#include "connection/typed_line.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "base/hidden_typing.hpp"
#include "system/signals.hpp"

namespace client {
namespace {

constexpr std::size_t longest_line = 64 << 10;

}  // namespace

bool InputLines::read() {
  std::array<char, 16384> bytes;
  const ssize_t count = ::read(input_, bytes.data(), bytes.size());
  if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

std::optional<std::string> InputLines::next() {
  const std::size_t end = text_.find('\n');
  if (end == text_.npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

std::string InputLines::take_begun() { return std::exchange(text_, {}); }

std::optional<std::string> read_typed_line(bool hidden, const std::function<void()>& prompt) {
  Interrupt interrupt;  // a signal takes effect after the terminal is restored
  const bridge::HiddenTyping typing(hidden);
  prompt();
  InputLines lines;
  while (lines.begun().size() < longest_line) {
    if (!interrupt.await(STDIN_FILENO) || !lines.read()) return std::nullopt;
    if (auto line = lines.next()) return line;
  }
  return lines.take_begun();
}

}  // namespace client
