#include "router/server_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/client.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {
namespace {

/// Empty: this client's, or nobody's.
std::string_view caller_of(const ServerRequest& request, ClientId asked) {
  if (request.origin) return request.owner == asked ? "" : "another";
  switch (request.caller.kind) {
    case LikelyCaller::Kind::nobody: return "";
    case LikelyCaller::Kind::one: return request.caller.client == asked ? "" : "another";
    case LikelyCaller::Kind::several: return "unknown";
  }
  return "";
}

}  // namespace

LikelyCaller likely_caller(const RequestsInFlight& in_flight) {
  LikelyCaller caller;
  in_flight.each([&](UpstreamId, const PendingRequest& pending) {
    if (!pending.is_upstream || pending.is_own || pending.side == Era::modern ||
        !may_require_input(pending.method))
      return;
    if (caller.kind == LikelyCaller::Kind::nobody) {
      caller = {LikelyCaller::Kind::one, pending.client};
    } else if (caller.client != pending.client) {
      caller = {LikelyCaller::Kind::several, {}};
    }
  });
  return caller;
}

std::string notice_of_caller(const ServerRequest& request, const Client& asked) {
  if (!asked.declared.names(request.method)) return {};
  const std::string_view caller = caller_of(request, asked.id());
  if (caller.empty()) return {};
  return own_notification("notifications/bridge/question_about",
                          fmt::format(R"({{"requestId":{},"caller":"{}"}})", request.id, caller));
}

std::size_t ServerRequestTable::parked() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [](const ServerRequest& request) { return !request.asked; }));
}

bool ServerRequestTable::can_park(std::size_t bytes) const {
  std::size_t parked_bytes = bytes;
  for (const ServerRequest& request : requests_) {
    if (!request.asked) parked_bytes += request.line.size();
  }
  return parked() < max_parked && parked_bytes <= max_parked_bytes;
}

ServerRequest& ServerRequestTable::add(ServerRequest request) {
  bytes_ += request.line.size();
  requests_.push_back(std::move(request));
  return requests_.back();
}

void ServerRequestTable::remove(const ServerRequest& request) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const ServerRequest& one) { return &one == &request; });
  if (found == requests_.end()) return;
  bytes_ -= found->line.size();
  requests_.erase(found);
}

ServerRequest* ServerRequestTable::find(std::uint64_t id) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [id](const ServerRequest& one) { return one.id == id; });
  return found == requests_.end() ? nullptr : &*found;
}

ServerRequest* ServerRequestTable::find_told(std::string_view raw_id) {
  const auto number = to_unsigned(raw_id);
  return number ? find(*number) : nullptr;
}

ServerRequest* ServerRequestTable::find_by_upstream_id(std::string_view raw_id) {
  const auto found = std::find_if(
      requests_.begin(), requests_.end(),
      [raw_id](const ServerRequest& one) { return same_id(one.upstream_request_id, raw_id); });
  return found == requests_.end() ? nullptr : &*found;
}

bool ServerRequestTable::has_left_open(ClientId client, SteadyTime then) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const ServerRequest& one) {
    return one.asked == client && one.asked_since <= then;
  });
}

std::optional<ClientId> who_is_asked(const std::vector<Askable>& able) {
  const bool all_silent =
      std::all_of(able.begin(), able.end(), [](const Askable& one) { return one.is_silent; });
  const bool somebody_waits = std::any_of(able.begin(), able.end(), [&](const Askable& one) {
    return one.is_busy && !one.is_job && (all_silent || !one.is_silent);
  });
  const Askable* longest = nullptr;
  const Askable* busy = nullptr;
  int busy_ones = 0;
  for (const Askable& one : able) {
    if (one.is_silent && !all_silent) continue;
    if (one.is_own) return one.client;
    if (one.is_job && somebody_waits) continue;
    if (longest == nullptr) longest = &one;
    if (!one.is_busy) continue;
    busy = &one;
    ++busy_ones;
  }
  if (longest == nullptr) return std::nullopt;
  return busy_ones == 1 ? busy->client : longest->client;
}

namespace {

/// Whoever has not answered for so long is asked no further one while another could.
constexpr std::chrono::seconds answer_timeout{30};

}  // namespace

bool has_declined(const ServerRequest& request, ClientId client) {
  const auto& declined = request.declined;
  return std::find(declined.begin(), declined.end(), client) != declined.end();
}

AskableClients::AskableClients(const RouterContext& context, const RequestsInFlight& in_flight,
                               const ServerRequestTable& table)
    : context_(context), in_flight_(in_flight), table_(table) {}

bool AskableClients::somebody_is_connected() const {
  const Clients& clients = context_.clients;
  return std::any_of(clients.begin(), clients.end(), [](const auto& entry) {
    return !entry.second->is_observer() && entry.second->channel.can_be_asked({});
  });
}

std::string_view AskableClients::subject(const ServerRequest& request, const Client& client) const {
  if (request.owner != client.id()) return {};
  const PendingRequest* about = in_flight_.find(request.origin);
  return about != nullptr ? std::string_view(about->client_request_id) : std::string_view();
}

