#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/message_tap.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The bridge's own requests of one kind that are sent at a time: subscriptions restored in a new
/// session, and those that listens cause.
constexpr std::size_t own_requests_at_once = 8;

/// The session's own messages under way, of both eras, with the part that awaits each. Pure;
/// bounded by what the parts send.
class OwnMessages {
 public:
  struct Own {
    Era side;
    MessageOwner owner;
  };

  void add_own(UpstreamId id, Own own) { messages_.insert_or_assign(id, own); }
  /// The message is no longer awaited.
  void remove(UpstreamId id) { messages_.erase(id); }
  std::optional<Own> find(UpstreamId id) const {
    const auto found = messages_.find(id);
    return found == messages_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The message if it is a stream that stays open.
  std::optional<Own> find_stream(UpstreamId id) const {
    const auto own = find(id);
    const bool is_stream =
        own && (own->owner == MessageOwner::listen || own->owner == MessageOwner::event_stream);
    return is_stream ? own : std::nullopt;
  }
  /// Removes the message; nullopt if it is not of this side.
  std::optional<MessageOwner> take_owner(UpstreamId id, Era side) {
    const auto own = find(id);
    if (!own || own->side != side) return std::nullopt;
    messages_.erase(id);
    return own->owner;
  }
  void clear() { messages_.clear(); }

  /// The side whose opening message came back unchanged: only clients send such messages, so the
  /// peer is an echo. nullopt: not an echo.
  std::optional<Era> side_of_echo(const Frame& frame) const;

 private:
  std::unordered_map<UpstreamId, Own> messages_;
};

/// Sends messages in the session of one era; records the side of each, and the time of the last
/// one. Makes the session's own messages in the form of that era.
///
/// Owned by the session, shared by its parts; the loop's thread only.
class SessionSender {
 public:
  /// `number`: the number of the current session.
  SessionSender(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, MessageTap& tap,
                OwnMessages& own, Era era, const std::uint32_t& number)
      : loop_(loop),
        ids_(ids),
        upstream_(upstream),
        tap_(tap),
        own_(own),
        era_(era),
        number_(number) {}

  /// Returns the message's id.
  UpstreamId send(Outgoing&& message);
  /// `capabilities`: of a modern request.
  UpstreamId request(MessageOwner owner, std::string_view method, std::string_view params = {},
                     std::string_view capabilities = "{}") {
    return send(
        own_message(OutgoingKind::request, owner, method, params, is_modern(), capabilities));
  }
  UpstreamId notify(std::string_view method, std::string_view params = {},
                    MessageOwner owner = MessageOwner::router) {
    return send(own_message(OutgoingKind::notification, owner, method, params, is_modern()));
  }
  /// `server/discover`, while the server's era is unknown.
  UpstreamId probe();
  /// A request answered by a stream that stays open. REQUIRES: a modern server.
  UpstreamId stream(MessageOwner owner, std::string_view method, std::string_view params,
                    std::string_view capabilities);
  /// The message is no longer needed.
  void abandon(UpstreamId id);
  /// The same for a stream: a local server must be told.
  void close_stream(UpstreamId stream);
  /// A stream of the previous process that is still open.
  void adopt(UpstreamId stream, MessageOwner owner) { own_.add_own(stream, {era_, owner}); }

  Era era() const { return era_; }
  bool is_modern() const { return era_ == Era::modern; }
  /// Whether closing an answer's stream cancels the request (a modern server over HTTP).
  bool cancels_by_closing() const { return is_modern() && upstream_.has_answer_streams(); }
  /// Whether messages need mirrored headers.
  bool mirrors_headers() const { return cancels_by_closing(); }
  /// Whether the session was opened by an `initialize`.
  bool is_stateful() const { return !is_modern(); }
  SteadyTime last_sent() const { return last_sent_; }
  UpstreamIdSource& ids() const { return ids_; }

 private:
  Outgoing own_message(OutgoingKind kind, MessageOwner owner, std::string_view method,
                       std::string_view params, bool modern, std::string_view capabilities = "{}");

  EventLoop& loop_;
  UpstreamIdSource& ids_;
  Upstream& upstream_;
  MessageTap& tap_;
  OwnMessages& own_;
  const Era era_;
  const std::uint32_t& number_;
  SteadyTime last_sent_{};
};

}  // namespace bridge
