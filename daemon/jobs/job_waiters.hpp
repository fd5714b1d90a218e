#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "jobs/job_runner.hpp"
#include "router/control.hpp"

namespace bridge {

/// What a `bridge/collect` asks for, that waits.
struct Collect {
  /// The request itself rather than a collect: its client was promised the response later, and gets
  /// it when the job ends.
  bool delivers = false;
  bool keep = true;      ///< else a job whose end was collected is forgotten
  bool answers = false;  ///< questions about the job
  std::chrono::milliseconds wait{};
};

/// The callers of `bridge/collect` that wait for an end or a question of a job; what it is asked
/// meanwhile is asked of one of them that answers (Questions::offer).
///
/// Owned by the daemon; the loop's thread only. Bounds: `max_of_client` of each client, of
/// `longest_names`, and of requests whose answers are delivered as many as there are jobs; what one
/// is told waits until its client's queue has room.
class JobWaiters {
 public:
  static constexpr std::size_t max_of_client = 64;
  static constexpr std::size_t longest_names = 4096;  ///< id and progress token of one, together

  /// A request that has become a job, and whose client still waits for its answer.
  struct Delivery {
    JobNumber job{};
    ClientId client{};
    std::string request_id;      ///< raw JSON
    std::string progress_token;  ///< raw JSON; empty: none

    template <class A>
    void each_field(A& archive) {
      archive(job, client, request_id, progress_token);
    }
  };

  JobWaiters(EventLoop& loop, JobRunner& runner, const Clients& clients);

  bool has_room_for(const Client& client) const;
  /// `request` is its `bridge/collect`.
  void add(const Client& client, const Frame& request, Job& job, const Collect& collect,
           Control::Reply reply);
  std::size_t size() const { return all_.size(); }

  /// In an upgrade.
  std::vector<Delivery> save() const;
  /// REQUIRES: its client is there, and its job.
  void restore(Delivery saved, Control::Reply reply);

  // As Control.
  bool cancel(const Client& client, std::string_view raw_id);
  void client_can_be_asked(const Client& client);
  void client_half_closed(const Client& client);
  void client_drained(const Client& client);
  void client_left(const Client& client);
  /// The daemon is ending: tells the waiting clients the state of their jobs.
  void tell_all();

  // From the JobRunner, at the end of a turn; the job is one of the store.
  /// It has ended, or is input_required.
  void job_settled(const Job& job);
  /// `params` of a `notifications/progress`, without the token.
  void job_progress(const Job& job, std::string_view params);
  /// Another notification about its request.
  void job_notified(const Job& job, const Frame& notification);
  std::vector<JobWaiter> waiters_for(JobNumber number) const;

 private:
  struct WaitingCollect {
    ClientId client{};
    std::string request_id;      ///< raw JSON
    std::string progress_token;  ///< raw JSON; empty: none
    bool is_modern = false;
    bool keep = true;
    bool answers = false;
    bool delivers = false;
    bool may_be_asked = true;
    bool is_due = false;  ///< told as soon as its queue has room, whatever the job's state
    SteadyTime until{};
    Control::Reply reply;
  };
  using All = std::multimap<JobNumber, WaitingCollect>;

  void ask_no_more(All::iterator at);
  void tell(All::iterator at);
  void tell_due();
  void forget_collected();
  void erase(All::iterator at);
  template <class Select>
  std::vector<All::iterator> select(Select&& is_one);

  EventLoop& loop_;
  JobRunner& runner_;
  const Clients& clients_;
  All all_;  ///< by the job
  std::map<ClientId, std::size_t> of_client_;
  std::vector<JobNumber> collected_;  ///< to be forgotten, when all who wait for them were told
  DeadlineTimer clock_;
};

}  // namespace bridge
