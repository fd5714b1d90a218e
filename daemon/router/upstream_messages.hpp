#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "json/frame.hpp"
#include "json/json_object.hpp"
#include "json/reply.hpp"
#include "mcp/mirrored_headers.hpp"
#include "router/call.hpp"
#include "session/session.hpp"

namespace bridge {

/// Sends messages other than requests to the upstream: they take no slot;
/// SessionEvents::message_ended reports their end. Owned by the router; the loop's thread only.
class UpstreamMessages {
 public:
  UpstreamMessages(UpstreamIdSource& ids, Session& session) : ids_(ids), session_(session) {}

  /// `session`: that of the related request or of the client.
  UpstreamId notify(std::string body, EraSession& session) {
    return send(OutgoingKind::notification, std::move(body), session);
  }
  /// The session that requests of the upstream come from now; 0: there is none.
  std::uint32_t session() const { return session_.stateful().opener().number(); }
  /// The response to a request that came from this session; dropped if that is over, because the
  /// next one may use the same ids.
  void respond(std::string body, std::uint32_t session) {
    if (session == 0 || session != this->session()) return;
    send(OutgoingKind::response, std::move(body), session_.stateful(), session);
  }
  /// Tells the upstream that the answer to this call is no longer needed.
  void cancel(UpstreamId request, const Call& call, std::string_view reason) {
    cancel_as(call,
              own_notification(
                  "notifications/cancelled",
                  JsonObject().add("requestId", value_of(request)).add("reason", reason).text()));
  }
  /// The same by its client's own notification, under the request's id at the upstream.
  void cancel_as(const Call& call, std::string notification) {
    if (is_told_to_cancel(call))
      send(OutgoingKind::notification, std::move(notification), session_.side(call.side), 0, true);
  }

 private:
  /// Else the end of the answer's stream cancels it, or there is no session.
  bool is_told_to_cancel(const Call& call) {
    EraSession& session = session_.side(call.side);
    return session.is_open() && !session.sender().cancels_by_closing();
  }
  UpstreamId send(OutgoingKind kind, std::string body, EraSession& session,
                  std::uint32_t number = 0, bool cancels = false) {
    Outgoing message;
    message.cancels = cancels;
    message.notes.session = number;
    message.id = ids_.next();
    message.kind = kind;
    message.body = std::move(body);
    if (session.sender().mirrors_headers()) {
      auto frame = parse_frame(std::move(message.body));
      message.headers = mirrored_headers(std::get<Frame>(frame), {}).lines;
      message.body = std::move(std::get<Frame>(frame).bytes);
    }
    const UpstreamId id = message.id;
    session.sender().send(std::move(message));
    return id;
  }

  UpstreamIdSource& ids_;
  Session& session_;
};

}  // namespace bridge
