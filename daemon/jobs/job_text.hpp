#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "jobs/job.hpp"
#include "json/json_object.hpp"

namespace bridge {

// The answers of the job methods, as JSON. Pure.

/// Whether the error was made by the bridge, not the upstream.
bool is_of_bridge(std::string_view error);
/// Whether the error says that the upstream cannot have acted on the request.
bool says_undelivered(std::string_view error);

JsonObject submitted_result(const Job& job, bool durable);
/// For the key of a forgotten job.
JsonObject forgotten_result(const std::string& job, JobState state);
/// Distinguishes the questions about a job by their content, so the id is the same after a restart.
std::string question_id(const JobQuestion& question);
JsonObject collected_result(const Job& job, WallTime now);
/// An entry of the list of jobs.
JsonObject listed_job(const Job& job, WallTime now);

/// The error for a job that does not exist for this user.
std::string unknown_job_reply(std::string_view raw_id);

}  // namespace bridge
