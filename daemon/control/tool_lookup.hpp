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

/// `bridge/tool`: one tool of the server, from the session's last complete list; and that list for
/// the router. If there is no such list, it is fetched once for all pending requests, up to the
/// page that they need: by requests that wait for a session and a slot as clients' do.
///
/// Root may ask what another user may see (`as`); the request, in the audit too, is root's own.
///
/// A name that is missing from a kept list is looked up once more if the server does not announce
/// changes.
///
/// Owned by the daemon, after the router, and destroyed before it; the loop's thread only. Bounds:
/// `most_waiting` pending requests; each page has the deadlines of any request, and all but the
/// first 30 s together.
class ToolLookup final : private OwnCaller {
 public:
  static constexpr std::size_t most_waiting = 1000;

  ToolLookup(EventLoop& loop, Router& router, const Session& session);
  ~ToolLookup() override { router_.others().leave(*this); }

  /// Answers the request: at once if the list is known, else when it has arrived. Tools that the
  /// policy hides from the asker are treated as absent.
  void answer(const Frame& request, const Client& asker, Control::Reply reply);
  /// Fetches the list (Control::list_tools).
  void fetch(Control::Reply done);
  /// Runs the work deferred to the end of the turn now: the clients are about to be removed.
  void settle();

 private:
  struct Waiting {
    std::optional<ClientId> asker;  ///< none: only the list is needed
    std::string id;
    std::optional<std::string> name;  ///< none: all tools are requested
    Control::Reply reply;
    std::optional<Peer> as{};  ///< what this peer may see is requested
  };

  void proceed();
  void begin();
  void ask_for_page();
  void page_came();
  void answer_found();
  void end();
  void fail_all(const Failure& failure);
  std::string reply_from(ClientId asker, std::string_view id,
                         const std::optional<std::string>& asked, const ToolList& list) const;
  std::string reply_about(const Peer& peer, std::string_view id,
                          const std::optional<std::string>& asked, const ToolList& list) const;
  std::string reply_to(const Waiting& asked, const ToolList& list) const;

  void answer(std::string_view raw_id, Frame&& response) override;
  void fail(std::string_view raw_id, const Failure& failure) override;

  Router& router_;
  const Session& session_;
  Deferred next_step_;  ///< the router is not called from within its calls
  DeadlineTimer limit_;
  bool listing_ = false;
  std::string response_;  ///< the page that has arrived, not processed yet
  ToolList list_;         ///< while it arrives
  std::vector<Waiting> waiting_;
};

}  // namespace bridge
