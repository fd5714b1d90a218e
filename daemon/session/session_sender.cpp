#include "session/session_sender.hpp"

#include <fmt/format.h>

#include <utility>

#include "json/frame.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/handshake.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {

std::optional<Era> OwnMessages::side_of_echo(const Frame& frame) const {
  if (!frame.is_request() || (frame.method != "initialize" && frame.method != "server/discover"))
    return std::nullopt;
  const auto own =
      find(static_cast<UpstreamId>(unsigned_by_value(frame.text(frame.id)).value_or(0)));
  if (!own || own->owner != MessageOwner::opening) return std::nullopt;
  return own->side;
}

UpstreamId SessionSender::send(Outgoing&& message) {
  const UpstreamId id = message.id;
  last_sent_ = loop_.round_began();
  if (message.kind != OutgoingKind::response) message.notes.session = number_;
  message.notes.stateful = !is_modern();
  if (message.owner != MessageOwner::router) own_.add_own(id, {era_, message.owner});
  tap_.passed(Passage::to_server, {}, message.body);
  upstream_.transport().send(std::move(message));
  return id;
}

Outgoing SessionSender::own_message(OutgoingKind kind, MessageOwner owner, std::string_view method,
                                    std::string_view params, bool modern,
                                    std::string_view capabilities) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = kind;
  message.owner = owner;
  message.may_repeat = true;
  message.body = kind == OutgoingKind::request ? own_request(message.id, method, params)
                                               : own_notification(method, params);
  if (!modern) return message;
  if (kind == OutgoingKind::request) {
    auto frame = parse_frame(std::move(message.body));
    message.body =
        with_request_meta(std::get<Frame>(std::move(frame)), {capabilities, own_client_info, {}})
            .bytes;
  }
  message.headers.push_back(fmt::format("Mcp-Method: {}", method));
  return message;
}

UpstreamId SessionSender::probe() {
  Outgoing message =
      own_message(OutgoingKind::request, MessageOwner::opening, "server/discover", {}, true);
  message.probes = true;
  return send(std::move(message));
}

UpstreamId SessionSender::stream(MessageOwner owner, std::string_view method,
                                 std::string_view params, std::string_view capabilities) {
  Outgoing message = own_message(OutgoingKind::request, owner, method, params, true, capabilities);
  message.may_repeat = false;
  message.stays_open = true;
  return send(std::move(message));
}

void SessionSender::abandon(UpstreamId id) {
  own_.remove(id);
  upstream_.abandon(id);
}

void SessionSender::close_stream(UpstreamId stream) {
  if (!upstream_.has_answer_streams())
    notify("notifications/cancelled", JsonObject().add("requestId", value_of(stream)).text());
  abandon(stream);
}

}  // namespace bridge
