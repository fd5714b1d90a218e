#include "router/client_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

/// What a legacy server may ask about a modern client's request, beside elicitation.
constexpr std::string_view asked_of_modern_clients = R"({"sampling":{},"roots":{}})";

}  // namespace

ClientFrames::ClientFrames(const RouterContext& context, ByteBudget& budget,
                           RestorableState& restorable, const EraTranslator& translator,
                           RequestsInFlight& in_flight, Listens& listens,
                           SuspendedCalls& suspended_calls)
    : context_(context),
      restorable_(restorable),
      translator_(translator),
      in_flight_(in_flight),
      listens_(listens),
      suspended_calls_(suspended_calls),
      served_(context.clients, context.options.sequential),
      slots_(context.options.max_inflight),
      notifications_(context, budget, [this](Client& client) { start_waiting(client); }),
      not_open_since_{context.loop.now(), context.loop.now()},
      expiry_(context.loop, [this] { expire(); }) {}

void ClientFrames::client_left(Client& client) {
  slots_.client_left(client.id());
  std::deque<std::string> notifications;
  while (!client.waiting.empty()) {
    WaitingFrame waiting = client.waiting.take_front();
    if (waiting.frame.is_request()) {
      context_.statistics.end(class_of(waiting.frame.method), Outcome::left);
    } else {
      notifications.push_back(std::move(waiting.frame.bytes));
    }
  }
  if (shut_down_) return;
  if (notifications_.client_left(client, std::move(notifications)))
    expiry_.set_at_latest(context_.loop.now() + context_.session_timeout());
}

void ClientFrames::resume() {
  paused_ = false;
  pass_slots_on();
  for (const auto& [id, client] : context_.clients) start_waiting(*client);
}

void ClientFrames::client_continued(Client& client, std::vector<std::string> waiting) {
  served_.connected(client);
  const SteadyTime now = context_.loop.now();
  for (std::string& bytes : waiting) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed)) client.waiting.push(std::move(*frame), now);
  }
  if (!client.waiting.empty() && !is_open_for(client, client.waiting.front().frame))
    expiry_.set_at_latest(now + context_.session_timeout());
}

void ClientFrames::choose_served() {
  if (Client* client = served_.choose()) start_waiting(*client);
}

void ClientFrames::add(Client& client, Frame&& frame) {
  if (shut_down_) {
    refuse(client, frame, *shut_down_);
    return;
  }
  const std::size_t limit = context_.options.client_buffer;
  if (!client.waiting.empty() && client.waiting.held() + WaitingFrames::charge_of(frame) > limit) {
    refuse(client, frame,
           failure_of(ErrorKind::overloaded, Delivered::no,
                      fmt::format("too many requests are waiting: over {} bytes (--client-buffer)",
                                  limit)));
    if (!frame.is_request()) {
      context_.log.peer(LogLevel::warning, "notification of a client dropped",
                        {.client = client.id()},
                        "a client's notification was dropped: its frames fill --client-buffer");
    }
    return;
  }
  const SteadyTime now = context_.loop.round_began();
  const bool is_open = is_open_for(client, frame);
  client.waiting.push(std::move(frame), now);
  if (!is_open) expiry_.set_at_latest(now + context_.session_timeout());
  start_waiting(client);
}

bool ClientFrames::cancel(Client& client, std::string_view raw_id) {
  const WaitingFrame* const found = client.waiting.find_request(raw_id);
  if (found == nullptr) return false;
  if (found->frame.method != "initialize"sv) {
    const WaitingFrame dropped = client.waiting.take_request(raw_id);
    context_.statistics.end(class_of(dropped.frame.method), Outcome::cancelled);
    client.channel.no_answer(dropped.frame.text(dropped.frame.id));
    context_.clients.finish_if_done(client);
  }
  return true;
}

void ClientFrames::request_ended(const PendingRequest& request) {
  pass_slots_on();
  if (Client* client = context_.clients.find(request.client)) start_waiting(*client);
}

void ClientFrames::slot_freed(Client& client) {
  pass_slots_on();
  start_waiting(client);
}

/// Starts what may go of this client's frames.
void ClientFrames::start_waiting(Client& client) {
  if (!paused_ && served_.is_served(client)) {
    while (!client.waiting.empty() && !client.notification && start_front(client)) {
    }
  }
  context_.clients.finish_if_done(client);
}

/// Starts or answers the client's next frame; false if it has to wait.
bool ClientFrames::start_front(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (frame.is_request() && frame.method == "initialize"sv) return start_initialize(client);
  if (!is_open_for(client, frame)) return start_without_session(client);
  if (!frame.is_request()) {
    Frame notification = client.waiting.take_front().frame;
    if (!translator_.swallows(notification, client.era))
      notifications_.start(client, std::move(notification.bytes));
    return true;
  }
  if (answer_front(client)) return true;
  if (client.slots_taken() >= context_.options.client_inflight ||
      !slots_.admits(client, in_flight_.slots_used()))
    return false;
  start_request(client);
  return true;
}

