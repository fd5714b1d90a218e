#pragma once

#include <string>
#include <string_view>

#include "verbs/job_waits.hpp"
#include "verbs/verbs.hpp"

namespace client {

/// Says on stderr why a request about jobs has no result. REQUIRES: the outcome is not result, or
/// the result cannot be read.
ExitCode report_job_failure(Dialogue& dialogue, const Answer& answer);

/// Prints the end of a job as `call` prints its result; of several, each under its id.
/// REQUIRES: event.kind is ended.
ExitCode present_end(Dialogue& dialogue, const Options& options, const JobEvent& event,
                     bool several);

/// Shows on stderr what a job asks, and how to answer it.
void show_question(Console& console, const std::string& job, const CollectedJob& collected);

}  // namespace client
