// Frames from clients.
#include <algorithm>
#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "router/router.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

bool is_control(std::string_view method) { return method.starts_with("bridge/"); }

bool is_method_not_found(const Frame& answer) {
  return find_member(answer.text(answer.error), "code") == "-32601";
}

}  // namespace

void Router::client_line(ClientId id, std::string line) {
  Client* client = find(id);
  if (client == nullptr) return;
  if (!is_batch(line)) {
    client_text(*client, std::move(line));
    return;
  }
  const auto batch = split_batch(line);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) {
    reply_invalid(*client, fault->code, fault->reason);
    return;
  }
  for (const std::string_view element : std::get<0>(batch)) {
    client = find(id);
    if (client == nullptr) return;
    client_text(*client, std::string(element));
  }
}

void Router::client_message(ClientId id, Frame message) {
  Client* client = find(id);
  if (client == nullptr) return;
  log_.body("from a client", {.client = id}, message.bytes);
  take_message(*client, std::move(message));
}

void Router::client_oversized_line(ClientId id) {
  if (Client* client = find(id)) {
    reply_invalid(
        *client, json_rpc::invalid_request,
        fmt::format("Invalid Request: the line is over the limit of {} bytes (--max-frame)",
                    options_.max_frame));
  }
}

void Router::reply_invalid(Client& client, int code, std::string_view reason) {
  ++statistics_.invalid_frames;
  if (client.channel.congested() && !client.channel.hold_input()) {
    log_.peer(LogLevel::warning, "invalid frame unanswered", {.client = client.id()},
              "an invalid frame was not answered: its client's queue is full");
    return;
  }
  client.channel.send(error_reply("null", code, reason));
}

void Router::client_text(Client& client, std::string bytes) {
  log_.body("from a client", {.client = client.id()}, bytes);
  auto parsed = parse_frame(std::move(bytes));
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) {
    reply_invalid(client, fault->code, fault->reason);
    return;
  }
  Frame& frame = std::get<Frame>(parsed);
  if (frame.id_is_null) {
    reply_invalid(client, json_rpc::invalid_request, "Invalid Request: id is null");
    return;
  }
  take_message(client, std::move(frame));
}

void Router::take_message(Client& client, Frame frame) {
  if (const char* reason = wrong_kind(frame)) {
    refuse_kind(client, frame, reason);
    return;
  }
  note_kind(client, frame);
  switch (frame.kind) {
    case FrameKind::request: client_request(client, std::move(frame)); break;
    case FrameKind::notification: client_notification(client, std::move(frame)); break;
    case FrameKind::response: client_answer(client, std::move(frame)); break;
  }
}

void Router::refuse_kind(Client& client, const Frame& frame, std::string_view reason) {
  if (!frame.is_request()) {
    reply_invalid(client, json_rpc::invalid_request, reason);
    return;
  }
  ++statistics_.invalid_frames;
  const std::string_view id = frame.text(frame.id);
  client.channel.answer(id, error_reply(id, json_rpc::invalid_request, reason),
                        AnswerOrder::in_order);
}

// What a connection sends tells whether it is there for the notifications (BEHAVIOUR, "Ring: what
// takes nothing").
void Router::note_kind(Client& client, const Frame& frame) {
  const bool ordinary =
      !(options_.control && is_control(frame.method)) && frame.method != "server/discover";
  const bool first_ordinary = ordinary && !client.seen_ordinary_frame;
  const bool first = !client.seen_frame;
  client.seen_frame = true;
  client.seen_ordinary_frame = client.seen_ordinary_frame || ordinary;
  if (!first && !first_ordinary) return;
  give_turn();  // away from one that only looks on, or to one that has begun to speak
  if (!client.peeks && has_turn(client)) {
    client.channel.set_feed(client.is_observer() ? RingFeed::reads : RingFeed::takes);
  }
}

void Router::client_request(Client& client, Frame frame) {
  if (options_.control && is_control(frame.method)) {
    ++statistics_.control_requests;
    control_request(client, std::move(frame));
    return;
  }
  ++statistics_.requests;
  if (frame.method == "server/discover") {
    // A legacy server may not survive the question.
    statistics_.end(MethodClass::session, Outcome::error);
    const std::string_view id = frame.text(frame.id);
    client.channel.answer(id, error_reply(id, json_rpc::method_not_found, "Method not found"),
                          AnswerOrder::in_order);
    return;
  }
  if (frame.method == "initialize") {
    client.declared.initialize(find_member(frame.text(frame.params), "capabilities").value_or(""));
  }
  enqueue(client, std::move(frame));
}

// A client that does not read must not make the bridge fill its queue: it is not read either.
void Router::control_request(Client& client, Frame frame) {
  if (client.control_waiting.empty() && !client.channel.congested()) {
    answer_control(client, frame);
  } else if (client.channel.hold_input()) {
    client.control_waiting.push(std::move(frame), loop_.now());
  } else {
    log_.peer(LogLevel::warning, "control unanswered", {.client = client.id()},
              "a control request was not answered: its client's queue is full");
  }
}

