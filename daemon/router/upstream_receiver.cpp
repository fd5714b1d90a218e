#include "router/upstream_receiver.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "json/json_object.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"

namespace bridge {

using namespace std::string_view_literals;

namespace {

/// Ends what the calendar has ended meanwhile, before something is sent unasked.
void expire_due_grants(Permissions& permissions) {
  const Grants::Now now = permissions.now();
  if (permissions.grants().size() > 0 && permissions.grants().next_expiry(now) <= now.steady)
    permissions.expire_grants();
}

}  // namespace

void UpstreamReceiver::publish_all_lists() {
  for (const Era era : {Era::legacy, Era::modern}) {
    const ServerDescription* const server = context_.session.serving(era).server();
    if (server == nullptr) continue;
    for (const std::string& method : server->declared_list_changes()) {
      if (era == Era::modern) {
        auto changed = parse_frame(own_notification(method));
        parts_.listens.tell(std::get<Frame>(changed));
      }
      if (era == context_.session.ring_source()) publish_changes({method}, {});
    }
  }
}

std::optional<UpstreamId> UpstreamReceiver::message_received(Era side,
                                                             std::optional<UpstreamId> origin,
                                                             Frame&& frame) {
  context_.log.body("from the upstream", {.upstream = origin}, frame.bytes);
  if (const char* reason = wrong_kind(frame)) {
    malformed_received(origin, reason);
    if (frame.is_request())
      parts_.questions.refuse(frame.text(frame.id), json_rpc::invalid_request, reason);
    return std::nullopt;
  }
  switch (frame.kind) {
    case FrameKind::response: return parts_.in_flight.answer(origin, std::move(frame));
    case FrameKind::notification: upstream_notification(side, origin, std::move(frame)); break;
    case FrameKind::request:
      if (side == Era::modern) {
        malformed_received(origin, "a server of MCP 2026-07-28 sends no requests");
      } else {
        parts_.questions.take_question(origin, std::move(frame));
      }
      break;
  }
  return std::nullopt;
}

void UpstreamReceiver::listen_notified(Frame&& notification) {
  expire_due_grants(parts_.permissions);
  if (notification.method == "notifications/tools/list_changed"sv) parts_.tools.forget();
  if (!parts_.listens.tell(notification))
    message_received(Era::modern, std::nullopt, std::move(notification));
}

void UpstreamReceiver::upstream_notification(Era side, std::optional<UpstreamId> origin,
                                             Frame frame) {
  if (frame.method == "notifications/progress"sv) {
    parts_.in_flight.progress(std::move(frame));
    return;
  }
  if (frame.method == "notifications/cancelled"sv) {
    parts_.questions.cancel(std::move(frame));
    return;
  }
  expire_due_grants(parts_.permissions);
  if (!origin && frame.subscription_id.present()) {
    origin = parts_.in_flight.calls().named_by(frame.text(frame.subscription_id));
    if (!origin) {  // on a stream that was given up
      ++parts_.statistics.dropped_notifications;
      return;
    }
  }
  if (!origin && frame.method == "notifications/message"sv &&
      parts_.in_flight.pass_log_message_on(frame, context_.session.side(side)) &&
      side == Era::modern)
    return;
  if (origin && !is_session_notification(frame.method)) {
    if (parts_.in_flight.deliver(*origin, frame)) return;
    // Its client has disconnected: it is the session's unless --orphans cancel, or its job's.
    if (parts_.options.orphans == Orphans::cancel &&
        !parts_.in_flight.calls().owner(*origin).is_job) {
      ++parts_.statistics.dropped_notifications;
      return;
    }
  }
  if (frame.method == "notifications/tools/list_changed"sv) parts_.tools.forget();
  if (is_second_copy(side, frame)) return;
  std::string key = coalesce_key(frame);
  parts_.feed.publish(std::move(frame.bytes), frame.method, std::move(key));
}

/// While the first legacy session is being opened, the server may send a change in it, in the
/// modern one, or in both: the n-th copy in one is the n-th in the other, and the earlier of the
/// two fills the ring.
bool UpstreamReceiver::is_second_copy(Era side, const Frame& notification) {
  const EraSession& legacy = context_.session.stateful();
  if (context_.session.ring_source() == Era::legacy || !legacy.is_trying()) return false;
  const auto* const stream = context_.session.stateless().listen().stream();
  const std::string key = coalesce_key(notification);
  if (key.empty() || stream == nullptr || !stream->asked.matches(notification)) return false;
  const std::uint64_t opening = legacy.record().counts.failed_tries;
  if (std::exchange(overlap_in_, opening) != opening) {
    overlap_ = {};
    for (const Era era : {Era::legacy, Era::modern}) overlap_.begin(era);
  }
  return !overlap_.is_news(side, key);
}

void UpstreamReceiver::malformed_received(std::optional<UpstreamId> origin,
                                          std::string_view reason) {
  ++parts_.statistics.malformed_messages;
  if (origin) parts_.in_flight.note_malformed(*origin, reason);
  context_.log.peer(LogLevel::warning, "malformed message",
                    "a message from upstream ({}) was dropped: {}",
                    origin ? "on a request's stream" : "on the server stream", reason);
}

std::optional<Era> UpstreamReceiver::side_of(UpstreamId id) const {
  const Call* const call = parts_.in_flight.find_call(id);
  return call == nullptr ? std::nullopt : std::optional(call->side);
}

void UpstreamReceiver::message_ended(UpstreamId id, Ending ending) {
  if (parts_.in_flight.end_request(id, ending)) return;
  if (ending.failure) {
    context_.log.peer(LogLevel::warning, "notification failed",
                      "a notification or an answer did not reach the upstream: {}",
                      log_text(*ending.failure));
    session_failed(*ending.failure);
  }
  parts_.frames.message_ended(id);
}

/// The sides may have changed since the last call: serves the listens and fills the ring
/// accordingly.
void UpstreamReceiver::note_sides() {
  if (const Era now = context_.session.ring_source(); std::exchange(ring_source_, now) != now)
    parts_.tools.forget();
  parts_.listens.sides_changed();
}

void UpstreamReceiver::session_open() {
  note_sides();
  parts_.crossings.session_open();
  parts_.frames.session_open();
}

void UpstreamReceiver::session_closed(Era side) {
  parts_.frames.session_closed(context_.session.side(side));
  parts_.crossings.session_closed();
}

void UpstreamReceiver::session_refused(Era side, const Failure& failure) {
  Failure refusal = failure;
  refusal.delivered = Delivered::no;
  parts_.frames.fail_all(refusal, &context_.session.side(side));
  if (side == Era::modern) parts_.crossings.fail_waiting(refusal);
}

void UpstreamReceiver::session_failed(const Failure& failure) {
  parts_.statistics.failed(context_.loop.wall_time(), failure.kind, failure.message);
}

bool UpstreamReceiver::frames_wait(Era side) const {
  return parts_.frames.has_request_for(context_.session.side(side)) ||
         (side == Era::modern && parts_.crossings.wait_for_session());
}

SessionSettings UpstreamReceiver::settings() const {
  SessionSettings settings = parts_.restorable.settings();
  if (!parts_.listens.are_native()) settings.subscriptions = subscriptions();
  return settings;
}

/// The resources that clients of both eras have subscribed.
std::vector<std::string> UpstreamReceiver::subscriptions() const {
  const Subscriptions& subscriptions = parts_.restorable.subscriptions();
  std::vector<std::string> all = subscriptions.uris();
  subscriptions.each_listened([&](const std::string& uri, const auto&) {
    if (!subscriptions.contains(uri)) all.push_back(uri);
  });
  return all;
}

void UpstreamReceiver::subscription_unrestored(const std::string& uri) {
  parts_.own_subscriptions.request_later(nullptr, uri, true);
}

void UpstreamReceiver::session_replaced(Era side, const Reopening& reopening,
                                        const std::vector<std::string>& list_changes) {
  parts_.tools.forget();
  if (side == Era::modern && context_.session.ring_source() == Era::legacy) {
    parts_.listens.tell_changed();  // nothing has changed for other clients
    return;
  }
  parts_.questions.session_replaced();
  const std::string_view method = "notifications/bridge/session_reopened";
  parts_.feed.publish(own_notification(method, JsonObject()
                                                   .add("reason", name_of(reopening.reason))
                                                   .add("at", timestamp(reopening.at))
                                                   .text()),
                      method);
  publish_changes(list_changes,
                  parts_.listens.bypass_ring() ? settings().subscriptions : subscriptions());
}

void UpstreamReceiver::listen_resumed(const SubscriptionFilter& filter) {
  parts_.tools.forget();
  if (parts_.listens.tell_changed()) return;
  publish_changes(context_.session.serving_listens().server()->declared_list_changes(),
                  {filter.resources.begin(), filter.resources.end()});
}

/// Announces what may have changed while there was no session.
void UpstreamReceiver::publish_changes(const std::vector<std::string>& lists,
                                       const std::vector<std::string>& uris) {
  for (const std::string& method : lists)
    parts_.feed.publish(own_notification(method), method, method);
  for (const std::string& uri : uris) {
    const std::string_view method = "notifications/resources/updated";
    parts_.feed.publish(own_notification(method, JsonObject().add("uri", uri).text()), method,
                        fmt::format("{} {}", method, uri));
  }
}

}  // namespace bridge
