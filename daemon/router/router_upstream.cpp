// Frames from upstream, and what the session tells.
#include <algorithm>
#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "router/router.hpp"
#include "text/json_text.hpp"

namespace bridge {

std::optional<UpstreamId> Router::session_message(std::optional<UpstreamId> origin, Frame frame) {
  log_.body("from the upstream", {.upstream = origin}, frame.bytes);
  if (const char* reason = wrong_kind(frame)) {
    session_malformed(origin, reason);
    if (frame.is_request())
      refuse_upstream(frame.text(frame.id), json_rpc::invalid_request, reason);
    return std::nullopt;
  }
  switch (frame.kind) {
    case FrameKind::response: return upstream_answer(origin, std::move(frame));
    case FrameKind::notification: upstream_notification(origin, std::move(frame)); break;
    case FrameKind::request: upstream_request(origin, std::move(frame)); break;
  }
  return std::nullopt;
}

/// Returns the request that it answers.
std::optional<UpstreamId> Router::upstream_answer(std::optional<UpstreamId> origin, Frame frame) {
  const auto arrived = loop_.now();
  UpstreamId id{};
  if (frame.id_is_null) {
    id = origin.value_or(UpstreamId{});  // on a request's own stream it is that request's
  } else if (const auto number = to_unsigned(frame.text(frame.id))) {
    id = static_cast<UpstreamId>(*number);
  }
  const auto ended = end_pending(id);
  if (!ended) {
    ++statistics_.unknown_answers;
    log_.peer(LogLevel::warning, "unknown answer",
              {.upstream = id != UpstreamId{} ? std::optional(id) : origin},
              "the upstream answered what nobody waits for; dropped");
    return std::nullopt;
  }
  remember_effect(*ended, frame);
  Client* const client = ended->client ? find(*ended->client) : nullptr;
  note_end(id, *ended,
           client == nullptr       ? Outcome::left
           : frame.error.present() ? Outcome::error
                                   : Outcome::ok);
  if (client != nullptr) {
    std::string bytes = std::move(frame.bytes);
    splice(bytes, {frame.id, ended->client_request_id});
    client->channel.answer(ended->client_request_id, std::move(bytes), AnswerOrder::in_order);
    const auto done = loop_.now();
    statistics_.answered_in(class_of(ended->method), done - ended->received,
                            (ended->sent - ended->received) + (done - arrived));
  }
  after_pending(*ended);
  return id;
}

/// What an accepted request changes in the session, and would have to be restored in a new one.
void Router::remember_effect(const PendingRequest& request, const Frame& answer) {
  if (!answer.result.present()) return;
  if (request.method == "resources/subscribe") {
    subscriptions_.accepted(request.subject, request.client);
  } else if (request.method == "resources/unsubscribe") {
    subscriptions_.removed(request.subject);
  } else if (request.method == "logging/setLevel") {
    log_level_params_ = request.subject;
  }
}

void Router::upstream_notification(std::optional<UpstreamId> origin, Frame frame) {
  if (frame.method == "notifications/progress") {
    upstream_progress(std::move(frame));
    return;
  }
  if (frame.method == "notifications/cancelled") {
    upstream_cancels(std::move(frame));
    return;
  }
  bool to_session = !origin || is_session_notification(frame.method);
  if (!to_session) {
    const auto owner = pending_.owner(*origin);
    if (Client* client = owner ? find(*owner) : nullptr) {
      const PendingRequest* pending = pending_.find(*origin);
      if (pending != nullptr) {
        client->channel.send_about(pending->client_request_id, std::move(frame.bytes));
      } else {
        client->channel.send(std::move(frame.bytes));  // after the answer
      }
      return;
    }
    // Its client has left. With --orphans finish the request goes on for the session.
    to_session = options_.orphans == Orphans::finish;
  }
  if (!to_session) {
    ++statistics_.dropped_notifications;
    return;
  }
  std::string key = coalesce_key(frame);
  publish(std::move(frame.bytes), frame.method, std::move(key));
}

void Router::publish(std::string message, std::string_view method, std::string coalesce_key) {
  feed_.publish(std::move(message), method, std::move(coalesce_key));
}

void Router::upstream_progress(Frame frame) {
  const auto token = to_unsigned(frame.text(frame.progress_token));
  const PendingRequest* pending = token ? pending_.find(static_cast<UpstreamId>(*token)) : nullptr;
  Client* client = pending != nullptr && pending->client ? find(*pending->client) : nullptr;
  if (client == nullptr || pending->progress_token.empty()) {
    // A stale token makes real clients hang up.
    ++statistics_.dropped_notifications;
    log_.peer(LogLevel::debug, "stale progress",
              "a progress notification without an owner was dropped");
    return;
  }
  std::string bytes = std::move(frame.bytes);
  splice(bytes, {frame.progress_token, pending->progress_token});
  client->channel.send_about(pending->client_request_id, std::move(bytes));
}

void Router::session_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  ++statistics_.malformed_messages;
  if (PendingRequest* const request = origin ? pending_.find(*origin) : nullptr)
    request->malformed = reason;
  log_.peer(LogLevel::warning, "malformed message", "a message from upstream ({}) was dropped: {}",
            origin ? "on a request's stream" : "on the server stream", reason);
}

