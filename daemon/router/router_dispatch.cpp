// What may go upstream now: the order of a client's frames, the bounds on requests in flight, and
// the patience of those who wait for a session.
#include <algorithm>
#include <utility>

#include "jsonrpc/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "router/router.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds handing_over_time{30};

}  // namespace

void Router::pump(Client& client) {
  const ClientId id = client.id();
  if (has_turn(client)) {
    while (!client.waiting.empty() && !client.notification_under_way && start_front(client)) {
      // What was started may have ended the client.
      if (find(id) != &client) return;
    }
  }
  finish_if_done(client);
}

void Router::pump_all() {
  each_client([this](Client& client) { pump(client); });
}

/// Starts the frame whose turn it is; false if it has to wait.
bool Router::start_front(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (frame.is_request() && frame.method == "initialize") return start_initialize(client);
  if (!session_.is_open()) return start_without_session(client);
  if (!frame.is_request()) {
    start_notification(client, client.waiting.take_front());
    return true;
  }
  if (client.in_flight.size() >= options_.client_inflight) return false;
  if (slots_used_ >= options_.max_inflight) {
    if (!std::exchange(client.waits_for_slot, true)) slot_queue_.push_back(client.id());
    return false;
  }
  // Whoever already waits for a slot comes first.
  if (!slot_queue_.empty() && !client.waits_for_slot) {
    client.waits_for_slot = true;
    slot_queue_.push_back(client.id());
    return false;
  }
  return start_request(client);
}

bool Router::start_initialize(Client& client) {
  if (!session_.initialize_result().empty()) {
    const WaitingFrame waiting = client.waiting.take_front();
    const Frame& frame = waiting.frame;
    const std::string asked = protocol_version_of(frame.text(frame.params));
    statistics_.end(MethodClass::session, Outcome::ok);
    client.channel.answer(frame.text(frame.id),
                          result_reply(frame.text(frame.id),
                                       initialize_result_for(session_.initialize_result(), asked)),
                          AnswerOrder::in_order);
    return true;
  }
  if (!session_.wants_initialize()) {
    session_.require();
    return false;
  }
  WaitingFrame waiting = client.waiting.take_front();
  Frame& frame = waiting.frame;
  const UpstreamId id = ids_.next();
  PendingRequest pending;
  pending.client = client.id();
  pending.client_request_id = std::string(frame.text(frame.id));
  pending.progress_token = std::string(frame.text(frame.progress_token));
  pending.method = frame.method;
  pending.takes_slot = false;
  pending.received = waiting.since;
  pending.sent = loop_.now();
  note_trace(pending, frame);
  log_started(id, pending_.add(id, std::move(pending)));
  client.in_flight.push_back(id);
  std::string params = params_to_keep(frame);
  std::string body = std::move(frame.bytes);
  const std::string number = std::to_string(value_of(id));
  splice(body, {frame.id, number}, {frame.progress_token, number});
  expiry_.set_at_latest(waiting.since + options_.connect_wait);
  session_.open_with(id, std::move(body), std::move(params));
  return true;
}

/// There is no session: only a request opens one, and a notification waits for that.
bool Router::start_without_session(Client& client) {
  const bool may_open = options_.handshake != Handshake::client ||
                        !session_.initialize_result().empty() || session_.is_coming();
  if (!may_open) {
    const WaitingFrame refused = client.waiting.take_front();
    if (refused.frame.is_request()) {
      reply_failure(
          client, refused.frame.method, refused.frame.text(refused.frame.id),
          failure_of(ErrorKind::not_initialized, Delivered::no, "session not initialized"));
    }
    return true;
  }
  if (client.waiting.has_request()) session_.require();
  return false;
}

bool Router::start_request(Client& client) {
  WaitingFrame waiting = client.waiting.take_front();
  Frame& frame = waiting.frame;
  PendingRequest pending;
  if (frame.method == "resources/subscribe" || frame.method == "resources/unsubscribe") {
    pending.subject = find_string(frame.text(frame.params), "uri").value_or(std::string());
    if (frame.method == "resources/unsubscribe" &&
        subscriptions_.still_wanted_without(pending.subject, client.id())) {
      statistics_.end(MethodClass::subscribe, Outcome::ok);
      const std::string_view id = frame.text(frame.id);
      client.channel.answer(id, result_reply(id, "{}"), AnswerOrder::in_order);
      return true;
    }
  } else if (frame.method == "logging/setLevel") {
    pending.subject = std::string(frame.text(frame.params));
  }
  const UpstreamId id = ids_.next();
  const std::string number = std::to_string(value_of(id));
  pending.client = client.id();
  pending.client_request_id = std::string(frame.text(frame.id));
  pending.progress_token = std::string(frame.text(frame.progress_token));
  pending.received = waiting.since;
  note_trace(pending, frame);

  Outgoing message;
  message.id = id;
  message.may_repeat = only_reads(frame.method);
  message.body = std::move(frame.bytes);
  splice(message.body, {frame.id, number}, {frame.progress_token, number});
  pending.method = std::move(frame.method);
  PendingRequest& started = pending_.add(id, std::move(pending));
  ++slots_used_;
  client.in_flight.push_back(id);
  log_started(id, started);
  session_.send(std::move(message));
  started.sent = loop_.now();
  if (client.channel.congested()) session_.pause(id, true);
  return true;
}

UpstreamId Router::send_notification(std::string body) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = OutgoingKind::notification;
  message.body = std::move(body);
  const UpstreamId id = message.id;
  session_.send(std::move(message));
  return id;
}

void Router::start_notification(Client& client, WaitingFrame waiting) {
  client.notification_under_way = send_notification(std::move(waiting.frame.bytes));
  client.notification_since = loop_.now();
  handing_over_.set_at_latest(client.notification_since + handing_over_time);
}

