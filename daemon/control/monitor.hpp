#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_tap.hpp"
#include "event/event_loop.hpp"
#include "json/json_object.hpp"
#include "router/client.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

/// `bridge/monitor`: shows every message as it passes, with its secrets blotted out, to clients of
/// the Unix socket that are the daemon's user or root (BEHAVIOUR, "Control methods:
/// bridge/monitor").
///
/// Watchers slow nothing down: one with more than `most_queued` bytes unread misses messages, and
/// is told how many. Without watchers the tap is empty.
///
/// Owned by the daemon, after the router; the loop's thread only.
class Monitor {
 public:
  using Secrets = std::function<std::vector<std::string>()>;

  static constexpr std::size_t most_queued = 1u << 20;  ///< of one watcher, in bytes
  static constexpr std::size_t longest = 64u << 10;     ///< a longer message is shown in part

  /// `secrets` is called while there are watchers: all values that must not be shown at that
  /// moment.
  Monitor(const EventLoop& loop, const Clients& clients, MessageTap& tap, Secrets secrets)
      : loop_(loop), clients_(clients), tap_(tap), secrets_(std::move(secrets)) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() { tap_.set_watcher(nullptr); }

  /// Answers the request of a client that may watch; from then on `asker` is shown what passes, and
  /// is sent nothing else.
  std::string answer(const Frame& request, Client& asker);
  /// The new process does not know the watchers: they are told, and may ask again.
  void end();

 private:
  struct Watcher {
    std::uint64_t missed = 0;  ///< since the last message that it was shown
  };

  void passed(Passage passage, ClientId client, std::string_view frame, bool confidential);
  /// The message as members of the params.
  JsonObject shown(std::string_view frame, bool confidential);

  const EventLoop& loop_;
  const Clients& clients_;
  MessageTap& tap_;
  const MessageTap::Watcher watcher_ = [this](Passage passage, ClientId client,
                                              std::string_view frame, bool confidential) {
    passed(passage, client, frame, confidential);
  };
  Secrets secrets_;
  SecretForms forms_;
  std::map<ClientId, Watcher> watchers_;
};

}  // namespace bridge
