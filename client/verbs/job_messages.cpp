#include "verbs/job_messages.hpp"

#include <algorithm>

namespace client {
namespace {

/// The longest wait that the daemon accepts in one request.
constexpr Milliseconds longest_wait{3600 * 1000};

}  // namespace

std::string submit_params(std::string_view call_params, std::string_view key) {
  json::JsonObject params;
  params.add("method", "tools/call").add("params", json::RawJson{call_params});
  return params.add_unless_empty("key", key).text();
}

json::JsonObject job_object(std::string_view job) { return json::JsonObject().add("job", job); }

json::JsonObject answer_object(std::string_view job, std::string_view question_id) {
  return job_object(job).add_unless_empty("questionId", question_id);
}

Milliseconds::rep longest_wait_ms(Milliseconds left) {
  return std::min(left, longest_wait).count();
}

std::optional<SubmittedJob> read_submitted(std::string_view result) {
  SubmittedJob job;
  job.id = json::string_member(result, "job");
  job.state = json::string_member(result, "state");
  job.durable = json::find_member(result, "durable") != std::optional<std::string_view>("false");
  job.forgotten = json::is_true(result, "forgotten");
  if (job.id.empty() || job.state.empty()) return std::nullopt;
  return job;
}

std::optional<CollectedJob> read_collected(std::string_view result) {
  using Phase = CollectedJob::Phase;
  CollectedJob job;
  const std::string state = json::string_member(result, "state");
  if (state == "working") return job;
  if (state == "input_required") {
    job.phase = Phase::asks;
    if (const auto question = json::find_member(result, "question")) {
      job.question_method = json::string_member(*question, "method");
      job.question_params = json::find_member(*question, "params").value_or("");
    }
    job.question_id = json::string_member(result, "questionId");
    return job;
  }
  job.phase = Phase::ended;
  if (state == "cancelled") return job;
  if (state != "completed" && state != "failed") return std::nullopt;
  const auto response = json::find_member(result, "response");
  const json::Message message = json::parse_message(response.value_or(""));
  if (message.kind != json::Message::Kind::response) return std::nullopt;
  job.result = message.result;
  job.error = message.error;
  return job;
}

}  // namespace client
