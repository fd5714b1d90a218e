#include "event/path_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace bridge {

PathWatch::PathWatch(EventLoop& loop, Changed changed)
    : loop_(loop), changed_(std::move(changed)) {}

bool PathWatch::begin() {
  watch_.reset();
  const int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) return false;
  watch_ = std::make_unique<DescriptorWatch>(loop_, descriptor,
                                             [this](DescriptorWatch::Event) { readable(); });
  watch_->want(DescriptorWatch::Event::readable);
  return true;
}

bool PathWatch::add(const std::string& path, std::uint32_t events) {
  return inotify_add_watch(watch_->descriptor(), path.c_str(), events) >= 0;
}

void PathWatch::readable() {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  std::vector<std::string> names;
  const ssize_t length = read(watch_->descriptor(), buffer.data(), buffer.size());
  for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= length;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const char* const name = buffer.data() + at + sizeof event;
    names.emplace_back(name, event.len > 0 ? strnlen(name, event.len) : 0);
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  watch_->want(DescriptorWatch::Event::readable);
  // The first may lead to a new beginning; what was read belongs to this turn all the same.
  for (const std::string& name : names) changed_(name);
}

}  // namespace bridge
