#pragma once

#include "terminal/styled.hpp"
#include "verbs/verbs.hpp"

namespace client {

// What is said to the daemon about jobs (requests that belong to no connection), and what it says.
// Pure.

/// The params of bridge/submit for a tools/call with these params. `key` may be empty.
std::string submit_params(std::string_view call_params, std::string_view key);

/// `{"job":…}`, and what bridge/answer is sent before the answer itself.
json::JsonObject job_object(std::string_view job);
json::JsonObject answer_object(std::string_view job, std::string_view question_id);

/// How long bridge/collect may wait, if there is so much time: `waitMs` of its params.
Milliseconds::rep longest_wait_ms(Milliseconds left);

/// The result of bridge/submit.
struct SubmittedJob {
  std::string id;
  std::string state;
  bool durable = true;
  bool forgotten = false;  ///< its key did the same call, and only how that ended is still known
};

/// Nothing if it cannot be read.
std::optional<SubmittedJob> read_submitted(std::string_view result);

/// The result of bridge/collect. Text is JSON as it came, "" for what is not there.
struct CollectedJob {
  enum class Phase { working, asks, ended };

  Phase phase = Phase::working;
  std::string question_method;  ///< decoded
  std::string question_params;
  std::string question_id;  ///< which one is answered; "" if the daemon does not say
  std::string result;       ///< of the response, if the job has completed
  std::string error;        ///< likewise, if it has failed; neither: it was cancelled
};

/// Nothing if it cannot be read.
std::optional<CollectedJob> read_collected(std::string_view result);

/// The jobs of bridge/jobs as a table with a heading. Their ids are never cut.
std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look);

}  // namespace client
