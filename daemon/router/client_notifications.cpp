#include "router/client_notifications.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds handing_over_time{30};

}  // namespace

ClientNotifications::ClientNotifications(const RouterContext& context, ByteBudget& budget,
                                         std::function<void(Client&)> handed_over)
    : context_(context),
      budget_(budget),
      handed_over_(std::move(handed_over)),
      too_slow_(context.loop, [this] { stop_waiting(); }) {}

void ClientNotifications::send_notification(Client& client, std::string body) {
  const SteadyTime now = context_.loop.now();
  EraSession& session = context_.session.serving(client.era);
  client.notification = {context_.upstream.notify(std::move(body), session), now};
  too_slow_.set_at_latest(now + handing_over_time);
}

bool ClientNotifications::client_left(const Client& client, std::deque<std::string> rest) {
  if (rest.empty()) return false;
  OrphanedQueue& queue = orphaned_.emplace_back(budget_);
  queue.bodies = std::move(rest);
  queue.client = client.era;
  queue.left_at = context_.loop.now();
  for (const std::string& body : queue.bodies) queue.share.add(body.size());
  if (client.notification) {
    queue.under_way = client.notification->id;
  } else if (context_.session.serving(client.era).is_open()) {
    send_next(std::prev(orphaned_.end()));
  } else {
    return true;
  }
  return false;
}

/// Sends the next notification of this queue; removes an empty queue. Returns the queue after it.
ClientNotifications::Queues::iterator ClientNotifications::send_next(Queues::iterator queue) {
  if (queue->bodies.empty()) return orphaned_.erase(queue);
  std::string body = std::move(queue->bodies.front());
  queue->bodies.pop_front();
  queue->share.remove(body.size());
  queue->under_way =
      context_.upstream.notify(std::move(body), context_.session.serving(queue->client));
  return std::next(queue);
}

void ClientNotifications::notification_ended(UpstreamId id) {
  const auto queue = std::find_if(orphaned_.begin(), orphaned_.end(),
                                  [id](const auto& one) { return one.under_way == id; });
  if (queue != orphaned_.end()) {
    queue->under_way.reset();
    if (context_.session.serving(queue->client).is_open()) send_next(queue);
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

/// A notification that takes too long no longer delays its client's next frame.
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
  for (auto queue = orphaned_.begin(); queue != orphaned_.end();)
    queue = queue->under_way || !context_.session.serving(queue->client).is_open()
                ? std::next(queue)
                : send_next(queue);
}

bool ClientNotifications::expire() {
  const SteadyTime then = context_.loop.now() - context_.options.connect_wait;
  orphaned_.remove_if([&](const OrphanedQueue& queue) {
    if (queue.under_way || queue.left_at > then) return false;
    context_.statistics.dropped_notifications += queue.bodies.size();
    return true;
  });
  return std::any_of(orphaned_.begin(), orphaned_.end(),
                     [](const OrphanedQueue& queue) { return !queue.under_way; });
}

}  // namespace bridge
