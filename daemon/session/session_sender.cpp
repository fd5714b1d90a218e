#include "session/session_sender.hpp"

#include <fmt/format.h>

#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {

Outgoing SessionSender::own(OutgoingKind kind, std::string_view method, std::string_view params,
                            bool modern, std::string_view capabilities) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = kind;
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

UpstreamId SessionSender::request(std::string_view method, std::string_view params) {
  return send_own(own(OutgoingKind::request, method, params, is_modern()));
}

UpstreamId SessionSender::notify(std::string_view method, std::string_view params) {
  return send_own(own(OutgoingKind::notification, method, params, is_modern()));
}

UpstreamId SessionSender::probe() {
  Outgoing message = own(OutgoingKind::request, "server/discover", {}, true);
  message.probes = true;
  return send_own(std::move(message));
}

UpstreamId SessionSender::stream(std::string_view method, std::string_view params,
                                 std::string_view capabilities) {
  Outgoing message = own(OutgoingKind::request, method, params, true, capabilities);
  message.may_repeat = false;
  message.stays_open = true;
  return send_own(std::move(message));
}

void SessionSender::give_up(UpstreamId stream) {
  if (!upstream_.has_answer_streams())
    notify("notifications/cancelled", fmt::format(R"({{"requestId":{}}})", value_of(stream)));
  upstream_.abandon(stream);
}

}  // namespace bridge
