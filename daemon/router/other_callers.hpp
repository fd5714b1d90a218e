#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "router/router_parts.hpp"

namespace bridge {

/// Requests of callers that are not clients: jobs, and the bridge itself.
///
/// Owned by the router; the loop's thread only. Memory: the jobs that wait for the list of tools
/// (--jobs).
class OtherCallers {
 public:
  explicit OtherCallers(RouterParts& parts) : parts_(parts) {}

  /// `caller` may request(), until it leaves; what is in flight then has no caller.
  void join(Caller& caller) { parts_.clients.join(caller); }
  void leave(Caller& caller);
  /// Queues a request; `job`: of a job.
  void request(Caller& caller, Frame request, std::unique_ptr<JobRequest> job = nullptr);
  /// A job's request that an earlier process sent and that was answered with this `input_required`
  /// result; `answers`: to the first of its questions.
  void resume_asked(Caller& caller, JobRequest job, Frame request, std::string_view result,
                    const std::vector<std::string>& answers);
  /// Sets whether a question about the job's request is open: then the request takes no slot.
  void set_asked(Caller& caller, std::string_view raw_id, bool is_asked);
  /// Cancels a request, waiting or in flight.
  void cancel(Caller& caller, std::string_view raw_id, std::string_view reason);
  /// Cancels all requests of the caller.
  void cancel_all(Caller& caller);
  /// A job's request in the form for the present server, decided now because the tool list may be
  /// gone later.
  Frame with_task(Frame request) const {
    return parts_.tools.as_task(std::move(request), parts_.context.session.serving_initialize());
  }

 private:
  /// The parameters of resume_asked().
  struct ResumedJob {
    Caller* caller;
    JobRequest job;
    Frame request;
    std::string result;
    std::vector<std::string> answers;
  };

  void resume_waiting_jobs(const std::string& listed);
  void resume_judged(ResumedJob&& resumed, const std::string& listed);

  RouterParts& parts_;
  std::vector<ResumedJob> resumed_later_;  ///< they wait for the list of tools; bounded by --jobs
};

}  // namespace bridge