/// Whether this client has said that it answers such requests, and can be reached. One about a
/// request is nothing for another user's clients.
bool AskableClients::can_answer(const Client& client, const ServerRequest& request) const {
  if (client.half_closed || !client.declared.covers(request.method, request.asked_for))
    return false;
  if (request.origin && request.user != client.user) return false;
  // A job answers only about its own request, and no job stands for another client's.
  if (client.is_job && request.origin && subject(request, client).empty()) return false;
  return !has_declined(request, client.id()) &&
         client.channel.can_be_asked(subject(request, client));
}

std::vector<Askable> AskableClients::able(const ServerRequest& request) const {
  const SteadyTime long_ago = context_.loop.now() - answer_timeout;
  std::vector<Askable> able;
  for (const auto& [id, client] : context_.clients) {
    if (!can_answer(*client, request)) continue;
    able.push_back({id, request.owner == id, !client->in_flight.empty(),
                    !client->is_job && table_.has_left_open(id, long_ago), client->is_job});
  }
  return able;
}

Client* AskableClients::choose(const ServerRequest& request) const {
  return context_.clients.find(who_is_asked(able(request)));
}

namespace {

constexpr std::string_view nobody_answers = "Method not found: no client of the bridge answers it";

bool is_method_not_found(const Frame& response) {
  return find_member(response.text(response.error), "code") == "-32601";
}

}  // namespace

ServerRequests::ServerRequests(const RouterContext& context, const RequestsInFlight& in_flight,
                               QuestionEvents questions)
    : context_(context),
      in_flight_(in_flight),
      questions_(std::move(questions)),
      askable_(context, in_flight, table_),
      parking_(context.loop, [this] { expire_parked(); }) {}

void ServerRequests::refuse(std::string_view raw_id, int code, std::string_view message) {
  context_.upstream.respond(error_reply(raw_id, code, message));
}

/// To whoever asks.
void ServerRequests::refuse(const ServerRequest& request, int code, std::string_view message) {
  if (request.is_question()) {
    questions_.answered(*request.origin, request.place, nullptr);
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
    questions_.answered(*request->origin, request->place, &response);
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

// How a request of the upstream ends without an answer.

void ServerRequests::cancel(Frame notification) {
  const std::string_view raw_id = notification.text(notification.request_id);
  ServerRequest* request = raw_id.empty() ? nullptr : table_.find_by_upstream_id(raw_id);
  if (request == nullptr) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  if (Client* client = context_.clients.find(request->asked)) {
    std::string bytes = std::move(notification.bytes);
    const std::string number = std::to_string(request->id);
    splice(bytes, {notification.request_id, number});
    client->channel.send(std::move(bytes));
  }
  table_.remove(*request);
}

/// Nobody waits for its answer any more: whoever was asked is told, and need not go on.
void ServerRequests::withdraw(ServerRequest& request, std::string_view reason) {
  Client* client = context_.clients.find(request.asked);
  if (client != nullptr && client->channel.can_be_asked({}))
    tell_withdrawn(*client, request, reason);
  table_.remove(request);
}

void ServerRequests::tell_withdrawn(Client& client, const ServerRequest& request,
                                    std::string_view reason) {
  client.channel.send(
      own_notification("notifications/cancelled",
                       fmt::format(R"({{"requestId":{},"reason":"{}"}})", request.id, reason)));
}

void ServerRequests::session_replaced() {
  table_.each([&](ServerRequest& request) {
    if (!request.origin) withdraw(request, "the session was lost");
  });
}

void ServerRequests::request_ending(UpstreamId origin) {
  table_.each([&](ServerRequest& request) {
    if (request.origin == origin) withdraw(request, "the request that it belongs to has ended");
  });
}

std::vector<ServerRequest> ServerRequests::save() {
  std::vector<ServerRequest> all;
  table_.each([&](const ServerRequest& request) {
    if (!request.origin || in_flight_.survives_upgrade(*request.origin)) all.push_back(request);
  });
  return all;
}

void ServerRequests::restore(std::vector<ServerRequest> saved) {
  for (ServerRequest& one : saved) {
    ServerRequest& request = table_.add(std::move(one));
    if (!request.asked) {
      parking_.set_at_latest(request.parked_until);
    } else if (context_.clients.find(request.asked) == nullptr) {
      ask_another(request, true, true);  // it was asked over HTTP
    }
  }
}

namespace {

constexpr std::size_t longest_message_told = 4096;

}  // namespace

void tell_of_refusal(const ServerRequest& request, const RequestsInFlight& in_flight,
                     const Clients& clients) {
  // A question that ends the call is named in the call's error.
  if (request.is_question() && request.method != "elicitation/create") return;
  std::vector<UpstreamId> about;
  in_flight.each([&](UpstreamId id, const PendingRequest& pending) {
    const bool is_possible = request.origin ? request.origin == id : pending.is_upstream;
    if (is_possible && !pending.is_own) about.push_back(id);
  });
  if (about.size() != 1) return;
  const PendingRequest& pending = *in_flight.find(about.front());
  Client* const client = clients.find(pending.client);
  if (client == nullptr || client->is_job || pending.modern || client->declared.has_declared())
    return;
  const std::string_view params = find_member(request.line, "params").value_or("{}");
  std::string_view message = find_member(params, "message").value_or("");
  if (!is_string(message) || message.size() > longest_message_told) message = "null";
  client->channel.send_about(pending.client_request_id,
                             own_notification("notifications/bridge/question_refused",
                                              fmt::format(R"({{"method":{},"message":{}}})",
                                                          quote(request.method), message)));
}

}  // namespace bridge
