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

/// The content of a `bridge/submit`.
struct SubmittedRequest {
  Frame request;  ///< as the job sends it: id and progress token are the job's number
  std::string tool;
  std::string key;           ///< empty: none
  std::uint64_t digest = 0;  ///< of the request, if there is a key
  std::optional<std::chrono::milliseconds> keep;
  bool for_later = false;  ///< sent as an ordinary request whose answer was promised for later
};

constexpr std::size_t longest_key = 256;         ///< in bytes, unescaped
constexpr std::size_t longest_job_method = 256;  ///< in bytes, unescaped
constexpr std::size_t longest_shown_name = 256;  ///< of tools and commands
constexpr std::chrono::hours longest_keep{24 * 366};

/// Parses the params of a `bridge/submit`; `number` is the future job's. Returns an error message
/// if it cannot be submitted. Pure.
std::variant<SubmittedRequest, std::string> read_submitted(std::string_view params,
                                                           JobNumber number);

/// The same for a request that a client has sent itself; nullopt if it cannot be a job. Pure.
std::optional<SubmittedRequest> submitted_for_later(const Frame& request, JobNumber number);

/// Whether requests of this method can be jobs: they are forwarded and have an end.
bool can_be_job(std::string_view method);

/// `text` cut to `longest_shown_name` bytes, between two characters.
std::string shortened(std::string text);

}  // namespace bridge
