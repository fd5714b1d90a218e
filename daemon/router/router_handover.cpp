// What another image of the program is to go on with.
#include <utility>

#include "router/kept_request.hpp"
#include "router/router.hpp"

namespace bridge {

void Router::pause() {
  frames_.pause();
  listens_.end_left_behind();
  listens_.answer_waiting();
  suspended_calls_.ask_gathered();
}

bool Router::is_quiet() const {
  return in_flight_.left_behind() == 0 && !context_.session.is_trying();
}

// What the upstream has asked goes along, but for what belongs to one of these.
void Router::end_unfinished() {
  suspended_calls_.ask_gathered();
  in_flight_.give_up_left_behind(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before the answer came (it waited for --grace)"),
      "the bridge is being upgraded");
}

std::vector<KeptClient> Router::clients_to_keep() const {
  std::vector<KeptClient> served;
  std::vector<KeptClient> others;
  for (const auto& [id, client] : clients_) {
    if (client->is_job || !client->channel.survives_upgrade({})) continue;
    KeptClient kept;
    kept.id = value_of(id);
    kept.served = frames_.is_served(*client);
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
    client->control.each(keep_in(kept.control));
    kept.subscriptions = restorable_.subscriptions().uris_of(id);
    (kept.served ? served : others).push_back(std::move(kept));
  }
  std::move(others.begin(), others.end(), std::back_inserter(served));
  return served;
}

void Router::client_continued(ClientChannel& channel, KeptClient kept) {
  Client& client = clients_.add(channel, context_.session.tap(), budget_);
  client.declared = std::move(kept.declared);
  client.capabilities = std::move(kept.capabilities);
  client.info = std::move(kept.info);
  client.era = kept.modern ? Era::modern : Era::legacy;
  client.half_closed = kept.half_closed;
  client.peeks = kept.peeks;
  client.seen_frame = kept.seen_frame;
  client.seen_ordinary_frame = kept.seen_ordinary_frame;
  for (const std::string& uri : kept.subscriptions)
    restorable_.subscriptions().accepted(uri, client.id());
  for (std::string& bytes : kept.control) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed))
      client.control.push(std::move(*frame), context_.loop.now());
  }
  frames_.client_continued(client, std::move(kept.waiting));
  clients_.finish_if_done(client);
}

bool Router::survives_upgrade(ClientId client, std::string_view raw_id) const {
  const Client* const its = clients_.find(client);
  return its != nullptr && in_flight_.survives_upgrade(*its, raw_id);
}

std::pair<UpstreamId, std::string> Router::sent_request(ClientId client,
                                                        std::string_view raw_id) const {
  const Client* const its = clients_.find(client);
  if (its == nullptr) return {};
  for (const UpstreamId id : its->in_flight) {
    const PendingRequest& request = *in_flight_.find(id);
    if (request.client_request_id == raw_id)
      return {id, request.rounds ? request.rounds->original : std::string()};
  }
  return {};
}

std::string Router::waiting_request(ClientId client, std::string_view raw_id) const {
  Client* const its = clients_.find(client);
  const WaitingFrame* const waiting = its != nullptr ? its->waiting.find_request(raw_id) : nullptr;
  return waiting != nullptr ? waiting->frame.bytes : std::string();
}

Control::Reply Router::control_continued(ClientId client, std::string_view raw_id) {
  return control_.reply_continued(*clients_.find(client), raw_id);
}

void Router::request_continued(KeptRequest kept, bool is_awaited) {
  in_flight_.go_on_with(std::move(kept), is_awaited);
}

}  // namespace bridge
