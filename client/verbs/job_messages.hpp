#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "command_line/options.hpp"
#include "json/document.hpp"

namespace client {

// Messages to the daemon about jobs (requests that belong to no connection), and its responses.
// Pure.

/// The params of bridge/submit for a tools/call with these params. `key` may be empty.
std::string submit_params(std::string_view call_params, std::string_view key);

/// `{"job":…}`, and the members of bridge/answer other than the answer.
json::JsonObject job_object(std::string_view job);
json::JsonObject answer_object(std::string_view job, std::string_view question_id);

/// `waitMs` for bridge/collect: how long it may wait, given the time left.
Milliseconds::rep longest_wait_ms(Milliseconds left);

/// The result of bridge/submit.
struct SubmittedJob {
  std::string id;
  std::string state;
  bool durable = true;
  bool forgotten = false;  ///< its key did the same call, and only the outcome is still known
};

/// nullopt if it cannot be read.
std::optional<SubmittedJob> read_submitted(std::string_view result);

/// The result of bridge/collect. Text is JSON as received, "" if absent.
struct CollectedJob {
  enum class Phase { working, asks, ended };

  Phase phase = Phase::working;
  std::string question_method;  ///< decoded
  std::string question_params;
  std::string question_id;  ///< the question to answer; "" if the daemon does not name it
  std::string result;       ///< of the response, if the job has completed
  std::string error;        ///< of a failed job; if both are empty it was cancelled
};

/// nullopt if it cannot be read.
std::optional<CollectedJob> read_collected(std::string_view result);

}  // namespace client
