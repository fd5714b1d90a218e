#include "sockets/path_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

/// A removal of a folder takes several steps, and a daemon that ends removes its lock last.
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30000};

}  // namespace

PathKeeper::PathKeeper(EventLoop& loop, Log& log, PublishedPath& path,
                       std::function<void()> published)
    : loop_(loop),
      log_(log),
      path_(path),
      published_(std::move(published)),
      route_(loop, [this] { changed(); }),
      next_try_(loop, [this] { look_again(); }),
      pause_(first_pause) {}

void PathKeeper::start() {
  if (path_.owns_path()) watch_published();  // it may be gone already
}

void PathKeeper::stop() {
  route_.end();
  next_try_.clear();
}

void PathKeeper::watch_published() {
  lost_ = false;
  const std::string unwatched = route_.watch(path_.name());
  if (!path_.is_published()) {  // it was removed in the meantime
    changed();
    return;
  }
  if (unwatched != unwatched_ && !unwatched.empty()) {
    log_.event(LogLevel::warning, "socket not watched",
               "a removal of {} {} will not be noticed: part of its path cannot be watched: {}",
               path_.noun(), path_.name(), printable(unwatched));
  }
  unwatched_ = unwatched;
}

void PathKeeper::changed() {
  if (lost_) {
    next_try_.set_at_latest(loop_.now() + pause_);
    return;
  }
  if (path_.is_published()) {  // but the folders or links leading there may have changed
    next_try_.set_at_latest(loop_.now() + first_pause);
    return;
  }
  lost_ = true;
  log_.peer(
      LogLevel::error, "socket gone",
      "{} {} was removed or replaced by another process; clients cannot connect until it is published again",
      path_.noun(), path_.name());
  next_try_.set_after(first_pause);
}

void PathKeeper::look_again() {
  if (lost_) {
    publish();
  } else {
    watch_published();
  }
}

void PathKeeper::publish() {
  // First, so that no later change is missed. If changes cannot be watched, the path is polled.
  if (!route_.await(path_.name())) next_try_.set_at_latest(loop_.now() + longest_pause);
  try {
    path_.publish_again();
  } catch (const StartError& error) {
    pause_ = std::min(2 * pause_, longest_pause);
    log_.peer(LogLevel::error, "socket not published", "not published again: {}", error.what());
    return;
  }
  pause_ = first_pause;
  next_try_.clear();
  log_.event(LogLevel::info, "socket published again", "{} {} is published again", path_.noun(),
             path_.name());
  published_();
  watch_published();
}

}  // namespace bridge
