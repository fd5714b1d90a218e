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

/// The session's own messages under way, of both eras: which part of which side awaits what comes
/// of each. Pure; bounded by what the parts send.
class OwnMessages {
 public:
  struct Own {
    Era side;
    MessageOwner owner;
  };

  void add(UpstreamId id, Own own) { messages_.insert_or_assign(id, own); }
  /// Nothing is awaited of it from now on.
  void remove(UpstreamId id) { messages_.erase(id); }
  std::optional<Own> find(UpstreamId id) const {
    const auto found = messages_.find(id);
    return found == messages_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The same, if it is a stream that stays open.
  std::optional<Own> find_stream(UpstreamId id) const {
    const auto own = find(id);
    const bool is_stream =
        own && (own->owner == MessageOwner::listen || own->owner == MessageOwner::event_stream);
    return is_stream ? own : std::nullopt;
  }
  /// Removes it; nothing if it is not of this side.
  std::optional<MessageOwner> take(UpstreamId id, Era side) {
    const auto own = find(id);
    if (!own || own->side != side) return std::nullopt;
    messages_.erase(id);
    return own->owner;
  }
  void clear() { messages_.clear(); }

  /// Of the message that opens a session and has come back as it was sent: only a client sends one,
  /// so a peer that sends it back is an echo. Else nothing.
  std::optional<Era> side_of_echo(const Frame& frame) const;

 private:
  std::unordered_map<UpstreamId, Own> messages_;
};

/// Sends in the session of one era: notes in which one each message goes, and when the last one
/// went. The session's own messages are made here, as the era wants them.
///
/// Owned by the session, whose parts share it; the loop's thread only.
class SessionSender {
 public:
  /// `number`: of the session in which a message goes.
  SessionSender(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, MessageTap& tap,
                OwnMessages& own, Era era, const std::uint32_t& number)
      : loop_(loop),
        ids_(ids),
        upstream_(upstream),
        tap_(tap),
        own_(own),
        era_(era),
        number_(number) {}

  /// Returns its id.
  UpstreamId send(Outgoing&& message);
  UpstreamId request(MessageOwner owner, std::string_view method, std::string_view params = {}) {
    return send(own_message(OutgoingKind::request, owner, method, params, is_modern()));
  }
  UpstreamId notify(std::string_view method, std::string_view params = {},
                    MessageOwner owner = MessageOwner::router) {
    return send(own_message(OutgoingKind::notification, owner, method, params, is_modern()));
  }
  /// `server/discover`, before it is known whether the server is modern.
  UpstreamId probe();
  /// A request whose answer is a stream that stays open. REQUIRES: a modern server.
  UpstreamId stream(MessageOwner owner, std::string_view method, std::string_view params,
                    std::string_view capabilities);
  /// Nothing more is wanted of that message.
  void abandon(UpstreamId id);
  /// The same of a stream, of which a local server has to be told.
  void close_stream(UpstreamId stream);
  /// A stream of the previous process that is open still.
  void adopt(UpstreamId stream, MessageOwner owner) { own_.add(stream, {era_, owner}); }

  Era era() const { return era_; }
  bool is_modern() const { return era_ == Era::modern; }
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
