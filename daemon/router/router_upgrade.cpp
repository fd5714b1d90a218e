#include "router/router_upgrade.hpp"

#include <iterator>
#include <utility>

namespace bridge {

void RouterUpgrade::resume() {
  router_.parts_.frames.resume();
  for (const auto& [id, client] : router_.parts_.clients) {
    if (!client->channel.congested()) router_.parts_.control.answer_waiting(*client);
  }
}

void RouterUpgrade::pause() {
  router_.parts_.frames.pause();
  router_.parts_.listens.end_left_behind();
  router_.parts_.listens.answer_waiting();
  router_.parts_.crossings.ask_gathered();
}

bool RouterUpgrade::is_quiet() const {
  return router_.parts_.in_flight.left_behind() == 0 && !router_.parts_.context.session.is_trying();
}

// The upstream's questions survive, except those about these requests.
void RouterUpgrade::end_unfinished() {
  router_.parts_.crossings.ask_gathered();
  router_.parts_.in_flight.give_up_left_behind(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before the answer came (it waited for --grace)"),
      "the bridge is being upgraded");
}

void RouterUpgrade::fail_unanswered_control() {
  router_.parts_.control.fail_unanswered(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before it answered; ask again"));
}

RouterSnapshot RouterUpgrade::save(bool in_session) const {
  RouterSnapshot saved;
  saved.clients = save_clients();
  saved.listens = router_.parts_.listens.save_listens();
  saved.last_question = router_.parts_.questions.last_id();
  saved.rates = router_.parts_.permissions.save_rates();
  const Grants& grants = router_.parts_.permissions.grants();
  saved.grants = grants.save();
  saved.grant_key = grants.key().bytes();
  saved.running_grants = grants.save_running();
  if (!in_session) return saved;
  saved.calls = router_.parts_.in_flight.save_calls();
  saved.questions = router_.parts_.questions.save_questions();
  const auto& told = router_.parts_.questions.answerers().names().entries();
  saved.told.assign(told.begin(), told.end());
  return saved;
}

void RouterUpgrade::restore_grants(RouterSnapshot& saved) {
  if (saved.grant_key.size() != GrantKey::size) return;
  router_.parts_.permissions.grants().set_key(GrantKey(std::move(saved.grant_key)));
  router_.parts_.permissions.restore_grants(saved.grants, saved.running_grants);
}

void RouterUpgrade::restore_clients(RouterSnapshot& saved,
                                    const std::map<ClientId, ClientChannel*>& channels) {
  router_.parts_.questions.count_from(saved.last_question);
  router_.parts_.permissions.restore_rates(saved.rates);
  for (SavedClient& client : saved.clients) {
    const auto found = channels.find(client.id);
    if (found != channels.end()) restore(*found->second, std::move(client));
  }
}

void RouterUpgrade::restore_requests(RouterSnapshot& saved, const std::set<UpstreamId>& awaited) {
  for (auto& [id, call] : saved.calls)
    router_.parts_.in_flight.restore(id, std::move(call), awaited.contains(id));
  router_.parts_.listens.restore(std::move(saved.listens));
}

void RouterUpgrade::restore_questions(RouterSnapshot& saved) {
  for (const ToldNames::Entry& one : saved.told)
    router_.parts_.questions.answerers().names().note(one.kind, one.name, one.client);
  router_.parts_.questions.restore(std::move(saved.questions));
  router_.parts_.crossings.restore();
}

std::vector<SavedClient> RouterUpgrade::save_clients() const {
  std::vector<SavedClient> served;
  std::vector<SavedClient> others;
  for (const auto& [id, client] : router_.parts_.clients) {
    if (!client->channel.survives_upgrade({})) continue;
    SavedClient saved;
    saved.id = id;
    saved.served = router_.parts_.frames.is_served(*client);
    saved.facts = static_cast<const ClientFacts&>(*client);
    const auto save_in = [&client = *client](std::vector<std::string>& frames) {
      return [&client, &frames](const Frame& frame) {
        // A client that is told of a failure must find the request failed.
        if (!frame.is_request() || client.channel.survives_upgrade(frame.text(frame.id)))
          frames.push_back(frame.bytes);
      };
    };
    client->waiting.each(save_in(saved.waiting));
    saved.control = ControlRequests::to_handle_again(*client);
    client->control.each(save_in(saved.control));
    saved.subscriptions = router_.parts_.restorable.subscriptions().uris_of(id);
    (saved.served ? served : others).push_back(std::move(saved));
  }
  std::move(others.begin(), others.end(), std::back_inserter(served));
  return served;
}

void RouterUpgrade::restore(ClientChannel& channel, SavedClient saved) {
  Client& client = router_.parts_.clients.add_client(channel, router_.parts_.context.session.tap(),
                                                     router_.parts_.budget);
  static_cast<ClientFacts&>(client) = std::move(saved.facts);
  if (client.grant) router_.from_clients_.set_grant(client, *std::exchange(client.grant, {}));
  router_.from_clients_.take_rule(client);
  for (const std::string& uri : saved.subscriptions)
    router_.parts_.restorable.subscriptions().accepted(uri, client.id());
  for (std::string& bytes : saved.control) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed))
      client.control.push(std::move(*frame), router_.parts_.context.loop.now());
  }
  router_.parts_.frames.client_continued(client, std::move(saved.waiting));
  router_.parts_.clients.finish_if_done(client);
}

bool RouterUpgrade::survives_upgrade(Caller& caller, std::string_view raw_id) const {
  const UpstreamId id = router_.parts_.in_flight.calls().find_call(caller, raw_id).first;
  return router_.parts_.in_flight.survives_upgrade(id) ||
         caller.waiting.find_request(raw_id) != nullptr;
}

Control::Reply RouterUpgrade::continued_reply(ClientId client, std::string_view raw_id) {
  return router_.parts_.control.reply_continued(*router_.parts_.clients.find_client(client),
                                                raw_id);
}

}  // namespace bridge
