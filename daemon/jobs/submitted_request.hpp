#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "jobs/job.hpp"
#include "json/frame.hpp"

namespace bridge {

/// What `bridge/submit` asks for.
struct SubmittedRequest {
  Frame request;  ///< to be sent by the job: its id and its progress token are the job's number
  std::string tool;
  std::string key;           ///< empty: none
  std::uint64_t digest = 0;  ///< of the request, if there is a key
  std::optional<std::chrono::milliseconds> keep;
  bool for_later = false;  ///< a client has sent it, and was told that its answer comes later
};

constexpr std::size_t longest_key = 256;         ///< in bytes, unescaped
constexpr std::size_t longest_job_method = 256;  ///< in bytes, unescaped
constexpr std::size_t longest_shown_name = 256;  ///< of a tool or a command
constexpr std::chrono::hours longest_keep{24 * 366};

/// Reads the params of a `bridge/submit`; `number` is that of the job to be. Returns why it is none
/// that can be submitted, as the message of an error. Pure.
std::variant<SubmittedRequest, std::string> read_submitted(std::string_view params,
                                                           JobNumber number);

/// The same of a request that a client has sent by itself; nothing if it cannot be a job. Pure.
std::optional<SubmittedRequest> submitted_for_later(const Frame& request, JobNumber number);

/// Whether a request of this method can be a job: one that is forwarded and has an end.
bool can_be_job(std::string_view method);

/// `text` in at most `longest_shown_name` bytes, cut between two characters.
std::string shortened(std::string text);

}  // namespace bridge
