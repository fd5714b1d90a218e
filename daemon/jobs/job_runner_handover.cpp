// What another daemon, or image of the program, has left of jobs that had ended.
#include <utility>
#include <vector>

#include "jobs/job_runner.hpp"

namespace bridge {

void JobRunner::go_on_with(std::vector<KeptJob> jobs, std::vector<KeptKey> keys) {
  for (KeptJob& kept : jobs) {
    if (auto job = job_of(std::move(kept))) store_.restore(std::move(*job));
  }
  for (KeptKey& kept : keys) {
    const User user = user_of(kept);
    if (auto key = used_key_of(std::move(kept))) store_.restore(user, std::move(*key));
  }
  restored();
}

void JobRunner::restored() {
  some_have_ended_ = true;
  end_of_turn_.schedule();
  if (const std::uint64_t dropped = store_.counts().not_restored; dropped > 0) {
    log_.event(LogLevel::warning, "jobs not restored",
               "{} jobs that had ended are forgotten: --jobs or --jobs-bytes is lower than it was",
               dropped);
  }
}

}  // namespace bridge
