#include "jobs/jobs_of_user.hpp"

#include <utility>

#include "jobs/job_runner.hpp"

namespace bridge {

JobsOfUser::JobsOfUser(const User& its_user, Router& router, JobRunner& runner)
    : Caller(its_user, router.budget(), nullptr), router_(router), runner_(runner) {
  router.others().join(*this);
}

/// What must be written before the request leaves is written here.
void JobsOfUser::starting(UpstreamId id, const Call& call) {
  if (!call.job->about_task)
    runner_.request_starting(call.job->number, id, call.to_modern != nullptr);
}

void JobsOfUser::input_required(const Call& call, std::string_view result) {
  runner_.request_asked(call.job->number, result);
}

void JobsOfUser::notify(const Call& call, Frame&& notification) {
  runner_.request_notified(call.job->number, std::move(notification));
}

void JobsOfUser::answer(std::string_view raw_id, Frame&& response) {
  runner_.request_ended(job_request_of(raw_id), std::move(response));
}

void JobsOfUser::fail(std::string_view raw_id, const Failure& failure) {
  runner_.request_ended(job_request_of(raw_id), failure);
}

void JobsOfUser::no_answer(std::string_view raw_id) {
  runner_.request_ended(job_request_of(raw_id), {});
}

}  // namespace bridge
