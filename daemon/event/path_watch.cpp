#include "event/path_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
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
  // The first may call begin() again; all events that were read still belong to this turn.
  for (const std::string& name : names) changed_(name);
}

namespace {

namespace files = std::filesystem;

constexpr int most_parts = 256;

// A file may occur twice on a route: the events watched for add up.
constexpr std::uint32_t of_itself = IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW | IN_MASK_ADD;
constexpr std::uint32_t of_going = IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR | IN_MASK_ADD;
constexpr std::uint32_t of_names = of_going | IN_CREATE | IN_MOVED_TO | IN_ATTRIB;

/// Appends the parts of `path` to `parts` in reverse order.
void push_parts(std::string_view path, std::vector<std::string>& parts) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const std::string_view part = slash == path.npos ? path : path.substr(slash + 1);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = slash == path.npos ? std::string_view() : path.substr(0, slash);
  }
}

/// The parent of a folder whose path has no links.
std::string above(const std::string& folder) {
  const auto slash = folder.rfind('/');
  if (slash == folder.npos || folder.substr(slash) == "/..") return folder + "/..";
  return slash == 0 ? "/" : folder.substr(0, slash);
}

files::file_type type_of(const std::string& path) {
  std::error_code error;
  return files::symlink_status(path, error).type();
}

bool leads_on(files::file_type type) {
  return type == files::file_type::directory || type == files::file_type::symlink;
}

}  // namespace

std::string RouteWatch::Place::path() const {
  return (folder == "/" ? folder : folder + '/') + name;
}

RouteWatch::RouteWatch(EventLoop& loop, std::function<void()> changed)
    : changed_(std::move(changed)),
      watch_(loop, [this](std::string_view name) { this->changed(name); }) {}

std::string RouteWatch::watch(const std::string& path) {
  if (!watch_.begin()) return std::strerror(errno) + (": " + path);
  add_itself(follow(path, false), IN_ATTRIB);
  return unwatched_;
}

bool RouteWatch::await(const std::string& path) {
  return watch_.begin() && add_name(follow(path, true));
}

// Each part is watched before it is examined, so that later changes are reported.
RouteWatch::Place RouteWatch::follow(const std::string& path, bool awaiting) {
  names_.clear();
  unwatched_.clear();
  std::vector<std::string> rest;
  push_parts(path, rest);
  Place place{path.front() == '/' ? "/" : ".", {}};
  watch_.add(place.folder, of_itself);  // a moved folder has another parent
  for (int parts = 0; parts < most_parts && !rest.empty(); ++parts) {
    place.name = std::move(rest.back());
    rest.pop_back();
    if (rest.empty()) break;
    if (place.name == "..") {
      place.folder = above(place.folder);
      watch_.add(place.folder, of_itself);
      continue;
    }
    add_itself(place);
    const std::string here = place.path();
    files::file_type type = type_of(here);
    if (awaiting && !leads_on(type) && add_name(place)) {
      add_itself(place);  // it may have appeared just now
      type = type_of(here);
    }
    if (type == files::file_type::directory) {
      place.folder = here;
    } else if (type == files::file_type::symlink) {
      std::error_code error;
      const std::string target = files::read_symlink(here, error).string();
      if (error) break;
      if (target.front() == '/') place.folder = "/";
      push_parts(target, rest);
    } else {
      break;
    }
  }
  return place;
}

void RouteWatch::add_itself(const Place& place, std::uint32_t also) {
  if (watch_.add(place.path(), of_itself | also) || errno == ENOENT) return;
  const int error = errno;
  if (watch_.add(place.folder, of_going)) {
    names_.push_back(place.name);
  } else if (unwatched_.empty()) {
    unwatched_ = std::strerror(error) + (": " + place.path());
  }
}

bool RouteWatch::add_name(const Place& place) {
  names_.push_back(place.name);
  return watch_.add(place.folder, of_names);
}

void RouteWatch::changed(std::string_view name) {
  if (name.empty() || std::find(names_.begin(), names_.end(), name) != names_.end()) changed_();
}

}  // namespace bridge
