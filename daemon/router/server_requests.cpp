#include "router/server_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "router/refused_question.hpp"

namespace bridge {
namespace {

constexpr std::string_view nobody_answers = "Method not found: no client of the bridge answers it";

bool is_method_not_found(const Frame& response) {
  return find_member(response.text(response.error), "code") == "-32601";
}

}  // namespace

ServerRequests::ServerRequests(const RouterContext& context, const RequestsInFlight& in_flight,
                               QuestionEvents& questions)
    : context_(context),
      in_flight_(in_flight),
      questions_(questions),
      askable_(context, in_flight, table_),
      parking_(context.loop, [this] { expire_parked(); }) {}

void ServerRequests::refuse(std::string_view raw_id, int code, std::string_view message) {
  context_.upstream.respond(error_reply(raw_id, code, message));
}

/// To whoever asks.
void ServerRequests::refuse(const ServerRequest& request, int code, std::string_view message) {
  if (request.is_question()) {
    questions_.question_answered(*request.origin, request.place, nullptr);
  } else {
    refuse(request.upstream_request_id, code, message);
  }
}

void ServerRequests::add(std::optional<UpstreamId> origin, Frame frame) {
  const std::string_view raw_id = frame.text(frame.id);
  if (frame.method == "ping") {
    context_.upstream.respond(result_reply(raw_id, "{}"));
    return;
  }
  ServerRequest request = made(origin, frame.method, frame.text(frame.params));
  request.upstream_request_id = raw_id;
  request.line = std::move(frame.bytes);
  const std::string number = std::to_string(request.id);
  splice(request.line, {frame.id, number});
  take_in(std::move(request));
}

void ServerRequests::add(UpstreamId origin, std::size_t place, const InputRequest& question) {
  ServerRequest request = made(origin, question.method, question.params);
  request.place = place;
  request.line = input_request_line(question, std::to_string(request.id));
  take_in(std::move(request));
}

ServerRequest ServerRequests::made(std::optional<UpstreamId> origin, std::string_view method,
                                   std::string_view params) {
  ServerRequest request;
  request.id = table_.next_id();
  request.method = method;
  request.asked_for = asked_for(method, params);
  request.origin = origin;
  if (!origin) {
    request.caller = likely_caller(in_flight_);
    return request;
  }
  request.owner = in_flight_.owner(*origin);
  if (const Client* owner = context_.clients.find(request.owner)) {
    request.user = owner->user;
  } else if (const PendingRequest* pending = in_flight_.find(origin)) {
    request.user = pending->user;
  }
  return request;
}

void ServerRequests::take_in(ServerRequest request) {
  Client* client = askable_.choose(request);
  const bool is_watched = onlookers_ != nullptr && onlookers_->somebody_looks_on();
  const bool is_about_one =
      client == nullptr && (request.origin.has_value() || in_flight_.has_modern_call());
  if (client == nullptr && !is_watched && (is_about_one || askable_.somebody_is_connected())) {
    context_.log.peer(
        LogLevel::info, "request of the upstream refused",
        "the upstream asks for {}: no connected client that could be asked has declared it",
        printable(request.method, 80));
    if (is_about_one && !request.is_question())
      questions_.nobody_declares(request.origin, request.method, request.asked_for);
    tell_of_refusal(request, in_flight_, context_.clients);
    refuse(request, json_rpc::method_not_found, nobody_answers);
    return;
  }
  if (!table_.has_room_for(request.line.size())) {
    refuse(request, json_rpc::bridge_error,
           "overloaded: too many requests to clients are unanswered");
    return;
  }
  if (client == nullptr && !table_.can_park(request.line.size())) {
    refuse(request, json_rpc::bridge_error,
           "overloaded: nobody is connected and too many requests wait");
    return;
  }
  ServerRequest& added = table_.add(std::move(request));
  added.shown = is_watched;
  if (is_watched) onlookers_->show_request(added.line);
  if (client != nullptr) {
    ask(*client, added);
  } else {
    park(added);
  }
}

std::vector<Askable> ServerRequests::askable(std::string_view method,
                                             std::string_view params) const {
  ServerRequest request;
  request.method = method;
  request.asked_for = asked_for(method, params);
  return askable_.able(request);
}

void ServerRequests::ask(Client& client, ServerRequest& request) {
  request.asked = client.id();
  request.asked_since = context_.loop.now();
  if (std::string notice = notice_of_caller(request, client); !notice.empty())
    client.channel.send(std::move(notice));
  const std::string_view about = askable_.subject(request, client);
  if (!about.empty()) {
    client.channel.send_about(about, request.line);
  } else {
    client.channel.send(request.line);
  }
}

void ServerRequests::answer(Client& client, Frame response) {
  ServerRequest* const request = table_.find_told(response.text(response.id));
  const bool is_unasked = request != nullptr && !request->asked && request->shown;
  Client* const keeper = request != nullptr ? keeper_of(*request, client) : nullptr;
  const bool may_answer = request != nullptr &&
                          (request->asked == client.id() ||
                           ((is_unasked || keeper != nullptr) && client.channel.answers_unasked()));
  if (!may_answer) {
    ++context_.statistics.unknown_answers;
    context_.log.peer(LogLevel::info, "unknown answer of a client", {.client = client.id()},
                      "a client's answer to nothing it was asked was dropped");
    return;
  }
  if (request->asked && is_method_not_found(response) && pass_on(*request)) return;
  if (keeper != nullptr) tell_withdrawn(*keeper, *request, "it was answered");
  if (request->is_question()) {
    questions_.question_answered(*request->origin, request->place, &response);
    table_.remove(*request);
    return;
  }
  std::string body = std::move(response.bytes);
  splice(body, {response.id, request->upstream_request_id});
  table_.remove(*request);
  context_.upstream.respond(std::move(body));
}

/// Who keeps what was asked until anybody of its user answers it, if it is not `client`; null: that
/// is nobody, or not for `client` to answer.
Client* ServerRequests::keeper_of(const ServerRequest& request, const Client& client) const {
  Client* const asked = context_.clients.find(request.asked);
  const bool is_kept = asked != nullptr && asked != &client && asked->is_job;
  return is_kept && request.shown && request.user == client.user ? asked : nullptr;
}

/// The one that was asked does not know such requests: another one may. False if there is none.
bool ServerRequests::pass_on(ServerRequest& request) {
  if (request.declined.size() == ServerRequest::max_declined) return false;
  request.declined.push_back(*request.asked);
  Client* next = askable_.choose(request);
  if (next == nullptr) return false;
  ask(*next, request);
  return true;
}

/// The client will answer nothing more: what it was asked goes to another who can. If there is
/// none, the session's requests wait for one; the upstream must not wait for the others, nor for
/// those that are about a request of a client that has left.
void ServerRequests::ask_others(const Client& client, bool has_left) {
  table_.each([&](ServerRequest& request) {
    if (request.asked != client.id()) return;
    if (request.origin && in_flight_.is_job(*request.origin))
      request.owner = in_flight_.owner(*request.origin);  // kept as one
    ask_another(request, !has_left || request.owner != client.id(), true);
  });
}

/// `may_wait`: for a client that can be asked, though others are connected.
void ServerRequests::ask_another(ServerRequest& request, bool may_be_asked, bool may_wait) {
  if (Client* other = may_be_asked ? askable_.choose(request) : nullptr) {
    ask(*other, request);
  } else if (request.origin || (!may_wait && !request.shown && askable_.somebody_is_connected())) {
    if (!request.origin) tell_of_refusal(request, in_flight_, context_.clients);
    refuse(request, json_rpc::method_not_found, nobody_answers);
    table_.remove(request);
  } else {
    park(request);
  }
}

void ServerRequests::note_declined(std::string_view raw_id, ClientId by) {
  ServerRequest* const request = table_.find_told(raw_id);
  if (request != nullptr && request->declined.size() < ServerRequest::max_declined)
    request->declined.push_back(by);
}

bool ServerRequests::was_declined(std::string_view raw_id, ClientId by) {
  const ServerRequest* const request = table_.find_told(raw_id);
  return request != nullptr && has_declined(*request, by);
}

void ServerRequests::give_back(std::string_view raw_id, ClientId asked) {
  ServerRequest* const request = table_.find_told(raw_id);
  if (request != nullptr && request->asked == asked) ask_another(*request, true, false);
}

void ServerRequests::park(ServerRequest& request) {
  request.asked.reset();
  request.parked_until = context_.loop.now() + context_.options.park_requests;
  parking_.set_at_latest(request.parked_until);
}

void ServerRequests::offer_parked() {
  if (table_.parked() == 0) return;
  table_.each([&](ServerRequest& request) {
    if (request.asked) return;
    if (Client* client = askable_.choose(request)) ask(*client, request);
  });
}

void ServerRequests::expire_parked() {
  const SteadyTime now = context_.loop.now();
  table_.each([&](ServerRequest& request) {
    if (request.asked) return;
    if (request.parked_until > now) {
      parking_.set_at_latest(request.parked_until);
      return;
    }
    refuse(request, json_rpc::bridge_error, "no client of the bridge is connected");
    table_.remove(request);
  });
}

}  // namespace bridge
