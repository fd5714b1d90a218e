#pragma once

#include <string_view>

#include "json/frame.hpp"
#include "json/reply.hpp"
#include "router/call.hpp"
#include "router/client.hpp"
#include "router/router.hpp"

namespace bridge {

class JobRunner;

/// All jobs of a user as a caller of the router. Each request has the id of JobRequest::id().
///
/// Owned by JobRunner while the user has unfinished jobs, or one of their requests waits or is in
/// flight; the loop's thread only.
class JobsOfUser final : public Caller {
 public:
  JobsOfUser(const User& its_user, Router& router, JobRunner& runner);
  ~JobsOfUser() override { router_.others().leave(*this); }

  /// Whether nothing of it waits or is in flight.
  bool is_idle() const {
    return waiting.empty() && in_flight.empty() && !waits_for_slot && !waits_for_user_slot;
  }

 private:
  void starting(UpstreamId id, const Call& call) override;
  void input_required(const Call& call, std::string_view result) override;
  void notify(const Call& call, Frame&& notification) override;
  bool hears(const Call& call) const override { return call.job->for_client; }
  void answer(std::string_view raw_id, Frame&& response) override;
  void fail(std::string_view raw_id, const Failure& failure) override;
  void no_answer(std::string_view raw_id) override;

  Router& router_;
  JobRunner& runner_;
};

}  // namespace bridge
