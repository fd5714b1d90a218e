#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/ids.hpp"

namespace bridge {

/// The point on its way at which a message is seen.
enum class Passage : std::uint8_t { from_client, to_server, from_server, to_client };

/// Where messages can be watched. Without a watcher a message costs one test. Shared by the session
/// and the router; the loop's thread only.
class MessageTap {
 public:
  /// Called from the middle of the router's and the session's work: it must not call back into
  /// them. `client`: the client that a message is from or to, if any. `frame` is valid only during
  /// the call; of a confidential one only the envelope may be shown.
  using Watcher = std::function<void(Passage passage, ClientId client, std::string_view frame,
                                     bool confidential)>;

  /// Null: no watcher. `watcher` is used until it is replaced.
  void set_watcher(const Watcher* watcher) { watcher_ = watcher; }

  bool is_watched() const { return watcher_ != nullptr; }

  void passed(Passage passage, ClientId client, std::string_view frame,
              bool confidential = false) const {
    if (watcher_ != nullptr) [[unlikely]]
      (*watcher_)(passage, client, frame, confidential);
  }

 private:
  const Watcher* watcher_ = nullptr;
};

}  // namespace bridge
