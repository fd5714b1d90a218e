#include "router/router.hpp"

#include <algorithm>
#include <utility>

#include "mcp/handshake.hpp"

namespace bridge {

Router::Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
               ByteBudget& budget, Log& log, RouterOptions options)
    : loop_(loop),
      ids_(ids),
      session_(session),
      feed_(feed),
      budget_(budget),
      log_(log),
      options_(std::move(options)),
      departed_(budget),
      expiry_(loop, [this] { expire_waiting(); }),
      parking_(loop, [this] { expire_parked(); }),
      handing_over_(loop, [this] { stop_waiting_for_notifications(); }) {
  feed_.ring().on_dropped([this](std::uint64_t dropped) {
    log_.peer(LogLevel::warning, "notification dropped",
              "a notification left the ring before any client had read it ({} so far)", dropped);
  });
}

void Router::start() {
  not_open_since_ = loop_.now();
  if (options_.handshake == Handshake::eager) session_.require();
}

void Router::reconfigure(const RouterOptions& options) {
  options_.orphans = options.orphans;
  options_.connect_wait = options.connect_wait;
  options_.park_requests = options.park_requests;
}

Client* Router::find(ClientId id) {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second.get();
}

std::size_t Router::queued() const {
  std::size_t count = 0;
  for (const auto& [id, client] : clients_) count += client->waiting.size();
  return count;
}

void Router::client_connected(ClientChannel& channel) {
  auto client = std::make_unique<Client>(channel, budget_);
  Client& connected = *client;
  clients_.emplace(connected.id(), std::move(client));
  const ClientIdentity& identity = channel.identity();
  log_.event(LogLevel::debug, "client connected", {.client = identity.id},
             "a client has connected: {}, pid {}, uid {}", identity.kind, identity.pid,
             identity.uid);
  if (!served_) served_ = connected.id();
  if (!has_turn(connected)) channel.set_feed(RingFeed::none);
}

void Router::client_half_closed(ClientId id) {
  Client* client = find(id);
  if (client == nullptr) return;
  client->half_closed = true;
  release_server_requests(*client);
  finish_if_done(*client);
}

void Router::client_left(ClientId id) {
  Client* client = find(id);
  if (client == nullptr) return;
  log_.event(LogLevel::debug, "client left", {.client = id},
             "a client has left, with {} requests in flight", client->in_flight.size());
  drop_client(*client);
}

void Router::client_congestion(ClientId id, bool congested) {
  Client* client = find(id);
  if (client == nullptr) return;
  for (const UpstreamId request : client->in_flight) session_.pause(request, congested);
  if (!congested) answer_waiting_control(*client);
}

void Router::finish_if_done(Client& client) {
  if (!client.half_closed || !client.waiting.empty() || !client.in_flight.empty() ||
      !client.control_waiting.empty() || client.notification_under_way) {
    return;
  }
  ClientChannel& channel = client.channel;
  log_.event(LogLevel::debug, "client done", {.client = client.id()},
             "a client has had all its answers");
  drop_client(client);
  channel.finish();
}

// The client is gone, or done: what it leaves behind is settled, then the next one has its turn.
void Router::drop_client(Client& client) {
  const ClientId id = client.id();
  const std::vector<UpstreamId> in_flight = std::exchange(client.in_flight, {});
  const auto node = clients_.extract(id);
  subscriptions_.client_left(id);
  std::erase(slot_queue_, id);
  keep_notifications_of(client);
  for (const UpstreamId request : in_flight) {
    PendingRequest* pending = pending_.find(request);
    if (pending == nullptr) continue;
    if (pending->method == "initialize") {
      session_.withdraw_initialize(request);  // it goes on, for the session
      if (auto ended = end_pending(request)) {
        note_end(request, *ended, Outcome::left);
        after_pending(*ended);
      }
      continue;
    }
    if (options_.orphans == Orphans::finish) {
      pending->left = client.channel.identity().user();
      pending->client.reset();
      session_.pause(request, false);
      continue;
    }
    cancel_upstream(request, "the client has left");
    session_.abandon(request);
    if (auto ended = end_pending(request)) {
      note_end(request, *ended, Outcome::left);
      after_pending(*ended);
    }
  }
  release_server_requests(client);
  give_turn();
}

bool Router::has_turn(const Client& client) const {
  return !options_.sequential || served_ == client.id();
}

// The turn stays with a client until it leaves, or shows that it only looks on.
void Router::give_turn() {
  if (!options_.sequential) return;
  const Client* holder = served_ ? find(*served_) : nullptr;
  if (holder != nullptr && !holder->is_observer()) return;
  served_.reset();
  for (const auto& [id, client] : clients_) {
    if (client->is_observer()) continue;
    served_ = id;
    if (!client->peeks) client->channel.set_feed(RingFeed::takes);
    pump(*client);
    return;
  }
}

std::size_t Router::waiting_bytes(ClientId id) const {
  const auto found = clients_.find(id);
  return found == clients_.end()
             ? 0
             : found->second->waiting.held() + found->second->control_waiting.held();
}

std::optional<PendingRequest> Router::end_pending(UpstreamId id) {
  auto ended = pending_.take(id);
  if (!ended) return std::nullopt;
  if (ended->takes_slot) --slots_used_;
  drop_server_requests_of(id);
  if (ended->client) {
    if (Client* client = find(*ended->client)) std::erase(client->in_flight, id);
  }
  return ended;
}

void Router::after_pending(const PendingRequest& ended) {
  pass_slots_on();
  if (ended.client) {
    if (Client* client = find(*ended.client)) {
      pump(*client);
    }
  }
  if (shutting_down_ && pending_.size() == 0 && on_idle_) on_idle_();
}

void Router::cancel_upstream(UpstreamId id, std::string_view reason) {
  if (!session_.is_open()) return;
  send_notification(
      own_notification("notifications/cancelled",
                       fmt::format(R"({{"requestId":{},"reason":"{}"}})", value_of(id), reason)));
}

Failure Router::shutdown_failure(Delivered delivered) {
  return failure_of(ErrorKind::shutdown, delivered, "the bridge is shutting down");
}

void Router::begin_shutdown() {
  shutting_down_ = true;
  const Failure failure = shutdown_failure(Delivered::no);
  each_client([&](Client& client) { fail_waiting(client, failure); });
  session_.give_up_held(failure);
}

void Router::end_shutdown() {
  const Failure failure = shutdown_failure(Delivered::unknown);
  std::vector<UpstreamId> ids;
  for (const auto& [id, pending] : pending_) ids.push_back(id);
  for (const UpstreamId id : ids) {
    cancel_upstream(id, "the bridge is shutting down");
    session_.abandon(id);
    const auto ended = end_pending(id);
    if (!ended || !ended->client) continue;
    if (Client* client = find(*ended->client)) {
      reply_failure(*client, ended->method, ended->client_request_id, failure);
    }
  }
}

}  // namespace bridge
