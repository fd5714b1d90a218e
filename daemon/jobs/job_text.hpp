#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "jobs/job.hpp"
#include "json/json_object.hpp"

namespace bridge {

// What the methods of jobs answer, as JSON. Pure.

/// Whether the bridge has made this error, instead of the upstream.
bool is_of_bridge(std::string_view error);
/// Whether it says that the upstream cannot have acted on the request.
bool says_undelivered(std::string_view error);

JsonObject submitted_result(const Job& job, bool durable);
/// Of a key whose job is forgotten.
JsonObject forgotten_result(const std::string& job, JobState state);
/// Tells a question from another one that is asked about the same job: by what it says, so it is
/// the same after a restart.
std::string question_id(const JobQuestion& question);
JsonObject collected_result(const Job& job, WallTime now);
/// An entry of the list of jobs.
JsonObject listed_job(const Job& job, WallTime now);

/// There is no such job for this user.
std::string unknown_job_reply(std::string_view raw_id);

}  // namespace bridge
