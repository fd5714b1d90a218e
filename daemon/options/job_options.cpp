#include <algorithm>

#include "options/option_groups.hpp"
#include "options/option_table.hpp"

namespace bridge {

void add_job_options(OptionTable& table, Options& options) {
  table.group("Jobs");
  table.count<std::size_t>("--jobs", options.jobs.limits.jobs, "Jobs kept", 1, "1000");
  table.size("--jobs-bytes", options.jobs.limits.bytes, "Bytes of jobs kept, answers included");
  table.duration("--job-ttl", options.jobs.limits.ttl,
                 "How long a job is kept after its end, and a question about one waits");
  table.flag("jobs-shared", options.jobs.shared, "Every user sees all jobs, and not only its own");
}

void resolve_job_options(Options& options) {
  options.jobs.request_max = options.upstream.http.request_max;
  // So that the answer is there in time.
  constexpr std::chrono::milliseconds before{5000};
  const std::chrono::milliseconds timeout = options.face.timeout;
  options.jobs.longest_http_wait = std::max(timeout - before, timeout / 2);
}

}  // namespace bridge
