#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "mcp/tool_headers.hpp"
#include "router/client_channel.hpp"
#include "router/control.hpp"
#include "router/router.hpp"
#include "session/session.hpp"

namespace bridge {

/// `bridge/tool`: one tool of the server, as the session's last whole list has it. If there is no
/// such list, it is listed once for all who ask meanwhile: by a client of the router's that is
/// there for so long, asks as any other does, is fed no notifications and asked nothing.
///
/// A name that the kept list has not is looked for once more if the server would not tell of a
/// change.
///
/// Owned by the daemon, after the router; the loop's thread only. Bounds: `most_waiting` requests
/// wait; each page has the deadlines of any request, and all but the first 30 s together.
class ToolLookup final : private ClientChannel {
 public:
  static constexpr std::size_t most_waiting = 1000;

  ToolLookup(EventLoop& loop, ClientIdSource& ids, Router& router, const Session& session);

  /// Answers the request: at once if the list is known, else when it has come; of tools that the
  /// policy hides from the asker nothing is said.
  void answer(const Frame& request, const Client& asker, Control::Reply reply);
  /// Does now what was left for the end of the turn: clients are about to be left.
  void settle();

 private:
  struct Waiting {
    ClientId asker;
    std::string id;
    std::optional<std::string> name;  ///< none: the names of all are asked for
    Control::Reply reply;
  };

  void proceed();
  void begin();
  void ask_for_page();
  void page_came();
  void end();
  void fail_all(const Failure& failure);
  std::string reply_from(ClientId asker, std::string_view id,
                         const std::optional<std::string>& asked, const ToolList& list) const;

  // ClientChannel: only responses count.
  void send(Delivery delivery) override;
  ChannelReach reach(std::string_view) const override { return {false, false}; }
  void set_feed(RingFeed) override {}
  void finish() override {}
  bool congested() const override { return false; }
  ChannelState state() const override { return {}; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return "bridge/tool"; }

  EventLoop& loop_;
  ClientIdSource& ids_;
  Router& router_;
  const Session& session_;
  ClientIdentity identity_;
  Deferred next_step_;  ///< the router is not called from within its calls
  DeadlineTimer limit_;
  bool listing_ = false;  ///< it is one of the router's clients
  std::string response_;  ///< the page that has come, not looked at yet
  ToolList list_;         ///< while it comes
  std::vector<Waiting> waiting_;
};

}  // namespace bridge
