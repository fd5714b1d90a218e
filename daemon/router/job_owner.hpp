#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "router/call.hpp"
#include "router/client_channel.hpp"

namespace bridge {

struct Question;

/// The owner of all jobs, as the router knows it; their requests come from the Callers that it has
/// joined to the router. Called from within the router, so an implementation may write, but not
/// call it. Implemented by JobRunner.
class JobOwner {
 public:
  /// The caller of this user's jobs.
  virtual Caller& caller_of(const User& user) = 0;
  /// Makes a job of the call of a client that has left (--orphans keep). Null if it cannot be a
  /// job, or there is no room.
  virtual std::unique_ptr<JobRequest> adopt(const Client& former, UpstreamId id,
                                            const Call& call) = 0;

  // Questions of the upstream.
  /// For a question that names nothing: of each user with jobs at the server, the oldest.
  virtual std::vector<JobNumber> jobs_to_ask() const = 0;
  /// The job that the server's task of this id (raw JSON) is.
  virtual std::optional<JobNumber> job_of_task(std::string_view raw_id) const = 0;
  /// Another question, or a question to another user: Questions::first_of().
  virtual void job_questions_changed(JobNumber number) = 0;
  /// A question from a result was answered, in JSON; empty: with an error.
  virtual void job_question_answered(JobNumber number, const Question& question,
                                     std::string_view result) = 0;

 protected:
  ~JobOwner() = default;
};

}  // namespace bridge
