#include "router/router_upgrade.hpp"

#include <iterator>

namespace bridge {

void RouterUpgrade::resume() {
  router_.frames_.resume();
  for (const auto& [id, client] : router_.clients_) {
    if (!client->channel.congested()) router_.control_.answer_waiting(*client);
  }
}

void RouterUpgrade::pause() {
  router_.frames_.pause();
  router_.listens_.end_left_behind();
  router_.listens_.answer_waiting();
  router_.crossings_.ask_gathered();
}

bool RouterUpgrade::is_quiet() const {
  return router_.in_flight_.left_behind() == 0 && !router_.context_.session.is_trying();
}

// The upstream's questions survive, except those about these requests.
void RouterUpgrade::end_unfinished() {
  router_.crossings_.ask_gathered();
  router_.in_flight_.give_up_left_behind(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before the answer came (it waited for --grace)"),
      "the bridge is being upgraded");
}

void RouterUpgrade::fail_unanswered_control() {
  router_.control_.fail_unanswered(
      failure_of(ErrorKind::closed, Delivered::unknown,
                 "the bridge was upgraded before it answered; ask again"));
}

RouterSnapshot RouterUpgrade::save(bool in_session) const {
  RouterSnapshot saved;
  saved.clients = save_clients();
  saved.listens = router_.listens_.save_listens();
  saved.last_question = router_.questions_.last_id();
  saved.rates = router_.permissions_.save_rates();
  if (!in_session) return saved;
  saved.calls = router_.in_flight_.save_calls();
  saved.questions = router_.questions_.save_questions();
  const auto& told = router_.questions_.answerers().names().entries();
  saved.told.assign(told.begin(), told.end());
  return saved;
}

void RouterUpgrade::restore_clients(RouterSnapshot& saved,
                                    const std::map<ClientId, ClientChannel*>& channels) {
  router_.questions_.count_from(saved.last_question);
  router_.permissions_.restore_rates(saved.rates);
  for (SavedClient& client : saved.clients) {
    const auto found = channels.find(client.id);
    if (found != channels.end()) restore(*found->second, std::move(client));
  }
}

void RouterUpgrade::restore_requests(RouterSnapshot& saved, const std::set<UpstreamId>& awaited) {
  for (auto& [id, call] : saved.calls)
    router_.in_flight_.restore(id, std::move(call), awaited.contains(id));
  router_.listens_.restore(std::move(saved.listens));
}

void RouterUpgrade::restore_questions(RouterSnapshot& saved) {
  for (const ToldNames::Entry& one : saved.told)
    router_.questions_.answerers().names().note(one.kind, one.name, one.client);
  router_.questions_.restore(std::move(saved.questions));
  router_.crossings_.restore();
}

std::vector<SavedClient> RouterUpgrade::save_clients() const {
  std::vector<SavedClient> served;
  std::vector<SavedClient> others;
  for (const auto& [id, client] : router_.clients_) {
    if (!client->channel.survives_upgrade({})) continue;
    SavedClient saved;
    saved.id = id;
    saved.served = router_.frames_.is_served(*client);
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
    saved.subscriptions = router_.restorable_.subscriptions().uris_of(id);
    (saved.served ? served : others).push_back(std::move(saved));
  }
  std::move(others.begin(), others.end(), std::back_inserter(served));
  return served;
}

void RouterUpgrade::restore(ClientChannel& channel, SavedClient saved) {
  Client& client =
      router_.clients_.add_client(channel, router_.context_.session.tap(), router_.budget_);
  router_.take_rule(client);
  static_cast<ClientFacts&>(client) = std::move(saved.facts);
  for (const std::string& uri : saved.subscriptions)
    router_.restorable_.subscriptions().accepted(uri, client.id());
  for (std::string& bytes : saved.control) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed))
      client.control.push(std::move(*frame), router_.context_.loop.now());
  }
  router_.frames_.client_continued(client, std::move(saved.waiting));
  router_.clients_.finish_if_done(client);
}

bool RouterUpgrade::survives_upgrade(Caller& caller, std::string_view raw_id) const {
  const UpstreamId id = router_.in_flight_.calls().find_call(caller, raw_id).first;
  return router_.in_flight_.survives_upgrade(id) || caller.waiting.find_request(raw_id) != nullptr;
}

Control::Reply RouterUpgrade::continued_reply(ClientId client, std::string_view raw_id) {
  return router_.control_.reply_continued(*router_.clients_.find_client(client), raw_id);
}

}  // namespace bridge
