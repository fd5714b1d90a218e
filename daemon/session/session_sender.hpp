#pragma once

#include <string_view>
#include <utility>

#include "event/event_loop.hpp"
#include "mcp/handshake.hpp"
#include "session/kept_session.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Sends in the session: notes in which one each message goes, and when the last one went. The
/// session's own messages are made here.
///
/// Owned by the session, whose parts share it; the loop's thread only.
class SessionSender {
 public:
  SessionSender(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, const KeptSession& kept)
      : loop_(loop), ids_(ids), upstream_(upstream), kept_(kept) {}

  void send(Outgoing message) {
    last_sent_ = loop_.now();
    message.notes.session = kept_.number;
    upstream_.send(std::move(message));
  }
  UpstreamId request(std::string_view method, std::string_view params = {}) {
    const UpstreamId id = ids_.next();
    return send_own(id, OutgoingKind::request, own_request(id, method, params));
  }
  UpstreamId notify(std::string_view method) {
    return send_own(ids_.next(), OutgoingKind::notification, own_notification(method));
  }

  SteadyTime last_sent() const { return last_sent_; }
  UpstreamIdSource& ids() const { return ids_; }

 private:
  UpstreamId send_own(UpstreamId id, OutgoingKind kind, std::string body) {
    Outgoing message;
    message.id = id;
    message.kind = kind;
    message.may_repeat = true;
    message.body = std::move(body);
    send(std::move(message));
    return id;
  }

  EventLoop& loop_;
  UpstreamIdSource& ids_;
  Upstream& upstream_;
  const KeptSession& kept_;
  SteadyTime last_sent_{};
};

}  // namespace bridge