void Router::session_ended(UpstreamId id, Ending ending) {
  auto ended = end_pending(id);
  if (!ended) {
    if (ending.failure) {
      log_.peer(LogLevel::warning, "notification failed",
                "a notification or an answer did not reach the upstream: {}",
                log_text(*ending.failure));
      statistics_.failed(loop_.wall_time(), ending.failure->kind, ending.failure->message);
    }
    if (auto* orphaned = departed_.find(id)) {
      orphaned->under_way.reset();
      if (session_.is_open()) send_next_of(*orphaned);
      return;
    }
    notification_ended(id);
    return;
  }
  Failure failure;
  if (ending.failure) {
    failure = std::move(*ending.failure);
  } else {
    failure.kind = ending.something_came ? ErrorKind::malformed : ErrorKind::closed;
    failure.message =
        !ending.something_came ? "the upstream ended the stream before the answer"
        : !ended->malformed.empty()
            ? fmt::format("what the upstream answered is no message: {}", ended->malformed)
            : "the upstream's answer stream ended without the answer";
  }
  if (failure.kind == ErrorKind::timeout && failure.delivered == Delivered::unknown &&
      ended->method != "initialize") {
    cancel_upstream(id, "timeout");
  }
  if (Client* client = ended->client ? find(*ended->client) : nullptr) {
    log_.peer(LogLevel::info, "request failed", fields_of(id, *ended),
              "a request has failed: {}: {}", name_of(failure.kind), log_text(failure));
    reply_failure(*client, ended->method, ended->client_request_id, failure);
  } else {
    note_end(id, *ended, Outcome::left);
  }
  after_pending(*ended);
}

void Router::session_open() {
  expiry_.clear();
  departed_.each_resting(
      [this](DepartedNotifications::OrphanedQueue& orphaned) { send_next_of(orphaned); });
  pass_slots_on();
  pump_all();
}

void Router::session_closed() {
  not_open_since_ = loop_.now();
  pump_all();
}

void Router::session_refused(const Failure& failure) {
  Failure refusal = failure;
  refusal.delivered = Delivered::no;
  each_client([&](Client& client) { fail_waiting(client, refusal); });
}

void Router::session_failed(const Failure& failure) {
  statistics_.failed(loop_.wall_time(), failure.kind, failure.message);
}

void Router::session_away() {
  not_open_since_ = loop_.now();
  expiry_.set_at_latest(not_open_since_ + options_.connect_wait);
}

std::vector<SessionEvents::Restorable> Router::state_to_restore() const {
  std::vector<Restorable> all;
  if (!log_level_params_.empty()) all.push_back({"logging/setLevel", log_level_params_});
  for (const std::string& uri : subscriptions_.uris()) {
    all.push_back({"resources/subscribe", fmt::format(R"({{"uri":{}}})", quote(uri))});
  }
  return all;
}

void Router::session_replaced(const std::vector<std::string>& list_changes) {
  drop_server_requests_of_session();
  for (const std::string& method : list_changes) publish(own_notification(method), method, method);
  for (const std::string& uri : subscriptions_.uris()) {
    const std::string_view method = "notifications/resources/updated";
    publish(own_notification(method, fmt::format(R"({{"uri":{}}})", quote(uri))), method,
            fmt::format("{} {}", method, uri));
  }
}

}  // namespace bridge
