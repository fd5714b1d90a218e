#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/job.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// What comes for the jobs of a user. Implemented by the JobRunner; it may only take note.
class JobClientEvents {
 public:
  enum class Kind {
    answer,     ///< the response; nothing more follows
    about,      ///< a question or a progress notification
    no_answer,  ///< it was cancelled
  };
  /// `number` is 0 for what is about no job that is known.
  virtual void job_heard(const ClientChannel& client, JobNumber number, Kind kind,
                         std::string frame) = 0;
  virtual void job_starting(JobNumber number, UpstreamId id) = 0;
  /// Where its answer comes, if another daemon has sent its request; none: it is to be sent.
  virtual std::optional<ResumePoint> resume_point(JobNumber number) const = 0;
  /// Its request was answered with this `input_required` result.
  virtual void job_asked(JobNumber number, std::string_view result) = 0;
  /// Whether a question that says of no request that it is about it can be about one of its jobs.
  virtual bool can_take_question(const ClientChannel& client) const = 0;
  /// Whether it is the request of a client that was told that its answer comes later.
  virtual bool is_for_later(JobNumber number) const = 0;
  /// Who has submitted it.
  virtual std::optional<Submitter> submitter(JobNumber number) = 0;
  /// Whether another image of the program goes on with it when its answer comes.
  virtual bool survives_upgrade(JobNumber number) const = 0;

 protected:
  ~JobClientEvents() = default;
};

/// The client that a user's jobs are to the router: they share places as the requests of one client
/// do. No connection is behind it, and nothing of the ring is for it. The id of each request is the
/// number of its job, or task_request_id().
///
/// Owned by the JobRunner; the loop's thread only.
class JobClient final : public ClientChannel {
 public:
  JobClient(ClientId id, const User& user, SteadyTime now, JobClientEvents& events);

  void send(std::string frame) override;
  void send_ahead(std::string frame) override { send(std::move(frame)); }
  void answer(std::string_view request_id, std::string frame, AnswerOrder order) override;
  void send_about(std::string_view request_id, std::string frame) override;
  void no_answer(std::string_view request_id) override;
  bool can_be_asked(std::string_view request_id) const override {
    return !request_id.empty() || events_.can_take_question(*this);
  }
  bool is_job() const override { return true; }
  bool acts_for_client(std::string_view request_id) const override;
  bool survives_upgrade(std::string_view request_id) const override;
  void request_starting(std::string_view request_id, UpstreamId id) override;
  std::optional<ResumePoint> resume_point(std::string_view request_id) const override;
  void request_asked(std::string_view request_id, std::string_view result) override;
  std::optional<Submitter> submitted_by(std::string_view request_id) const override;
  void set_feed(RingFeed) override {}
  void finish() override {}
  std::size_t queued_bytes() const override { return 0; }
  bool congested() const override { return false; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return {}; }

 private:
  ClientIdentity identity_;
  JobClientEvents& events_;
};

}  // namespace bridge
