#include "connection/conversation.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace client {
namespace {

constexpr std::size_t chunk_size = std::size_t{64} * 1024;

}  // namespace

bool DaemonStream::send(std::string_view& bytes) const {
  const Sink sink(sending());
  while (!bytes.empty()) {
    std::size_t written = 0;
    const Sink::Result result = sink.write_some(bytes, written);
    if (result != Sink::Result::ok) return result == Sink::Result::would_block;
    bytes.remove_prefix(written);
  }
  return true;
}

std::optional<std::size_t> DaemonStream::receive(char* to, std::size_t size) const {
  const ssize_t count = ::read(receiving_.get(), to, size);
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  return std::nullopt;
}

void DaemonStream::finish_sending() {
  if (sending_pipe_) {
    sending_pipe_ = {};
  } else {
    ::shutdown(receiving_.get(), SHUT_WR);
  }
}

Conversation::Conversation(DaemonStream daemon, int interrupt)
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

void Conversation::put_back(std::string_view lines) {
  inbox_.replace(0, consumed_, lines);
  consumed_ = searched_ = 0;
  line_ = {};
}

std::pair<DaemonStream, std::string> Conversation::release() && {
  put_back({});
  return {std::move(daemon_), std::move(inbox_)};
}

Conversation::Event Conversation::next(Deadline deadline, int input) {
  line_ = {};
  send();
  for (;;) {
    if (take_line()) return Event::line;
    if (inbox_.size() - consumed_ > longest_line) return Event::too_long;
    if (closed_) return Event::closed;

    const bool sending = !outbox_.empty() && !sending_done_;
    std::array<pollfd, 5> watched = {
        pollfd{interrupt_, POLLIN, 0}, pollfd{daemon_.get(), POLLIN, 0}, pollfd{input, POLLIN, 0},
        pollfd{output_, 0, 0}, pollfd{sending ? daemon_.sending() : -1, POLLOUT, 0}};
    const int ready = ::poll(watched.data(), watched.size(), deadline.poll_timeout());
    if (ready < 0) continue;  // EINTR
    if (watched[0].revents != 0) return Event::interrupted;
    if (ready == 0) {
      if (deadline.passed()) return Event::timed_out;
      continue;
    }
    if (watched[3].revents != 0) return Event::output_closed;
    if (watched[4].revents != 0) send();
    if (watched[1].revents != 0) {
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
  std::string_view rest = std::string_view(outbox_).substr(sent_);
  // If the daemon accepts no more, reading its last output detects when it has closed.
  if (!daemon_.send(rest)) sending_done_ = true;
  sent_ = outbox_.size() - rest.size();
  if (!rest.empty() && !sending_done_) return;
  outbox_.clear();
  sent_ = 0;
  if (!finishing_ || sending_done_) return;
  sending_done_ = true;
  daemon_.finish_sending();
}

/// False once the daemon has closed.
bool Conversation::receive() {
  if (consumed_ > 0) {
    inbox_.erase(0, consumed_);
    searched_ -= consumed_;
    consumed_ = 0;
  }
  const auto count = daemon_.receive(chunk_.get(), chunk_size);
  inbox_.append(chunk_.get(), count.value_or(0));
  return count.has_value();
}

}  // namespace client
