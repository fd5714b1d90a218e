#include "downstream/unix/socket_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/start_error.hpp"

namespace bridge {
namespace {

/// What removes a folder does more than one thing, and a daemon that ends removes its lock last.
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30000};

}  // namespace

SocketKeeper::SocketKeeper(EventLoop& loop, Log& log, ListeningSocket& socket,
                           std::function<void()> published)
    : loop_(loop),
      log_(log),
      socket_(socket),
      published_(std::move(published)),
      route_(loop, [this] { changed(); }),
      next_try_(loop, [this] { look_again(); }),
      pause_(first_pause) {}

void SocketKeeper::start() {
  if (socket_.owns_path()) watch_published();  // which may have gone by now
}

void SocketKeeper::stop() {
  route_.end();
  next_try_.clear();
}

void SocketKeeper::watch_published() {
  lost_ = false;
  const std::string unwatched = route_.watch(socket_.name());
  if (!socket_.is_published()) {  // it went in the meantime
    changed();
    return;
  }
  if (unwatched != unwatched_ && !unwatched.empty()) {
    log_.event(LogLevel::warning, "socket not watched",
               "nobody will notice if socket {} cannot be reached any more: a part of its path "
               "cannot be watched: {}",
               socket_.name(), printable(unwatched));
  }
  unwatched_ = unwatched;
}

void SocketKeeper::changed() {
  if (lost_) {
    next_try_.set_at_latest(loop_.now() + pause_);
    return;
  }
  if (socket_.is_published()) {  // but what leads there may be another folder or link now
    next_try_.set_at_latest(loop_.now() + first_pause);
    return;
  }
  lost_ = true;
  log_.peer(
      LogLevel::error, "socket gone",
      "socket {} was removed or replaced by somebody: nobody can connect to it; publishing it "
      "again as soon as that can be",
      socket_.name());
  next_try_.set_after(first_pause);
}

void SocketKeeper::look_again() {
  if (lost_) {
    publish();
  } else {
    watch_published();
  }
}

void SocketKeeper::publish() {
  // First: what changes from now on is not missed. If that cannot be told, it is looked for.
  if (!route_.await(socket_.name())) next_try_.set_at_latest(loop_.now() + longest_pause);
  try {
    socket_.publish_again();
  } catch (const StartError& error) {
    pause_ = std::min(2 * pause_, longest_pause);
    log_.peer(LogLevel::error, "socket not published", "not published again: {}", error.what());
    return;
  }
  pause_ = first_pause;
  next_try_.clear();
  log_.event(LogLevel::info, "socket published again", "socket {} is published again",
             socket_.name());
  published_();
  watch_published();
}

}  // namespace bridge
