#include "jobs/job_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "jobs/job_text.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

std::string invalid(std::string_view id, std::string_view reason) {
  return error_reply(id, json_rpc::invalid_params, reason);
}

/// `otherwise` if the member is absent; nullopt if it is not a boolean.
std::optional<bool> flag(std::string_view params, std::string_view name, bool otherwise) {
  const auto raw = find_member(params, name);
  if (!raw) return otherwise;
  if (*raw != "true" && *raw != "false") return std::nullopt;
  return *raw == "true";
}

std::optional<std::uint64_t> number(std::string_view params, std::string_view name,
                                    std::uint64_t otherwise) {
  const auto raw = find_member(params, name);
  return raw ? to_unsigned(*raw) : std::optional(otherwise);
}

/// The requested states: all if none are named; nullopt if the member is not a list of states.
std::optional<std::array<bool, job_states>> states_in(std::string_view params) {
  std::array<bool, job_states> wanted{};
  const auto raw = find_member(params, "states");
  if (!raw) {
    wanted.fill(true);
    return wanted;
  }
  const bool is_list = each_element(*raw, [&](std::string_view name) {
    if (!is_string(name)) return false;
    const auto state = job_state_named(*to_text(name));
    if (state) wanted[static_cast<std::size_t>(*state)] = true;
    return state.has_value();
  });
  if (!is_list) return std::nullopt;
  return wanted;
}

}  // namespace

bool JobMethods::may_see(const Client& asker, const Job& job) const {
  if (asker.grant) return job.grant && job.grant->is_of(asker.grant_id());
  const bool is_root = !asker.user.remote && asker.user.uid == 0;
  return asker.user == job.user || is_root || runner_.options().shared;
}

/// The job that the params name, if its user may see it.
Job* JobMethods::find_job(std::string_view params, const Client& asker) {
  const auto name = find_string(params, "job");
  Job* const job = name ? runner_.store().find_job(*name) : nullptr;
  return job != nullptr && may_see(asker, *job) ? job : nullptr;
}

std::string JobMethods::submit(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  JobStore& store = runner_.store();
  const JobNumber number = store.next_number();
  auto read = read_submitted(params, number);
  if (const auto* wrong = std::get_if<std::string>(&read)) return invalid(id, *wrong);
  SubmittedRequest& submitted = std::get<SubmittedRequest>(read);
  if (!submitted.key.empty()) {
    // Another grant's jobs are not this one's.
    if (asker.grant) submitted.key.insert(0, asker.grant_id() + '/');
    constexpr std::string_view other_request =
        "Invalid params: this key was used with another method or other params";
    if (const Job* first = store.with_key(asker.user, submitted.key)) {
      return first->digest == submitted.digest
                 ? result_reply(id, submitted_result(*first, store.write()))
                 : invalid(id, other_request);
    }
    if (const UsedKey* used = store.used_key(asker.user, submitted.key, loop_.now())) {
      return used->digest == submitted.digest
                 ? result_reply(id, forgotten_result(used->job, used->state))
                 : invalid(id, other_request);
    }
  }
  const std::uint64_t calls = is_counted_call(submitted.request.method) ? 1 : 0;
  if (const auto refusal = runner_.router().from_clients().refusal_to_ask(asker, id, calls))
    return error_reply(id, *refusal);
  const Job* const job = runner_.submit(std::move(submitted), number, asker);
  if (job == nullptr) {
    if (asker.grant) runner_.router().permissions().grants().give_back_calls(*asker.grant, calls);
    return error_reply(id, failure_of(ErrorKind::overloaded, Delivered::no,
                                      "there is no room for another job until one of this user's "
                                      "has ended (--jobs, --jobs-bytes)"));
  }
  return result_reply(id, submitted_result(*job, store.write()));
}

