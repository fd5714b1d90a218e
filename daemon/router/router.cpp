#include "router/router.hpp"

#include <utility>
#include <vector>

#include "json/reply.hpp"

namespace bridge {

namespace {

Failure shutdown_failure(Delivered delivered) {
  return failure_of(ErrorKind::shutdown, delivered, "the bridge is shutting down");
}

}  // namespace

Router::Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
               ByteBudget& budget, Log& log, RouterOptions options)
    : parts_(
          loop, ids, session, feed, budget, log, std::move(options),
          [this](Client& client) { from_clients_.client_done(client); },
          [this] { grants_ended(); }),
      from_clients_(parts_),
      from_upstream_(parts_),
      others_(parts_) {
  parts_.permissions.grants().set_most(parts_.options.grants);
  feed.ring().on_dropped([&log](std::uint64_t dropped) {
    log.peer(LogLevel::warning, "notification dropped",
             "a notification left the ring before any client had read it ({} so far)", dropped);
  });
}

void Router::start() {
  parts_.listens.update();
  if (parts_.options.handshake == Handshake::eager) parts_.context.session.require();
}

void Router::reconfigure(const RouterOptions& options) {
  parts_.options.orphans = options.orphans;
  parts_.options.connect_wait = options.connect_wait;
  parts_.options.park_requests = options.park_requests;
  parts_.options.input_wait = options.input_wait;
}

void Router::take_policy(std::shared_ptr<const PolicyFile> policy, bool tells) {
  parts_.permissions.take_policy(std::move(policy));
  for (const auto& [id, client] : parts_.clients) from_clients_.take_rule(*client);
  rules_changed();
  if (tells) from_upstream_.publish_all_lists();
}

void Router::grants_ended() {
  std::vector<ClientId> ended;
  for (const auto& [id, client] : parts_.clients) {
    if (!client->grant || client->grant_is_over || !parts_.permissions.has_ended(*client->grant))
      continue;
    client->grant_is_over = true;
    from_clients_.take_rule(*client);
    ended.push_back(id);
  }
  if (ended.empty()) return;
  parts_.questions.policy_changed();
  parts_.control.policy_changed();
  for (const ClientId id : ended) {
    Client* const client = parts_.clients.find_client(id);
    if (client == nullptr) continue;
    client->channel.grant_ended();
    parts_.frames.policy_changed(client);
    parts_.listens.grant_ended(id);
  }
}

/// What waits is judged by the clients' new rules.
void Router::rules_changed() {
  parts_.questions.policy_changed();
  parts_.control.policy_changed();
  parts_.frames.policy_changed();
}

void Router::begin_shutdown() {
  const Failure failure = shutdown_failure(Delivered::no);
  parts_.frames.shut_down(failure);
  parts_.context.session.give_up_held(failure);
  parts_.crossings.fail_waiting(failure);
  parts_.crossings.end_suspended();
  parts_.listens.end_all();
  parts_.clients.finish_done();
}

void Router::end_shutdown(bool keeps_jobs) {
  parts_.in_flight.give_up_all(shutdown_failure(Delivered::unknown), keeps_jobs);
  parts_.clients.finish_done();
}

std::vector<UpstreamId> Router::unanswered() const {
  return parts_.in_flight.calls().all([](const Call& call) {
    return call.awaits_upstream() && call.kind != Call::Kind::opens_session;
  });
}

}  // namespace bridge
