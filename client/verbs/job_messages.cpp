#include "verbs/job_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "json/message.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"

namespace client {
namespace {

/// The daemon lets nobody wait longer in one request.
constexpr Milliseconds longest_wait{3600 * 1000};

}  // namespace

std::string submit_params(std::string_view call_params, std::string_view key) {
  const std::string keyed =
      key.empty() ? std::string() : fmt::format(R"(,"key":{})", json::quote(key));
  return fmt::format(R"({{"method":"tools/call","params":{}{}}})", call_params, keyed);
}

std::string job_params(std::string_view job, std::string_view more) {
  return fmt::format(R"({{"job":{}{}}})", json::quote(job), more);
}

std::string collect_wait(Milliseconds left) {
  return fmt::format(R"(,"waitMs":{})", std::min(left, longest_wait).count());
}

std::optional<SubmittedJob> read_submitted(std::string_view result) {
  SubmittedJob job;
  job.id = json::string_member(result, "job");
  job.state = json::string_member(result, "state");
  job.durable = json::member(result, "durable") != std::optional<std::string_view>("false");
  job.forgotten = json::member(result, "forgotten") == std::optional<std::string_view>("true");
  if (job.id.empty() || job.state.empty()) return std::nullopt;
  return job;
}

std::string answer_params(std::string_view job, std::string_view question_id,
                          std::string_view more) {
  if (question_id.empty()) return job_params(job, more);
  return job_params(job, fmt::format(R"(,"questionId":{}{})", json::quote(question_id), more));
}

std::string question_json(std::string_view job, const CollectedJob& asking) {
  const std::string params =
      asking.question_params.empty() ? "" : ",\"params\":" + asking.question_params;
  return job_params(job, fmt::format(R"(,"question":{{"method":{}{}}})",
                                     json::quote(asking.question_method), params));
}

std::optional<CollectedJob> read_collected(std::string_view result) {
  using Phase = CollectedJob::Phase;
  CollectedJob job;
  const std::string state = json::string_member(result, "state");
  if (state == "working") return job;
  if (state == "input_required") {
    job.phase = Phase::asks;
    if (const auto question = json::member(result, "question")) {
      job.question_method = json::string_member(*question, "method");
      job.question_params = json::member(*question, "params").value_or("");
    }
    job.question_id = json::string_member(result, "questionId");
    return job;
  }
  job.phase = Phase::ended;
  if (state == "cancelled") return job;
  if (state != "completed" && state != "failed") return std::nullopt;
  const auto response = json::member(result, "response");
  const json::Message message = json::parse_message(response.value_or(""));
  if (message.kind != json::Message::Kind::response) return std::nullopt;
  job.result = message.result;
  job.error = message.error;
  return job;
}

}  // namespace client