void JobMethods::collect(const Frame& request, const Client& asker, Control::Reply reply) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  const auto wait = number(params, "waitMs", 0);
  const auto keep = flag(params, "keep", true);
  const auto answers = flag(params, "answer", false);
  if (!wait || !keep || !answers) {
    reply(
        invalid(id, "Invalid params: waitMs is a whole number, keep and answer are true or false"));
    return;
  }
  Job* const job = find_job(params, asker);
  if (job == nullptr) {
    reply(unknown_job_reply(id));
    return;
  }
  if (request.id.size() + request.progress_token.size() > JobWaiters::longest_names) {
    reply(invalid(id, fmt::format("Invalid params: the id and the progress token of a collect have "
                                  "at most {} bytes",
                                  JobWaiters::longest_names)));
    return;
  }
  if (!job_waiters_.has_room_for(asker)) {
    reply(error_reply(id, failure_of(ErrorKind::overloaded, Delivered::no,
                                     fmt::format("this connection waits for {} jobs already",
                                                 JobWaiters::max_of_client))));
    return;
  }
  constexpr std::chrono::milliseconds longest = longest_wait;
  Collect collect;
  collect.keep = *keep;
  collect.answers = *answers;
  collect.wait = *wait > static_cast<std::uint64_t>(longest.count())
                     ? longest
                     : std::chrono::milliseconds(*wait);
  if (asker.channel.identity().is_http())
    collect.wait = std::min(collect.wait, runner_.options().longest_http_wait);
  job_waiters_.add_waiter(asker, request, *job, collect, std::move(reply));
}

std::string JobMethods::keep_for_later(const Frame& request, const Client& asker,
                                       Control::Reply reply) {
  const JobNumber number = runner_.store().next_number();
  auto submitted = submitted_for_later(request, number);
  if (!submitted) return {};
  // A request that is not kept is judged and counted later, as an ordinary one.
  Permissions& permissions = runner_.router().permissions();
  const std::uint64_t calls = is_counted_call(request.method) ? 1 : 0;
  if (!permissions.has_token(asker, calls)) return {};
  Job* const job = runner_.submit(std::move(*submitted), number, asker);
  if (job == nullptr) return {};
  static_cast<void>(permissions.take_token(asker, 1, calls));
  Collect collect;
  collect.delivers = true;
  job_waiters_.add_waiter(asker, request, *job, collect, std::move(reply));
  return job->id;
}

std::string JobMethods::list(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  const auto limit = number(params, "limit", 100);
  const auto states = states_in(params);
  if (!limit || *limit == 0 || !states)
    return invalid(id, "Invalid params: states is a list of states, limit a whole number above 0");
  const std::size_t most = std::min<std::uint64_t>(*limit, max_listed);
  JsonArray all;
  std::size_t count = 0;
  runner_.store().each_newest_first([&](const Job& job) {
    if (!may_see(asker, job) || !(*states)[static_cast<std::size_t>(job.state)]) return true;
    all.add(listed_job(job, loop_.wall_time()));
    return ++count < most;
  });
  return result_reply(id, JsonObject().add("jobs", all));
}

std::string JobMethods::answer_question(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  const std::string_view result = find_member(params, "result").value_or("");
  const std::string_view error = find_member(params, "error").value_or("");
  if (result.empty() == error.empty() || !is_object(result.empty() ? error : result))
    return invalid(id, "Invalid params: one of result and error is needed, an object");
  Job* const job = find_job(params, asker);
  if (job == nullptr) return unknown_job_reply(id);
  const std::string_view question = find_member(params, "questionId").value_or("");
  if (!question.empty() && !is_string(question))
    return invalid(id, "Invalid params: questionId is a string");
  const std::string wrong =
      runner_.answer(*job, result, error,
                     question.empty() ? "" : unescape(question.substr(1, question.size() - 2)));
  return wrong.empty() ? result_reply(id, "{}") : invalid(id, wrong);
}

std::string JobMethods::cancel(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  Job* const job = find_job(params, asker);
  if (job == nullptr) return unknown_job_reply(id);
  const JobState state = is_end(job->state) ? job->state : JobState::cancelled;
  if (!is_end(job->state)) runner_.cancel(*job);
  return result_reply(id, JsonObject().add("state", name_of(state)));
}

std::string JobMethods::forget(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  Job* const job = find_job(params, asker);
  if (job == nullptr) return unknown_job_reply(id);
  if (!is_end(job->state))
    return invalid(id, "Invalid params: the job has not ended: it can be cancelled");
  runner_.store().forget(*job, loop_.now());
  return result_reply(id, "{}");
}

}  // namespace bridge