/// Answers a request that takes no slot. False if the upstream is asked.
bool ClientFrames::answer_front(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (takes_id_of_listen(client, frame)) {
    const Frame refused = client.waiting.take_front().frame;
    answer_with_error(
        client, refused, json_rpc::invalid_request,
        "Invalid Request: the id is that of a request that is open; the notifications "
        "of a subscriptions/listen name it");
    return true;
  }
  if (frame.method == "server/discover"sv) {
    const Frame asked = client.waiting.take_front().frame;
    const ServerDescription& server = *context_.session.server_for(client.era_of(asked));
    answer_here(client, asked, MethodClass::session,
                server.discover_result(context_.session.target()));
    return true;
  }
  if (frame.method == "subscriptions/listen"sv) return start_listen(client);
  return answer_for_upstream(client);
}

bool ClientFrames::start_initialize(Client& client) {
  Session& session = context_.session;
  if (const ServerDescription* server = session.server_for(Era::legacy)) {
    const Frame frame = client.waiting.take_front().frame;
    const std::string asked = protocol_version_of(frame.text(frame.params));
    answer_here(client, frame, MethodClass::session, server->initialize_result_for(asked));
    return true;
  }
  if (!session.wants_initialize()) {
    session.require(Era::legacy);
    return false;
  }
  expiry_.set_at_latest(client.waiting.front().since + context_.session_timeout());
  in_flight_.open_session(client, client.waiting.take_front());
  return true;
}

void ClientFrames::start_request(Client& client) {
  if (answer_unsubscribe(client)) return;
  WaitingFrame request = client.waiting.take_front();
  if (!suspended_calls_.take_retry(client, request)) in_flight_.start(client, std::move(request));
}

/// Answers an unsubscribe of what others still want. False if its front is none.
bool ClientFrames::answer_unsubscribe(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (frame.method != "resources/unsubscribe"sv) return false;
  const std::string uri = RestorableState::subject_of(frame);
  if (listens_.is_subscribed(uri)) {
    restorable_.accepted(frame, client.id());
  } else if (!restorable_.subscriptions().still_wanted_without(uri, client.id())) {
    return false;
  }
  answer_here(client, client.waiting.take_front().frame, MethodClass::subscribe, "{}");
  return true;
}

/// Gives free slots to the clients that wait for one, in turn, one request each.
void ClientFrames::pass_slots_on() {
  while (!paused_) {
    Client* const client = slots_.next(context_.clients, in_flight_.slots_used());
    if (client == nullptr) return;
    if (client->notification || client->waiting.empty()) continue;
    const Frame& front = client->waiting.front().frame;
    if (!is_open_for(*client, front)) continue;
    // What has waited for the slot may have been cancelled since: this may be another request.
    if (front.is_request() && front.method != "initialize"sv && !answer_front(*client) &&
        client->slots_taken() < context_.options.client_inflight) {
      start_request(*client);
    }
    start_waiting(*client);
  }
}

void ClientFrames::fail_all(const Failure& failure, std::optional<Era> side) {
  const Session& session = context_.session;
  const auto waits_for_it = [&](const Client& client) {
    if (client.waiting.empty()) return false;
    const Era era = client.era_of(client.waiting.front().frame);
    return !side || session.speaks_neither() || session.side_for(era) == *side;
  };
  for (const auto& [id, client] : context_.clients) {
    while (waits_for_it(*client)) refuse(*client, client->waiting.take_front().frame, failure);
    context_.clients.finish_if_done(*client);
  }
}

void ClientFrames::shut_down(const Failure& failure) {
  shut_down_ = failure;
  fail_all(failure);
}

bool ClientFrames::has_request_for(Era side) const {
  const Clients& clients = context_.clients;
  return !shut_down_ && std::any_of(clients.begin(), clients.end(), [&](const auto& entry) {
    const Client& client = *entry.second;
    return served_.is_served(client) && client.waiting.has_request() &&
           context_.session.side_for(client.era_of(client.waiting.front().frame)) == side;
  });
}

std::string ClientFrames::declared_capabilities() const {
  const auto names_roots = [](const Client& client) {
    return !client.is_job && client.declared.covers("roots/list", AskedFor::roots);
  };
  const WaitingFrame* first = nullptr;
  for (const auto& [id, client] : context_.clients) {
    if (client->waiting.empty()) continue;
    const WaitingFrame& front = client->waiting.front();
    if (!front.frame.is_modern() && !names_roots(*client)) continue;
    if (first == nullptr || front.since < first->since) first = &front;
  }
  if (first == nullptr) return {};
  const Frame& frame = first->frame;
  if (!frame.is_modern()) return R"({"roots":{"listChanged":true}})";
  // Other modern clients may declare more; what a request's client has not declared is refused.
  const std::string_view declared = frame.text(frame.reserved.client_capabilities);
  return merge_capabilities(declared.size() <= longest_capabilities ? declared : "{}",
                            asked_of_modern_clients);
}

std::size_t ClientFrames::waiting() const {
  std::size_t count = 0;
  for (const auto& [id, client] : context_.clients) count += client->waiting.size();
  return count;
}

}  // namespace bridge
