#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// Says when something of a few paths changes: inotify(7), so nothing is done while nothing
/// changes. The loop's thread only.
class PathWatch {
 public:
  /// `name`: of what has changed in a watched folder; empty: the watched path itself. May begin()
  /// anew.
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

}  // namespace bridge
