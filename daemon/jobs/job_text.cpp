#include "jobs/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

}  // namespace

bool is_of_bridge(std::string_view error) {
  return find_string(find_member(error, "data").value_or(""), "source") == "bridge";
}

bool says_undelivered(std::string_view error) {
  const std::string_view data = find_member(error, "data").value_or("");
  return find_string(data, "source") == "bridge" && find_string(data, "delivered") == "no";
}

std::string submitted_result(const Job& job, bool durable) {
  return fmt::format(R"({{"job":"{}","state":"{}","created":"{}","durable":{}}})", job.id,
                     name_of(job.state), timestamp(job.created), durable);
}

std::string forgotten_result(const std::string& job, JobState state) {
  return fmt::format(R"({{"job":"{}","state":"{}","forgotten":true}})", job, name_of(state));
}

std::string question_id(const JobQuestion& question) {
  const auto parsed =
      parse_frame(fmt::format(R"({{"jsonrpc":"2.0","method":{}{}{}}})", quote(question.method),
                              question.params.empty() ? "" : ",\"params\":", question.params));
  const auto* const frame = std::get_if<Frame>(&parsed);
  return frame == nullptr ? std::string() : fmt::format("{:016x}", request_digest(*frame));
}

std::string collected_result(const Job& job, WallTime now) {
  std::string text = fmt::format(R"({{"job":"{}","state":"{}","ageMs":{})", job.id,
                                 name_of(job.state), age_of(job, now));
  if (!job.progress.empty()) text += ",\"progress\":" + job.progress;
  if (job.question) {
    text += ",\"question\":{\"method\":" + quote(job.question->method);
    if (!job.question->params.empty()) text += ",\"params\":" + job.question->params;
    text += "},\"questionId\":\"" + question_id(*job.question) + '"';
  }
  if (!job.response.empty()) text += ",\"response\":" + job.response;
  return text + '}';
}

std::string listed_job(const Job& job, WallTime now) {
  std::string text = fmt::format(R"({{"job":"{}","state":"{}","method":{})", job.id,
                                 name_of(job.state), quote(job.method));
  auto out = std::back_inserter(text);
  if (!job.tool.empty()) fmt::format_to(out, R"(,"tool":{})", quote(job.tool));
  fmt::format_to(out, R"(,"created":"{}","ageMs":{})", timestamp(job.created), age_of(job, now));
  if (!job.key.empty()) fmt::format_to(out, R"(,"key":{})", quote(job.key));
  if (job.pid != 0) fmt::format_to(out, R"(,"pid":{})", job.pid);
  if (!job.command.empty()) fmt::format_to(out, R"(,"command":{})", quote(job.command));
  fmt::format_to(out, R"(,"bytes":{}}})", job.bytes);
  return text;
}

std::string unknown_job_reply(std::string_view raw_id) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":"Invalid params: there is no such job: it was never submitted by this user, or is forgotten","data":{{"source":"bridge","kind":"job"}}}}}})",
      raw_id, json_rpc::invalid_params);
}

}  // namespace bridge
