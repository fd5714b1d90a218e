#include "jobs/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/clock.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

/// The calendar may be set back.
std::int64_t age_of(const Job& job, WallTime now) {
  return std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::milliseconds>(now - job.created).count());
}

/// As its submitter gave it.
std::string_view key_of(const Job& job) {
  std::string_view key = job.key;
  if (job.grant && !key.empty()) key.remove_prefix(job.grant->id().size() + 1);
  return key;
}

}  // namespace

bool is_of_bridge(std::string_view error) {
  return find_string(find_member(error, "data").value_or(""), "source") == "bridge";
}

bool says_undelivered(std::string_view error) {
  const std::string_view data = find_member(error, "data").value_or("");
  return find_string(data, "source") == "bridge" && find_string(data, "delivered") == "no";
}

JsonObject submitted_result(const Job& job, bool durable) {
  return JsonObject()
      .add("job", job.id)
      .add("state", name_of(job.state))
      .add("created", timestamp(job.created))
      .add("durable", durable);
}

JsonObject forgotten_result(const std::string& job, JobState state) {
  return JsonObject().add("job", job).add("state", name_of(state)).add("forgotten", true);
}

std::string question_id(const JobQuestion& question) {
  const auto parsed = parse_frame(json_rpc_message()
                                      .add("method", question.method)
                                      .add_unless_empty("params", RawJson{question.params})
                                      .text());
  const auto* const frame = std::get_if<Frame>(&parsed);
  return frame == nullptr ? std::string() : fmt::format("{:016x}", request_digest(*frame));
}

JsonObject collected_result(const Job& job, WallTime now) {
  JsonObject result;
  result.add("job", job.id)
      .add("state", name_of(job.state))
      .add("ageMs", age_of(job, now))
      .add_unless_empty("progress", RawJson{job.progress});
  if (job.question) {
    JsonObject question;
    question.add("method", job.question->method)
        .add_unless_empty("params", RawJson{job.question->params});
    result.add("question", question).add("questionId", question_id(*job.question));
  }
  return result.add_unless_empty("response", RawJson{job.response});
}

JsonObject listed_job(const Job& job, WallTime now) {
  JsonObject listed;
  listed.add("job", job.id)
      .add("state", name_of(job.state))
      .add("method", job.method)
      .add_unless_empty("tool", job.tool)
      .add("created", timestamp(job.created))
      .add("ageMs", age_of(job, now))
      .add_unless_empty("key", key_of(job));
  if (job.grant) listed.add("grant", job.grant->id());
  if (job.pid != 0) listed.add("pid", job.pid);
  return listed.add_unless_empty("command", job.command).add("bytes", job.bytes);
}

std::string unknown_job_reply(std::string_view raw_id) {
  return error_reply(
      raw_id, json_rpc::invalid_params,
      "Invalid params: there is no such job: this user has not submitted it, or it was removed",
      R"({"source":"bridge","kind":"job"})");
}

}  // namespace bridge
