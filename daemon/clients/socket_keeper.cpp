#include "clients/socket_keeper.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "service/start_error.hpp"

namespace bridge {
namespace {

/// What removes a folder does more than one thing, and a daemon that ends removes its lock last.
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30000};

constexpr std::uint32_t of_itself = IN_MOVE_SELF | IN_DELETE_SELF;
constexpr std::uint32_t of_names =
    IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ATTRIB | IN_ONLYDIR;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_folder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The part of `path` whose folder exists, from the back.
std::string first_that_may_appear(std::string path) {
  while (!is_folder(folder_of(path)) && folder_of(path) != path) path = folder_of(path);
  return path;
}

}  // namespace

SocketKeeper::SocketKeeper(asio::io_context& loop, Turn& turn, Log& log, ListeningSocket& socket,
                           std::function<void()> published)
    : log_(log),
      socket_(socket),
      published_(std::move(published)),
      watch_(loop, turn, [this](std::string_view name) { changed(name); }),
      next_try_(loop, turn, [this] { publish(); }),
      pause_(first_pause) {}

void SocketKeeper::start() {
  if (socket_.owns_path()) watch_published();  // which may have gone by now
}

void SocketKeeper::stop() {
  watch_.end();
  next_try_.clear();
}

void SocketKeeper::watch_published() {
  lost_ = false;
  const std::string& path = socket_.name();
  // A socket that is unlinked while it listens is not deleted yet: its count of links changes.
  const bool watched = watch_.begin() && watch_.add(path, IN_ATTRIB | of_itself | IN_DONT_FOLLOW) &&
                       watch_.add(folder_of(path), of_itself | IN_ONLYDIR);
  if (!watched && socket_.is_published()) {
    log_.event(LogLevel::warning, "socket not watched",
               "nobody will notice if {} is removed: it cannot be watched: {}", path,
               std::strerror(errno));
  }
  if (!socket_.is_published()) changed({});  // it went in the meantime
}

void SocketKeeper::changed(std::string_view name) {
  if (lost_) {
    if (name.empty() || name == awaited_)
      next_try_.set_at_latest(std::chrono::steady_clock::now() + pause_);
    return;
  }
  if (socket_.is_published()) return;
  lost_ = true;
  log_.peer(
      LogLevel::error, "socket gone",
      "socket {} was removed or replaced by somebody: nobody can connect to it; publishing it "
      "again as soon as that can be",
      socket_.name());
  next_try_.set_after(first_pause);
}

void SocketKeeper::watch_lost() {
  for (;;) {
    const std::string awaited = first_that_may_appear(socket_.name());
    awaited_ = name_in_folder(awaited);
    if (!watch_.begin() || !watch_.add(folder_of(awaited), of_names | of_itself)) {
      // It may have gone just now; else there is nothing but to look again.
      next_try_.set_at_latest(std::chrono::steady_clock::now() + longest_pause);
      return;
    }
    if (first_that_may_appear(socket_.name()) == awaited) return;
  }
}

void SocketKeeper::publish() {
  watch_lost();  // first: what changes from now on is not missed
  try {
    socket_.publish_again();
  } catch (const StartError& error) {
    pause_ = std::min(2 * pause_, longest_pause);
    log_.peer(LogLevel::error, "socket not published", "not published again: {}", error.what());
    return;
  }
  pause_ = first_pause;
  log_.event(LogLevel::info, "socket published again", "socket {} is published again",
             socket_.name());
  published_();
  watch_published();
}

}  // namespace bridge
