#include "router/router_handover.hpp"

#include <iterator>

namespace bridge {

void RouterHandover::resume() {
  router_.frames_.resume();
  for (const auto& [id, client] : router_.clients_) {
    if (!client->channel.congested()) router_.control_.answer_waiting(*client);
  }
}

void RouterHandover::pause() {
  router_.frames_.pause();
  router_.listens_.end_left_behind();
  router_.listens_.answer_waiting();
  router_.suspended_calls_.ask_gathered();
}

bool RouterHandover::is_quiet() const {
  return router_.in_flight_.left_behind() == 0 && !router_.context_.session.is_trying();
}

// What the upstream has asked goes along, but for what belongs to one of these.
void RouterHandover::end_unfinished() {
  router_.suspended_calls_.ask_gathered();
  router_.in_flight_.give_up_left_behind(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before the answer came (it waited for --grace)"),
      "the bridge is being upgraded");
}

void RouterHandover::fail_unanswered_control() {
  router_.control_.fail_unanswered(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before it answered; ask again"));
}

std::vector<KeptClient> RouterHandover::clients() const {
  std::vector<KeptClient> served;
  std::vector<KeptClient> others;
  for (const auto& [id, client] : router_.clients_) {
    if (client->is_job || !client->channel.survives_upgrade({})) continue;
    KeptClient kept;
    kept.id = value_of(id);
    kept.served = router_.frames_.is_served(*client);
    kept.declared = client->declared;
    kept.capabilities = client->capabilities;
    kept.info = client->info;
    kept.modern = client->era == Era::modern;
    kept.half_closed = client->half_closed;
    kept.peeks = client->peeks;
    kept.seen_frame = client->seen_frame;
    kept.seen_ordinary_frame = client->seen_ordinary_frame;
    const auto keep_in = [&client = *client](std::vector<std::string>& frames) {
      return [&client, &frames](const Frame& frame) {
        // A caller that is told that it goes no further must find it so.
        if (!frame.is_request() || client.channel.survives_upgrade(frame.text(frame.id)))
          frames.push_back(frame.bytes);
      };
    };
    client->waiting.each(keep_in(kept.waiting));
    kept.control = ControlRequests::to_handle_again(*client);
    client->control.each(keep_in(kept.control));
    kept.subscriptions = router_.restorable_.subscriptions().uris_of(id);
    (kept.served ? served : others).push_back(std::move(kept));
  }
  std::move(others.begin(), others.end(), std::back_inserter(served));
  return served;
}

void RouterHandover::go_on_with(ClientChannel& channel, KeptClient kept) {
  Client& client = router_.clients_.add(channel, router_.context_.session.tap(), router_.budget_);
  client.declared = std::move(kept.declared);
  client.capabilities = std::move(kept.capabilities);
  client.info = std::move(kept.info);
  client.era = kept.modern ? Era::modern : Era::legacy;
  client.half_closed = kept.half_closed;
  client.peeks = kept.peeks;
  client.seen_frame = kept.seen_frame;
  client.seen_ordinary_frame = kept.seen_ordinary_frame;
  for (const std::string& uri : kept.subscriptions)
    router_.restorable_.subscriptions().accepted(uri, client.id());
  for (std::string& bytes : kept.control) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed))
      client.control.push(std::move(*frame), router_.context_.loop.now());
  }
  router_.frames_.client_continued(client, std::move(kept.waiting));
  router_.clients_.finish_if_done(client);
}

bool RouterHandover::survives_upgrade(ClientId client, std::string_view raw_id) const {
  const Client* const its = router_.clients_.find(client);
  return its != nullptr && router_.in_flight_.survives_upgrade(*its, raw_id);
}

std::pair<UpstreamId, std::string> RouterHandover::sent_request(ClientId client,
                                                                std::string_view raw_id) const {
  const Client* const its = router_.clients_.find(client);
  if (its == nullptr) return {};
  for (const UpstreamId id : its->in_flight) {
    const PendingRequest& request = *router_.in_flight_.find(id);
    if (request.client_request_id == raw_id)
      return {id, request.rounds ? request.rounds->original : std::string()};
  }
  return {};
}

std::string RouterHandover::waiting_request(ClientId client, std::string_view raw_id) const {
  Client* const its = router_.clients_.find(client);
  const WaitingFrame* const waiting = its != nullptr ? its->waiting.find_request(raw_id) : nullptr;
  return waiting != nullptr ? waiting->frame.bytes : std::string();
}

Control::Reply RouterHandover::continued_reply(ClientId client, std::string_view raw_id) {
  return router_.control_.reply_continued(*router_.clients_.find(client), raw_id);
}

}  // namespace bridge
