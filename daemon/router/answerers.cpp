#include "router/answerers.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

/// A client that has not answered for this long gets no further question while another client can
/// answer.
constexpr std::chrono::seconds answer_timeout{30};

}  // namespace

LikelyCaller likely_caller(const RequestsInFlight& in_flight) {
  LikelyCaller caller;
  StreamOwner first;
  in_flight.calls().each([&](UpstreamId id, const Call& call) {
    if (!call.may_be_asked_about() || !call.acts_for_user()) return;
    const StreamOwner owner = in_flight.calls().owner(id);
    if (caller.kind == LikelyCaller::Kind::nobody) {
      first = owner;
      caller = {LikelyCaller::Kind::one, owner.client};
    } else if (first != owner) {
      caller = {LikelyCaller::Kind::several, {}};
    }
  });
  return caller;
}

bool Answerers::has_reachable_client() const {
  const Clients& clients = context_.clients;
  return std::any_of(clients.begin(), clients.end(), [](const auto& entry) {
    const Client& client = *entry.second;
    return !client.is_observer() && client.may_take_part() && client.channel.can_be_asked({});
  });
}

std::string_view Answerers::subject(const Question& question, const Client& client) const {
  if (question.owner != client.id()) return {};
  const Call* const about = in_flight_.find_call(question.origin);
  return about != nullptr ? std::string_view(about->client_request_id) : std::string_view();
}

/// Whether the client has declared that it answers such requests and can be reached. A question
/// about a request is never for another user's clients.
bool Answerers::can_answer(const Client& client, const Question& question) const {
  if (client.half_closed || !client.may_take_part() ||
      !client.declared.covers(question.method, question.asked_for))
    return false;
  if (question.origin && !question.is_of_user(client)) return false;
  return !has_declined(question, client.id()) &&
         client.channel.can_be_asked(subject(question, client));
}

/// In order of connecting, then the jobs.
std::vector<Candidate> Answerers::candidates(const Question& question, bool is_new) const {
  const SteadyTime long_ago = context_.loop.now() - answer_timeout;
  std::vector<Candidate> candidates;
  for (const auto& [id, client] : context_.clients) {
    if (!can_answer(*client, question)) continue;
    candidates.push_back({id, question.owner == id, !client->in_flight.empty(),
                          questions_.has_left_open(id, long_ago)});
  }
  if (question.origin) return candidates;
  if (is_new) add_modern_calls(candidates, question);
  if (context_.jobs != nullptr) {
    for (const JobNumber job : context_.jobs->jobs_to_ask()) {
      if (may_be_asked(job)) candidates.push_back({{}, false, true, false, job});
    }
  }
  return candidates;
}

/// Whether the submitter of the job still may do anything.
bool Answerers::may_be_asked(JobNumber job) const {
  if (!context_.permissions.is_on()) return true;
  bool may = true;
  in_flight_.calls().each([&](UpstreamId, const Call& call) {
    if (call.job != nullptr && call.job->number == job)
      may = may && context_.permissions.may_take_part(*call.job);
  });
  return may;
}

/// A modern client answers through its oldest call in flight.
void Answerers::add_modern_calls(std::vector<Candidate>& candidates,
                                 const Question& question) const {
  std::map<ClientId, UpstreamId> calls;
  in_flight_.calls().each([&](UpstreamId id, const Call& call) {
    const Client* const client = call.client();
    if (client == nullptr || !may_be_asked_in(id, question)) return;
    UpstreamId& oldest = calls.try_emplace(client->id(), id).first->second;
    oldest = std::min(oldest, id);
  });
  for (const auto& [client, id] : calls) {
    std::erase_if(candidates, [its = client](const Candidate& one) { return one.client == its; });
    candidates.push_back({client, false, true, false, {}, id});
  }
  std::sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& left, const Candidate& right) { return left.client < right.client; });
}

/// The oldest suspended call, but none while another call is in flight: the server waits for the
/// suspended one's answers already, so the question is more likely about the other.
std::optional<UpstreamId> Answerers::suspended_call(const Question& question) const {
  std::optional<UpstreamId> suspended;
  bool others_in_flight = false;
  in_flight_.calls().each([&](UpstreamId id, const Call& call) {
    others_in_flight = others_in_flight || (call.may_be_asked_about() && !call.is_suspended());
    if (call.is_suspended() && may_be_asked_in(id, question))
      suspended = std::min(id, suspended.value_or(id));
  });
  return others_in_flight ? std::nullopt : suspended;
}

bool Answerers::may_be_asked_in(UpstreamId id, const Question& question) const {
  const Call* const call = in_flight_.find_call(id);
  const Client* const client = call != nullptr ? call->client() : nullptr;
  if (client != nullptr && !client->may_take_part()) return false;
  return call != nullptr && call->to_legacy != nullptr && question.is_request() &&
         is_question(question.method) && may_require_input(call->method) &&
         call->to_legacy->declared().covers(question.method, question.asked_for);
}

