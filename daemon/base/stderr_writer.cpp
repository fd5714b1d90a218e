#include "base/stderr_writer.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace bridge {

StderrWriter::StderrWriter(int descriptor, std::chrono::milliseconds timeout)
    : descriptor_(descriptor), timeout_(timeout) {
  struct stat status {};
  is_pipe_ = fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool StderrWriter::write(std::string_view line) {
  const auto timeout = stuck_ ? std::chrono::milliseconds(0) : timeout_;
  const std::size_t whole = line.size();
  while (!line.empty()) {
    if (is_pipe_ && !has_room(timeout)) {
      stuck_ = true;
      halved_ = halved_ || line.size() < whole;
      ++lost_;
      return false;
    }
    if (halved_) {
      std::string_view line_end = "\n";
      if (!write_some(line_end)) return false;
      halved_ = false;
      continue;
    }
    if (!write_some(line)) return false;
  }
  stuck_ = false;
  return true;
}

std::uint64_t StderrWriter::take_lost() {
  if (lost_ == 0 || !has_room(std::chrono::milliseconds(0))) return 0;
  return std::exchange(lost_, 0);
}

/// Room in a pipe is room for PIPE_BUF bytes, pipe(7): so much is written at once.
bool StderrWriter::has_room(std::chrono::milliseconds timeout) const {
  pollfd watched{descriptor_, POLLOUT, 0};
  return poll(&watched, 1, static_cast<int>(timeout.count())) > 0;
}

/// False if nothing can be written any more.
bool StderrWriter::write_some(std::string_view& rest) const {
  const std::size_t size = is_pipe_ ? std::min<std::size_t>(rest.size(), PIPE_BUF) : rest.size();
  const ssize_t written = ::write(descriptor_, rest.data(), size);
  if (written < 0) return errno == EINTR;
  rest.remove_prefix(static_cast<std::size_t>(written));
  return true;
}

}  // namespace bridge