/// The client has left: its requests are dropped, its complete notifications still go.
void Router::keep_notifications_of(Client& client) {
  std::deque<std::string> bodies;
  while (!client.waiting.empty()) {
    WaitingFrame waiting = client.waiting.take_front();
    if (waiting.frame.is_request()) {
      statistics_.end(class_of(waiting.frame.method), Outcome::left);
    } else {
      bodies.push_back(std::move(waiting.frame.bytes));
    }
  }
  if (bodies.empty() || shutting_down_) return;
  const auto now = loop_.now();
  auto& orphaned = departed_.add(std::move(bodies), client.notification_under_way, now);
  if (orphaned.under_way) return;
  if (session_.is_open()) {
    send_next_of(orphaned);
  } else {
    expiry_.set_at_latest(now + options_.connect_wait);
  }
}

void Router::send_next_of(DepartedNotifications::OrphanedQueue& orphaned) {
  if (auto body = departed_.next(orphaned))
    orphaned.under_way = send_notification(std::move(*body));
}

/// A client's notification was handed over: its next frame may go.
void Router::notification_ended(UpstreamId id) {
  const auto found = std::find_if(clients_.begin(), clients_.end(), [id](const auto& entry) {
    return entry.second->notification_under_way == id;
  });
  if (found == clients_.end()) return;
  found->second->notification_under_way.reset();
  const bool none_left = std::none_of(clients_.begin(), clients_.end(), [](const auto& entry) {
    return entry.second->notification_under_way.has_value();
  });
  if (none_left) handing_over_.clear();
  pump(*found->second);
}

/// A notification that takes this long to be handed over holds its client's next frame up no more.
void Router::stop_waiting_for_notifications() {
  const SteadyTime long_ago = loop_.now() - handing_over_time;
  each_client([&](Client& client) {
    if (!client.notification_under_way) return;
    if (client.notification_since > long_ago) {
      handing_over_.set_at_latest(client.notification_since + handing_over_time);
      return;
    }
    client.notification_under_way.reset();
    pump(client);
  });
}

/// Gives free slots to the clients that wait for one, in turn, one request each.
void Router::pass_slots_on() {
  while (session_.is_open() && slots_used_ < options_.max_inflight && !slot_queue_.empty()) {
    Client* client = find(slot_queue_.front());
    slot_queue_.pop_front();
    if (client == nullptr) continue;
    client->waits_for_slot = false;
    if (client->notification_under_way || client->waiting.empty()) continue;
    const Frame& front = client->waiting.front().frame;
    if (front.is_request() && client->in_flight.size() < options_.client_inflight &&
        front.method != "initialize") {
      start_request(*client);
    }
    pump(*client);
  }
}

bool Router::wants_session() const {
  return !shutting_down_ && options_.handshake == Handshake::eager;
}

bool Router::frames_wait() const {
  if (shutting_down_) return false;
  return std::any_of(clients_.begin(), clients_.end(), [this](const auto& entry) {
    return has_turn(*entry.second) && entry.second->waiting.has_request();
  });
}

void Router::fail_waiting(Client& client, const Failure& failure) {
  while (!client.waiting.empty()) {
    const WaitingFrame waiting = client.waiting.take_front();
    if (waiting.frame.is_request()) {
      reply_failure(client, waiting.frame.method, waiting.frame.text(waiting.frame.id), failure);
    } else {
      ++statistics_.dropped_notifications;
    }
  }
  finish_if_done(client);
}

/// Answers those who have waited for a session for longer than --connect-wait.
void Router::expire_waiting() {
  if (session_.is_open()) return;
  const auto now = loop_.now();
  Failure failure = session_.last_failure().value_or(
      failure_of(ErrorKind::timeout, Delivered::no, "the upstream has not opened a session"));
  failure.delivered = Delivered::no;
  failure.message += fmt::format(" (waited {} ms, --connect-wait)", options_.connect_wait.count());
  std::optional<SteadyTime> next;
  const auto later = [&next](SteadyTime time) { next = next ? std::min(*next, time) : time; };

  std::vector<UpstreamId> initializing;
  for (const auto& [id, pending] : pending_) {
    if (pending.method == "initialize" && pending.client && session_.initialize_result().empty()) {
      initializing.push_back(id);
    }
  }
  for (const UpstreamId id : initializing) {
    const SteadyTime due = pending_.find(id)->received + options_.connect_wait;
    if (due > now) {
      later(due);
    } else if (session_.is_trying()) {
      later(now +
            std::chrono::milliseconds(500));  // it is being asked: its answer has its own time
    } else {
      session_.withdraw_initialize(id);
      const auto ended = end_pending(id);
      if (Client* client = find(*ended->client)) {
        reply_failure(*client, ended->method, ended->client_request_id, failure);
      }
      after_pending(*ended);
    }
  }
  each_client([&](Client& client) {
    if (!has_turn(client)) return;
    while (!client.waiting.empty()) {
      const SteadyTime due =
          std::max(client.waiting.front().since, not_open_since_) + options_.connect_wait;
      if (due > now) {
        later(due);
        break;
      }
      const WaitingFrame expired = client.waiting.take_front();
      if (expired.frame.is_request()) {
        reply_failure(client, expired.frame.method, expired.frame.text(expired.frame.id), failure);
      } else {
        ++statistics_.dropped_notifications;
      }
    }
    finish_if_done(client);
  });
  statistics_.dropped_notifications += departed_.expire(now - options_.connect_wait);
  if (!departed_.empty()) later(now + options_.connect_wait);
  if (next) expiry_.set(*next);
}

}  // namespace bridge
