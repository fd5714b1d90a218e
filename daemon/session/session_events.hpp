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

/// Which request of ours this message of the upstream answers, by its id; an error without an id is
/// the answer to the request on whose stream it came. 0: none.
UpstreamId request_answered_by(const Frame& frame, std::optional<UpstreamId> origin);

/// What the session tells the router, and asks it. Implemented by the router, which outlives the
/// session's use of it; called on the loop's thread and inside a Turn. Any of them may call the
/// session again. `side`: the era of the session that tells it; there may be one of each.
class SessionEvents {
 public:
  /// Waiting frames can go now.
  virtual void session_open() = 0;
  /// There is none and none is being opened; waiting requests may ask for it again.
  virtual void session_closed(Era side) = 0;
  /// It was open and is not now; frames have to wait.
  virtual void session_away(Era side) = 0;
  /// A try to open or to reach it failed: for the status.
  virtual void session_failed(const Failure& failure) = 0;
  /// Frames wait for a login from now on: Session::login_wait().
  virtual void session_awaits_login() {}
  /// The upstream refuses: everything that waits for this side is answered with this.
  virtual void session_refused(Era side, const Failure& failure) = 0;
  /// A message that does not concern the session itself. Returns the request that it answers;
  /// nullopt: it is not a response, or to an unknown request.
  virtual std::optional<UpstreamId> session_message(Era side, std::optional<UpstreamId> origin,
                                                    Frame&& frame) = 0;
  /// A notification on the bridge's own `subscriptions/listen`.
  virtual void listen_informed(Frame&& notification) = 0;
  /// A message that cannot be read came on this stream.
  virtual void session_malformed(std::optional<UpstreamId> origin, std::string_view reason) = 0;
  /// Nothing more comes for this outgoing message.
  virtual void session_ended(UpstreamId id, Ending ending) = 0;
  /// Whether frames wait for this side: then a failed try is repeated soon.
  virtual bool frames_wait(Era side) const = 0;
  /// Whether this side is to be open though no frame waits for it: then a failed try is repeated.
  virtual bool wants_session(Era side) const = 0;
  /// In which era the message of this id went; none: it is not a client's request.
  virtual std::optional<Era> side_of(UpstreamId id) const = 0;
  /// The capabilities that the modern request declares for which the session is wanted, as a JSON
  /// object; empty: it is wanted for none.
  virtual std::string capabilities_of_opener() const { return {}; }
  /// What clients have set, to be set again in a new session.
  virtual SessionSettings settings() const = 0;
  /// What an earlier daemon's clients have set.
  virtual void take_settings(const SessionSettings& settings) = 0;
  /// A modern server tells of what was asked for last (Session::listened_to).
  virtual void listen_acknowledged() = 0;
  /// The stream on which a modern server was listened to was broken for a time, in which changes of
  /// what it was for went unseen.
  virtual void listen_resumed(const SubscriptionFilter& filter) = 0;
  /// It is sent again by this side, and has to be made again: for another era than it was made for,
  /// or under another id, which is then the router's name for it.
  virtual void remake(Outgoing& message, Era side, bool under_new_id) = 0;
  /// A new session took the place of a lost one: what the server kept in that one is gone, and
  /// changes in between went unseen.
  virtual void session_replaced(Era side, const Reopening& reopening,
                                const std::vector<std::string>& list_changes) = 0;

 protected:
  ~SessionEvents() = default;
};

}  // namespace bridge
