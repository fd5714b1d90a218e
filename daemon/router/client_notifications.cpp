#include "router/client_notifications.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds handing_over_time{30};

}  // namespace

ClientNotifications::ClientNotifications(const RouterContext& context, ByteBudget& budget,
                                         std::function<void(Client&)> handed_over)
    : context_(context),
      handed_over_(std::move(handed_over)),
      departed_(budget),
      too_slow_(context.loop, [this] { stop_waiting(); }) {}

void ClientNotifications::start(Client& client, std::string body) {
  const SteadyTime now = context_.loop.now();
  client.notification = {context_.upstream.notify(std::move(body)), now};
  too_slow_.set_at_latest(now + handing_over_time);
}

bool ClientNotifications::client_left(const Client& client, std::deque<std::string> rest) {
  if (rest.empty()) return false;
  std::optional<UpstreamId> under_way;
  if (client.notification) under_way = client.notification->id;
  auto& queue = departed_.add(std::move(rest), under_way, context_.loop.now());
  if (under_way) return false;
  if (!context_.session.is_open()) return true;
  send_next(queue);
  return false;
}

void ClientNotifications::send_next(DepartedNotifications::OrphanedQueue& queue) {
  if (auto body = departed_.next(queue))
    queue.under_way = context_.upstream.notify(*std::move(body));
}

void ClientNotifications::ended(UpstreamId id) {
  if (auto* queue = departed_.find(id)) {
    queue->under_way.reset();
    if (context_.session.is_open()) send_next(*queue);
    return;
  }
  Client* its = nullptr;
  bool others_are_under_way = false;
  for (const auto& [client_id, client] : context_.clients) {
    if (!client->notification) continue;
    if (client->notification->id == id) {
      its = client.get();
    } else {
      others_are_under_way = true;
    }
  }
  if (its == nullptr) return;
  its->notification.reset();
  if (!others_are_under_way) too_slow_.clear();
  handed_over_(*its);
}

/// A notification that takes this long to be handed over holds its client's next frame up no more.
void ClientNotifications::stop_waiting() {
  const SteadyTime now = context_.loop.now();
  for (const auto& [id, client] : context_.clients) {
    if (!client->notification) continue;
    const SteadyTime due = client->notification->since + handing_over_time;
    if (due > now) {
      too_slow_.set_at_latest(due);
      continue;
    }
    client->notification.reset();
    handed_over_(*client);
  }
}

void ClientNotifications::session_open() {
  departed_.each_resting([this](DepartedNotifications::OrphanedQueue& queue) { send_next(queue); });
}

bool ClientNotifications::expire() {
  context_.statistics.dropped_notifications +=
      departed_.expire(context_.loop.now() - context_.options.connect_wait);
  return !departed_.empty();
}

}  // namespace bridge
