#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// Reports changes of a few paths: inotify(7), so it costs nothing while nothing changes. The
/// loop's thread only.
class PathWatch {
 public:
  /// `name`: the entry that changed in a watched folder; empty: the watched path itself. May call
  /// begin() again.
  using Changed = std::function<void(std::string_view name)>;

  PathWatch(EventLoop& loop, Changed changed);

  /// Removes all watches. False: nothing can be watched; errno is set.
  bool begin();
  /// Watches for `events` (IN_…). False on failure, with errno. REQUIRES: begin() returned true.
  bool add(const std::string& path, std::uint32_t events);
  void end() { watch_.reset(); }

 private:
  void readable();

  EventLoop& loop_;
  Changed changed_;
  std::unique_ptr<DescriptorWatch> watch_;
};

/// Reports when a path may lead elsewhere: when a folder or a symbolic link on its way is moved or
/// removed, those of the links' targets included (path_resolution(7)).
///
/// Each part is watched itself, so other changes in the folders around it cause no wake-up. Only
/// for a part that the daemon may not read (inotify_add_watch(2)) the folder around it is watched.
/// A mount over a folder goes unnoticed. At most 256 parts of a route are followed. The loop's
/// thread only.
class RouteWatch {
 public:
  /// `changed` may call watch() and await().
  RouteWatch(EventLoop& loop, std::function<void()> changed);

  /// Watches the route to `path` and the file there, including its link count and mode. Empty, or
  /// why and which part cannot be watched; the others are.
  std::string watch(const std::string& path);
  /// Watches the existing part of the route to `path`, and for the next part of it to appear or
  /// change. False if that cannot be watched.
  bool await(const std::string& path);
  void end() { watch_.end(); }

 private:
  struct Place {
    std::string folder;  ///< its path has no links
    std::string name;
    std::string path() const;
  };

  Place follow(const std::string& path, bool awaiting);
  void add_itself(const Place& place, std::uint32_t also = 0);
  bool add_name(const Place& place);
  void changed(std::string_view name);

  std::function<void()> changed_;
  PathWatch watch_;
  std::vector<std::string> names_;  ///< relevant names in watched folders
  std::string unwatched_;
};

}  // namespace bridge
