#include "router/other_callers.hpp"

#include <algorithm>
#include <utility>

#include "json/json_scanner.hpp"
#include "json/json_text.hpp"

namespace bridge {

void OtherCallers::request(Caller& caller, Frame request, std::unique_ptr<JobRequest> job) {
  if (caller.acts_for_user()) ++parts_.statistics.requests;
  if (job != nullptr && job->grant) parts_.permissions.grant_is_used();
  if (parts_.audit != nullptr && job != nullptr) parts_.audit->came(*job, request);
  parts_.frames.queue_frame(caller, std::move(request), std::move(job));
}

void OtherCallers::resume_asked(Caller& caller, JobRequest job, Frame request,
                                std::string_view result, const std::vector<std::string>& answers) {
  ++parts_.statistics.requests;
  if (job.grant) parts_.permissions.grant_is_used();
  if (parts_.audit != nullptr) parts_.audit->came(job, request);
  const bool needs_tools =
      parts_.permissions.needs_tools(caller, &job, request, parts_.tools.list());
  ResumedJob resumed{&caller, std::move(job), std::move(request), std::string(result), answers};
  if (!needs_tools) {
    resume_judged(std::move(resumed), {});
    return;
  }
  resumed_later_.push_back(std::move(resumed));
  if (resumed_later_.size() > 1 ||
      parts_.control.list_tools([this](const std::string& listed) { resume_waiting_jobs(listed); }))
    return;
  resume_waiting_jobs({});
}

void OtherCallers::resume_waiting_jobs(const std::string& listed) {
  for (ResumedJob& one : std::exchange(resumed_later_, {})) resume_judged(std::move(one), listed);
}

/// `listed`: the response to the request for the tools that it needed; empty: none.
void OtherCallers::resume_judged(ResumedJob&& resumed, const std::string& listed) {
  auto& [caller, job, request, result, answers] = resumed;
  auto refusal = parts_.permissions.refusal(*caller, &job, request, parts_.tools.list());
  if (refusal && find_member(listed, "error"))
    refusal = parts_.permissions.refusal_without_tools(listed);
  if (refusal) {
    parts_.request_log.deny(*caller, request.method, request.text(request.id), *refusal);
    return;
  }
  const UpstreamId id = parts_.context.ids.next();
  WaitingFrame waiting{std::move(request), parts_.context.loop.now(),
                       std::make_unique<JobRequest>(std::move(job))};
  parts_.crossings.server_asks(id, parts_.in_flight.add_asked(*caller, std::move(waiting), id),
                               result, answers);
}

void OtherCallers::cancel(Caller& caller, std::string_view raw_id, std::string_view reason) {
  const bool waits = std::erase_if(resumed_later_, [&](const ResumedJob& one) {
                       return one.caller == &caller && one.job.id() == raw_id;
                     }) > 0;
  if (!waits && !parts_.frames.cancel(caller, raw_id))
    parts_.in_flight.cancel(caller, raw_id, reason);
}

void OtherCallers::cancel_all(Caller& caller) {
  parts_.frames.drop_waiting(caller);
  while (!caller.in_flight.empty()) {
    const Call& call = *parts_.in_flight.find_call(caller.in_flight.back());
    parts_.in_flight.cancel(caller, std::string(call.client_request_id),
                            "its answer is not needed");
  }
}

void OtherCallers::leave(Caller& caller) {
  parts_.frames.drop_waiting(caller);
  std::erase_if(resumed_later_, [&](const ResumedJob& one) { return one.caller == &caller; });
  for (const UpstreamId id : caller.in_flight) parts_.in_flight.find_call(id)->caller = nullptr;
  parts_.clients.leave(caller);
}

void OtherCallers::set_asked(Caller& caller, std::string_view raw_id, bool is_asked) {
  if (parts_.in_flight.set_asked(caller, raw_id, is_asked) && is_asked)
    parts_.frames.slot_freed(caller);
}

}  // namespace bridge
