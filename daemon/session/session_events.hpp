#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "json/frame.hpp"
#include "mcp/subscription_filter.hpp"
#include "session/saved_session.hpp"
#include "session/session_record.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The id of our request that this message answers; an error without an id answers the request on
/// whose stream it came. 0: none.
UpstreamId request_answered_by(const Frame& frame, std::optional<UpstreamId> origin);

/// Events and questions of the session to the router. Implemented by the router, which outlives the
/// session; called on the loop's thread, inside a Turn. Each may call the session again. `side`:
/// the era of the calling session; there may be one of each.
class SessionEvents {
 public:
  /// Waiting frames can be sent.
  virtual void session_open() = 0;
  /// No session is open or being opened; waiting requests may require it again.
  virtual void session_closed(Era side) = 0;
  /// The session is no longer open; frames must wait.
  virtual void session_away(Era side) = 0;
  /// An attempt to open or reach it failed; for the status.
  virtual void session_failed(const Failure& failure) = 0;
  /// Frames now wait for a login: Session::login_wait().
  virtual void session_awaits_login() {}
  /// The upstream refuses: answers everything that waits for this side with this failure.
  virtual void session_refused(Era side, const Failure& failure) = 0;
  /// A message that does not concern the session itself. Returns the request that it answers;
  /// nullopt: not a response, or to an unknown request.
  virtual std::optional<UpstreamId> message_received(Era side, std::optional<UpstreamId> origin,
                                                     Frame&& frame) = 0;
  /// A notification on the bridge's own `subscriptions/listen`.
  virtual void listen_notified(Frame&& notification) = 0;
  /// A malformed message arrived on this stream.
  virtual void malformed_received(std::optional<UpstreamId> origin, std::string_view reason) = 0;
  /// The outgoing message is complete.
  virtual void message_ended(UpstreamId id, Ending ending) = 0;
  /// Whether frames wait for this side; then a failed attempt is repeated soon.
  virtual bool frames_wait(Era side) const = 0;
  /// The side of the message with this id; nullopt: not a client's request.
  virtual std::optional<Era> side_of(UpstreamId id) const = 0;
  /// The capabilities declared by the modern request that needs the session, as a JSON object;
  /// empty: none needs it.
  virtual std::string capabilities_of_opener() const { return {}; }
  /// Clients' settings to restore in a new session.
  virtual SessionSettings settings() const = 0;
  /// The open session still lacks this subscription of settings(): there was no time for it.
  virtual void subscription_unrestored(const std::string& uri) = 0;
  /// Settings made by an earlier daemon's clients.
  virtual void take_settings(const SessionSettings& settings) = 0;
  /// A modern server now notifies what was requested last (UpstreamListen::stream).
  virtual void listen_acknowledged() = 0;
  /// The listen stream at a modern server was interrupted; changes covered by this filter may have
  /// been missed.
  virtual void listen_resumed(const SubscriptionFilter& filter) = 0;
  /// Rewrites a message for sending it again on this side: for another era, or with another id,
  /// which the router uses from then on.
  virtual void remake(Outgoing& message, Era side, bool under_new_id) = 0;
  /// A new session replaced a lost one: the server's state of the old one is gone, and changes in
  /// between were missed.
  virtual void session_replaced(Era side, const Reopening& reopening,
                                const std::vector<std::string>& list_changes) = 0;

 protected:
  ~SessionEvents() = default;
};

}  // namespace bridge
