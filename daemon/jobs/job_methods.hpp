#pragma once

#include <string>
#include <string_view>

#include "jobs/job_runner.hpp"
#include "jobs/job_waiters.hpp"
#include "router/control.hpp"

namespace bridge {

/// Answers the control methods of jobs (BEHAVIOUR, "Jobs"). Each user sees its own jobs, root all
/// of them; with --jobs-shared everyone sees all. Owned by the daemon; the loop's thread only.
class JobMethods {
 public:
  JobMethods(const EventLoop& loop, JobRunner& runner, JobWaiters& collectors)
      : loop_(loop), runner_(runner), job_waiters_(collectors) {}

  // Each returns the response to a request.
  std::string submit(const Frame& request, const Client& asker);
  std::string list(const Frame& request, const Client& asker);
  std::string answer_question(const Frame& request, const Client& asker);
  std::string cancel(const Frame& request, const Client& asker);
  std::string forget(const Frame& request, const Client& asker);
  /// `bridge/collect`, whose response may come later; see Control::answer().
  void collect(const Frame& request, const Client& asker, Control::Reply reply);
  /// See Control::keep_for_later(): the request becomes a job, whose end is delivered to its
  /// client.
  std::string keep_for_later(const Frame& request, const Client& asker, Control::Reply reply);

  static constexpr std::chrono::hours longest_wait{1};
  static constexpr std::size_t max_listed = 1000;

 private:
  bool may_see(const Client& asker, const Job& job) const;
  Job* find_job(std::string_view params, const Client& asker);

  const EventLoop& loop_;
  JobRunner& runner_;
  JobWaiters& job_waiters_;
};

}  // namespace bridge
