#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// Says when something of a few paths changes: inotify(7), so nothing is done while nothing
/// changes. The loop's thread only.
class PathWatch {
 public:
  /// `name`: the entry that changed in a watched folder; empty: the watched path itself. May call
  /// begin() again.
  using Changed = std::function<void(std::string_view name)>;

  PathWatch(EventLoop& loop, Changed changed);

  /// Forgets what was watched. False if nothing can be: errno says why.
  bool begin();
  /// Watches for `events` (IN_…). False if it cannot: errno says why. REQUIRES: begin() was true.
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

  /// Watches the route to `path` and what is there, its count of links and its mode too. Empty, or
  /// why one cannot be watched, and which; the others are.
  std::string watch(const std::string& path);
  /// Watches the route to `path` as far as it exists, and for the next part of it to appear or
  /// change. False if that cannot be watched.
  bool await(const std::string& path);
  void end() { watch_.end(); }

 private:
  struct Place {
    std::string folder;  ///< no link leads to it
    std::string name;
    std::string path() const;
  };

  Place follow(const std::string& path, bool awaiting);
  void add_itself(const Place& place, std::uint32_t also = 0);
  bool add_name(const Place& place);
  void changed(std::string_view name);

  std::function<void()> changed_;
  PathWatch watch_;
  std::vector<std::string> names_;  ///< those that count in watched folders
  std::string unwatched_;
};

}  // namespace bridge