void Router::answer_control(Client& client, const Frame& frame) {
  std::string answer = control_->answer(frame);
  // What follows an answer to bridge/notifications must be newer than it; the others hurry.
  const AnswerOrder order =
      frame.method == "bridge/notifications" ? AnswerOrder::in_order : AnswerOrder::ahead;
  client.channel.answer(frame.text(frame.id), std::move(answer), order);
}

/// The client's queue has room again.
void Router::answer_waiting_control(Client& client) {
  while (!client.control_waiting.empty() && !client.channel.congested()) {
    answer_control(client, client.control_waiting.take_front().frame);
  }
  if (client.channel.congested()) return;
  client.channel.release_input();
  finish_if_done(client);
}

void Router::client_notification(Client& client, Frame frame) {
  if (options_.control && is_control(frame.method)) {
    if (frame.method == "bridge/peek") {
      client.peeks = true;
      client.channel.set_feed(RingFeed::none);
    } else if (frame.method == "bridge/answers") {
      client_declares(client, frame);
    }
    return;
  }
  if (frame.method == "notifications/initialized") {
    client.declared.initialized();  // the bridge has sent its own, once
    offer_parked();
    return;
  }
  if (frame.method == "notifications/cancelled") {
    client_cancels(client, std::move(frame));
    return;
  }
  enqueue(client, std::move(frame));
}

void Router::client_cancels(Client& client, Frame frame) {
  const std::string_view wanted = frame.text(frame.request_id);
  if (wanted.empty()) return;
  if (const WaitingFrame* waiting = client.waiting.find_request(wanted)) {
    if (waiting->frame.method != "initialize") {
      const WaitingFrame dropped = client.waiting.take_request(wanted);
      statistics_.end(class_of(dropped.frame.method), Outcome::cancelled);
      client.channel.no_answer(dropped.frame.text(dropped.frame.id));
    }
    finish_if_done(client);
    return;
  }
  for (const UpstreamId id : client.in_flight) {
    const PendingRequest* pending = pending_.find(id);
    if (pending == nullptr || !same_id(pending->client_request_id, wanted)) continue;
    if (pending->method == "initialize") return;
    if (session_.is_open()) {
      std::string body = std::move(frame.bytes);
      const std::string number = std::to_string(value_of(id));
      splice(body, {frame.request_id, number});
      send_notification(std::move(body));
    }
    session_.abandon(id);
    const ClientId client_id = client.id();
    if (const auto ended = end_pending(id)) {
      note_end(id, *ended, Outcome::cancelled);
      client.channel.no_answer(ended->client_request_id);
      after_pending(*ended);
    }
    if (Client* still = find(client_id)) finish_if_done(*still);
    return;
  }
}

void Router::client_declares(Client& client, const Frame& frame) {
  if (!client.declared.name_methods(frame.text(frame.params))) {
    log_.peer(LogLevel::warning, "declaration ignored", {.client = client.id()},
              "bridge/answers needs params {{\"methods\": [NAME, ...]}} with at most {} names",
              DeclaredAnswers::max_methods);
    return;
  }
  offer_parked();
}

void Router::client_answer(Client& client, Frame frame) {
  const auto number = to_unsigned(frame.text(frame.id));
  ServerRequest* request = number ? server_requests_.find(*number) : nullptr;
  const bool is_unasked = request != nullptr && !request->asked && request->shown;
  const bool may_answer = request != nullptr && (request->asked == client.id() ||
                                                 (is_unasked && client.channel.answers_unasked()));
  if (!may_answer) {
    ++statistics_.unknown_answers;
    log_.peer(LogLevel::info, "unknown answer of a client", {.client = client.id()},
              "a client's answer to nothing it was asked was dropped");
    return;
  }
  if (request->asked && is_method_not_found(frame) && pass_on(*request)) return;
  std::string body = std::move(frame.bytes);
  splice(body, {frame.id, request->upstream_request_id});
  server_requests_.remove(*request);
  answer_upstream(std::move(body));
}

void Router::enqueue(Client& client, Frame frame) {
  const std::size_t size = WaitingFrames::charge_of(frame);
  if (shutting_down_) {
    if (frame.is_request()) {
      reply_failure(client, frame.method, frame.text(frame.id), shutdown_failure(Delivered::no));
    }
    return;
  }
  if (!client.waiting.empty() && client.waiting.held() + size > options_.client_buffer) {
    if (frame.is_request()) {
      reply_failure(
          client, frame.method, frame.text(frame.id),
          failure_of(ErrorKind::overloaded, Delivered::no,
                     fmt::format("too many requests are waiting: over {} bytes (--client-buffer)",
                                 options_.client_buffer)));
    } else {
      ++statistics_.dropped_notifications;
      log_.peer(LogLevel::warning, "notification of a client dropped", {.client = client.id()},
                "a client's notification was dropped: its frames fill --client-buffer");
    }
    return;
  }
  const auto now = loop_.now();
  client.waiting.push(std::move(frame), now);
  if (!session_.is_open()) expiry_.set_at_latest(now + options_.connect_wait);
  pump(client);
}

}  // namespace bridge
