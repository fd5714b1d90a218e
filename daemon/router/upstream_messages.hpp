#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "mcp/mirrored_headers.hpp"
#include "session/session.hpp"

namespace bridge {

/// Sends messages other than requests to the upstream: they take no slot;
/// SessionEvents::message_ended reports their end. Owned by the router; the loop's thread only.
class UpstreamMessages {
 public:
  UpstreamMessages(UpstreamIdSource& ids, Session& session) : ids_(ids), session_(session) {}

  /// `side`: the session to use, that of the related request or of the client.
  UpstreamId notify(std::string body, Era side) {
    return send(OutgoingKind::notification, std::move(body), side);
  }
  /// The session that requests of the upstream come from now; 0: there is none.
  std::uint32_t session() const { return session_.side(Era::legacy).opener().number(); }
  /// The response to a request that came from this session; dropped if that is over, because the
  /// next one may use the same ids. A modern upstream sends no requests.
  void respond(std::string body, std::uint32_t session) {
    if (session == 0 || session != this->session()) return;
    send(OutgoingKind::response, std::move(body), Era::legacy, session);
  }
  /// Tells the upstream that the answer to this request is no longer needed.
  void cancel(UpstreamId request, Era side, std::string_view reason) {
    if (!session_.is_open(side) || session_.cancels_by_closing(side)) return;
    notify(own_notification(
               "notifications/cancelled",
               fmt::format(R"({{"requestId":{},"reason":"{}"}})", value_of(request), reason)),
           side);
  }

 private:
  UpstreamId send(OutgoingKind kind, std::string body, Era side, std::uint32_t session = 0) {
    Outgoing message;
    message.notes.session = session;
    message.id = ids_.next();
    message.kind = kind;
    message.body = std::move(body);
    if (session_.mirrors_headers(side)) {
      auto frame = parse_frame(std::move(message.body));
      message.headers = mirrored_headers(std::get<Frame>(frame), {}).lines;
      message.body = std::move(std::get<Frame>(frame).bytes);
    }
    const UpstreamId id = message.id;
    session_.sender(side).send(std::move(message));
    return id;
  }

  UpstreamIdSource& ids_;
  Session& session_;
};

}  // namespace bridge
