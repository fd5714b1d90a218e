#include "router/bridge_answers.hpp"

#include <utility>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/capabilities.hpp"
#include "router/crossing/forms.hpp"

namespace bridge {

using namespace std::string_view_literals;

bool BridgeAnswers::answer_front(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (takes_id_of_listen(client, frame)) {
    const Frame refused = client.waiting.take_front().frame;
    context_.request_log.answer_error(
        client, refused, json_rpc::invalid_request,
        "Invalid Request: the id is that of a request that is open; the notifications "
        "of a subscriptions/listen name it");
    return true;
  }
  if (frame.method == "server/discover"sv) {
    const Frame asked = client.waiting.take_front().frame;
    const ServerDescription& server = *context_.session.serving(client.era_of(asked)).server();
    context_.request_log.answer_result(client, asked,
                                       server.discover_result(context_.session.target()));
    return true;
  }
  if (frame.method == "subscriptions/listen"sv) return start_listen(client);
  return answer_unsubscribe(client) || answer_for_upstream(client);
}

bool BridgeAnswers::answer_initialize(Client& client) {
  EraSession& serving = context_.session.serving_initialize();
  const ServerDescription* const server = serving.server();
  if (server == nullptr) return false;
  const Frame frame = client.waiting.take_front().frame;
  const std::string_view params = frame.text(frame.params);
  if (serving.sender().is_stateful())
    log_undeclared(client, find_member(params, "capabilities").value_or("{}"));
  context_.request_log.answer_result(client, frame,
                                     server->initialize_result_for(protocol_version_of(params)));
  return true;
}

/// The session keeps the capabilities it was opened with: logs, once each, which others a client
/// declares.
void BridgeAnswers::log_undeclared(const Client& client, std::string_view capabilities) {
  constexpr std::size_t most_logged = 64;
  if (capabilities.size() > longest_capabilities) return;
  const std::string_view opened_with =
      find_member(context_.session.opened_with(), "capabilities").value_or("{}");
  std::string names;
  bool is_news = false;
  for (const std::string& name : capabilities_beyond(opened_with, capabilities)) {
    if (logged_undeclared_.size() < most_logged)
      is_news = logged_undeclared_.insert(name).second || is_news;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!is_news) return;
  std::string all =
      capabilities_of_both(capabilities_of_both(opened_with, undeclared_), capabilities);
  context_.log.peer(
      LogLevel::warning, "capabilities not declared", {.client = client.id()},
      "a client declares {}, but the session was opened without: the server may offer less; to "
      "declare all, start with --client-capabilities '{}'",
      names, all);
  if (all.size() <= longest_capabilities) undeclared_ = std::move(all);
}

/// Answers an unsubscribe of a resource that other clients still want. False if it is none.
bool BridgeAnswers::answer_unsubscribe(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (frame.method != "resources/unsubscribe"sv) return false;
  const std::string uri = RestorableState::subject_of(frame);
  if (listens_.is_subscribed(uri)) {
    restorable_.accepted(frame, client.id());
  } else if (!restorable_.subscriptions().still_wanted_without(uri, client.id())) {
    return false;
  }
  context_.request_log.answer_result(client, client.waiting.take_front().frame, "{}");
  return true;
}

/// A listen's id identifies its notifications to the client, until the listen ends.
bool BridgeAnswers::takes_id_of_listen(const Client& client, const Frame& request) const {
  const std::string_view id = request.text(request.id);
  if (listens_.has(client, id)) return true;
  return request.method == "subscriptions/listen"sv && in_flight_.calls().has(client, id);
}

/// A listen takes no slot, and a token for each request that it causes.
bool BridgeAnswers::start_listen(Client& client) {
  const Frame frame = client.waiting.take_front().frame;
  if (context_.audit != nullptr && checks_.refuse_unrecorded(client, frame)) return true;
  const std::size_t caused =
      context_.permissions.is_on() ? listens_.count_new_subscriptions(frame) : 0;
  if (checks_.refuse_by_policy(client, frame, 1 + caused)) return true;
  if (client.listens < context_.options.client_inflight) {
    listens_.add_listen(client, frame);
  } else {
    context_.request_log.answer_with(
        client, frame.method, frame.text(frame.id),
        failure_of(ErrorKind::overloaded, Delivered::no,
                   "too many subscriptions/listen of one client (--client-inflight)"));
  }
  return true;
}

/// Does the work of a method that a server of another era does not have. False if the upstream is
/// asked.
bool BridgeAnswers::answer_for_upstream(Client& client) {
  const Frame& front = client.waiting.front().frame;
  EraSession& session = context_.session.serving(client.era_of(front));
  if (is_ambiguous(front, session)) {
    const Frame refused = client.waiting.take_front().frame;
    context_.request_log.answer_error(client, refused, json_rpc::invalid_request,
                                      "Invalid Request: duplicate member in params");
    return true;
  }
  const auto own = answer_across(front, session);
  if (!own) return false;
  const Frame frame = client.waiting.take_front().frame;
  if (!own->error.empty()) {
    context_.request_log.answer_error(client, frame, own->error);
    return true;
  }
  if (context_.audit != nullptr && checks_.refuse_unrecorded(client, frame)) return true;
  if (checks_.refuse_by_policy(client, frame)) return true;
  restorable_.accepted(frame, client.id());
  if (frame.method == "resources/subscribe"sv &&
      client.subscribing < context_.options.client_inflight) {
    listens_.answer_subscribe(client, frame);
  } else {
    listens_.update();
    context_.request_log.answer_result(client, frame, own->result);
  }
  return true;
}

}  // namespace bridge