std::optional<Candidate> Answerers::choose(const Question& question, bool is_new) const {
  if (question.named) return choose_named(question);
  const std::string_view task = question.origin ? "" : related_task(question.params());
  const auto its_job =
      context_.jobs != nullptr && !task.empty() ? context_.jobs->job_of_task(task) : std::nullopt;
  if (its_job) return Candidate{{}, true, true, false, *its_job};
  const Call* const about = in_flight_.find_call(question.origin);
  if (about != nullptr && about->job != nullptr)
    return Candidate{{}, true, true, false, about->job->number};
  if (is_new && about != nullptr && may_be_asked_in(*question.origin, question))
    return Candidate{{}, true, true, false, {}, question.origin};
  const std::vector<Candidate> all = candidates(question, is_new);
  if (const Candidate* const one = who_is_asked(all)) return *one;
  const auto call = is_new && !question.origin ? suspended_call(question) : std::nullopt;
  return call ? std::optional(Candidate{{}, false, false, false, {}, call}) : std::nullopt;
}

// Requests that name what only one client knows. No other client is asked.

namespace {

constexpr int url_elicitation_required = -32042;  // MCP 2025-11-25, "Elicitation"
constexpr std::size_t longest_telling = 8192;     // of a response or error that tells of names

std::string member_text(std::string_view object, std::string_view name) {
  return find_string(object, name).value_or("");
}

}  // namespace

void Answerers::told(ClientId client, const Frame& response) {
  const std::string_view result = response.text(response.result);
  const std::string_view error = response.text(response.error);
  if (!result.empty() && result.size() <= longest_telling && result.find("taskId") != result.npos) {
    told_.note(ToldNames::Kind::server_task,
               member_text(find_member(result, "task").value_or(""), "taskId"), client);
  }
  if (error.empty() || error.size() > longest_telling ||
      find_member(error, "code") != std::to_string(url_elicitation_required))
    return;
  const std::string_view data = find_member(error, "data").value_or("");
  each_element(find_member(data, "elicitations").value_or(""), [&](std::string_view one) {
    told_.note(ToldNames::Kind::elicitation, member_text(one, "elicitationId"), client);
    return true;
  });
}

void Answerers::told_of_task(const Client& client, const Frame& notification) {
  told_.note(ToldNames::Kind::client_task,
             member_text(notification.text(notification.params), "taskId"), client.id());
}

void Answerers::told_by(const Client& client, const Frame& response) {
  const std::string_view result = response.text(response.result);
  if (result.size() > longest_telling || result.find("taskId") == result.npos) return;
  told_.note(ToldNames::Kind::client_task,
             member_text(find_member(result, "task").value_or(""), "taskId"), client.id());
}

void Answerers::asked(const Client& client, const Question& question) {
  if (question.method != "elicitation/create") return;
  told_.note(ToldNames::Kind::elicitation, member_text(question.params(), "elicitationId"),
             client.id());
}

std::optional<ClientId> Answerers::client_named_by(std::string_view method,
                                                   std::string_view params) const {
  using Kind = ToldNames::Kind;
  if (is_about_task(method)) return told_.find(Kind::client_task, member_text(params, "taskId"));
  if (const std::string_view task = related_task(params); is_string(task)) {
    const std::string name = to_text(task).value_or("");
    const auto client = told_.find(Kind::server_task, name);
    return client ? client : told_.find(Kind::client_task, name);
  }
  if (const auto id = find_string(params, "elicitationId"))
    return told_.find(Kind::elicitation, *id);
  return std::nullopt;
}

std::optional<UpstreamId> Answerers::client_request_named_by(const Frame& request,
                                                             Slice& name) const {
  int times = 0;
  for_each_member(request.bytes, request.params, [&](std::string_view key, Slice, Slice value) {
    if (key != "requestId") return;
    name = value;
    ++times;
  });
  const auto number = times == 1 ? unsigned_by_value(request.text(name)) : std::nullopt;
  if (!number) return std::nullopt;
  const auto id = static_cast<UpstreamId>(*number);
  const Call* const call = in_flight_.find_call(id);
  return call != nullptr && call->acts_for_user() ? std::optional(id) : std::nullopt;
}

bool Answerers::may_answer_later(const Question& question) const {
  const Client* const client = context_.clients.find_client(question.named);
  return client != nullptr && !client->half_closed && client->may_take_part() &&
         !has_declined(question, client->id()) &&
         (is_about_task(question.method) ||
          client->declared.covers(question.method, question.asked_for));
}

std::optional<Candidate> Answerers::choose_named(const Question& question) const {
  const bool is_reached = may_answer_later(question) &&
                          context_.clients.find_client(question.named)->channel.can_be_asked({});
  return is_reached ? std::optional(Candidate{*question.named, true}) : std::nullopt;
}

}  // namespace bridge
