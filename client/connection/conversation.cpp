#include "connection/conversation.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace client {
namespace {

constexpr std::size_t chunk_size = std::size_t{64} * 1024;

}  // namespace

Conversation::Conversation(FileDescriptor daemon, int interrupt)
    : daemon_(std::move(daemon)),
      interrupt_(interrupt),
      chunk_(std::make_unique_for_overwrite<char[]>(chunk_size)) {}

void Conversation::queue(std::string_view line) {
  outbox_.append(line);
  outbox_.push_back('\n');
}

void Conversation::finish_sending() {
  finishing_ = true;
  send();
}

Conversation::Event Conversation::next(Deadline deadline, int input) {
  line_ = {};
  send();
  for (;;) {
    if (take_line()) return Event::line;
    if (inbox_.size() - consumed_ > longest_line) return Event::too_long;
    if (closed_) return Event::closed;

    const bool sending = !outbox_.empty() && !sending_done_;
    std::array<pollfd, 4> watched = {
        pollfd{interrupt_, POLLIN, 0},
        pollfd{daemon_.get(), static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0},
        pollfd{input, POLLIN, 0}, pollfd{output_, 0, 0}};
    const int ready = ::poll(watched.data(), watched.size(), deadline.poll_timeout());
    if (ready < 0) continue;  // EINTR
    if (watched[0].revents != 0) return Event::interrupted;
    if (ready == 0) {
      if (deadline.passed()) return Event::timed_out;
      continue;
    }
    if (watched[3].revents != 0) return Event::output_closed;
    if (watched[1].revents & POLLOUT) send();
    if (watched[1].revents & (POLLIN | POLLHUP | POLLERR)) {
      closed_ = !receive();
    } else if (watched[2].revents != 0) {
      return Event::input;
    }
  }
}

bool Conversation::take_line() {
  for (;;) {
    const std::size_t end = inbox_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = inbox_.size();
      return false;
    }
    std::string_view line = std::string_view(inbox_).substr(consumed_, end - consumed_);
    consumed_ = searched_ = end + 1;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    line_ = line;
    return true;
  }
}

void Conversation::send() {
  while (sent_ < outbox_.size()) {
    const ssize_t count = ::send(daemon_.get(), outbox_.data() + sent_, outbox_.size() - sent_,
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      // The daemon accepts no more; reading its last output detects when it has closed.
      sending_done_ = true;
      break;
    }
  }
  outbox_.clear();
  sent_ = 0;
  if (finishing_ && !sending_done_) {
    sending_done_ = true;
    ::shutdown(daemon_.get(), SHUT_WR);
  }
}

/// False once the daemon has closed.
bool Conversation::receive() {
  if (consumed_ > 0) {
    inbox_.erase(0, consumed_);
    searched_ -= consumed_;
    consumed_ = 0;
  }
  const ssize_t count = ::recv(daemon_.get(), chunk_.get(), chunk_size, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  inbox_.append(chunk_.get(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace client
