#include "upstream/stdio/frame_queue.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace bridge {
namespace {

char line_end = '\n';
constexpr std::size_t frames_in_a_write = 64;

}  // namespace

void FrameQueue::push(UpstreamId id, std::string body) {
  bytes_ += body.size() + 1;
  frames_.push_back({id, std::move(body), 0});
}

FrameQueue::State FrameQueue::write_to(int descriptor, std::vector<QueuedFrame>& written) {
  while (!frames_.empty()) {
    std::array<iovec, 2 * frames_in_a_write> parts;
    std::size_t count = 0;
    std::size_t total = 0;
    std::size_t skip = progress_;
    for (std::size_t i = 0; i < std::min(frames_.size(), frames_in_a_write); ++i) {
      std::string& body = frames_[i].body;
      const std::size_t left = body.size() - std::min(skip, body.size());
      if (left > 0) parts[count++] = {body.data() + (body.size() - left), left};
      parts[count++] = {&line_end, 1};
      total += left + 1;
      skip = 0;
    }
    const ssize_t length = writev(descriptor, parts.data(), static_cast<int>(count));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN ? State::blocked : State::broken;
    advance(static_cast<std::size_t>(length), written);
    // A short write says that the pipe is full: asking again would only say it once more.
    if (static_cast<std::size_t>(length) < total) return State::blocked;
  }
  return State::empty;
}

void FrameQueue::advance(std::size_t count, std::vector<QueuedFrame>& written) {
  bytes_ -= count;
  progress_ += count;
  position_ += count;
  while (!frames_.empty() && progress_ > frames_.front().body.size()) {
    frames_.front().begin = position_ - progress_;
    progress_ -= frames_.front().body.size() + 1;
    written.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
}

bool FrameQueue::remove(UpstreamId id) {
  const auto begin = frames_.begin() + (progress_ > 0 && !frames_.empty() ? 1 : 0);
  const auto found =
      std::find_if(begin, frames_.end(), [id](const QueuedFrame& frame) { return frame.id == id; });
  if (found == frames_.end()) return false;
  bytes_ -= found->body.size() + 1;
  frames_.erase(found);
  return true;
}

std::vector<QueuedFrame> FrameQueue::take_all(bool& first_begun) {
  first_begun = progress_ > 0;
  if (first_begun) frames_.front().begin = position_ - progress_;
  std::vector<QueuedFrame> all;
  all.reserve(frames_.size());
  std::move(frames_.begin(), frames_.end(), std::back_inserter(all));
  frames_.clear();
  bytes_ = progress_ = 0;
  return all;
}

}  // namespace bridge
