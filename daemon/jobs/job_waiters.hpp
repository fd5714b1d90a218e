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

/// A waiting `bridge/collect`.
struct Collect {
  /// Not a collect but the request itself: it became a job, and its client gets the response when
  /// the job ends.
  bool delivers = false;
  bool keep = true;      ///< otherwise the job is forgotten once its end was collected
  bool answers = false;  ///< it answers questions about the job
  std::chrono::milliseconds wait{};
};

/// The callers of `bridge/collect` that wait for the end or a question of a job. A new question
/// goes to one of them that answers (Questions::offer).
///
/// Owned by the daemon; the loop's thread only. Bounds: `max_of_client` per client,
/// `longest_names`, and one delivery per job. A message waits until its client's queue has room.
class JobWaiters {
 public:
  static constexpr std::size_t max_of_client = 64;
  static constexpr std::size_t longest_names = 4096;  ///< bytes of id and progress token together

  /// A request that has become a job, whose client still waits for the answer.
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
  /// `request` is the client's `bridge/collect`.
  void add_waiter(const Client& client, const Frame& request, Job& job, const Collect& collect,
                  Control::Reply reply);
  std::size_t size() const { return all_.size(); }

  /// For an upgrade.
  std::vector<Delivery> save_deliveries() const;
  /// REQUIRES: the client and the job were restored.
  void restore(Delivery saved, Control::Reply reply);

  // As in Control.
  bool cancel(const Client& client, std::string_view raw_id);
  void client_can_be_asked(const Client& client);
  void client_half_closed(const Client& client);
  void client_drained(const Client& client);
  void client_left(const Client& client);
  /// The daemon is ending: answers the waiting clients with the states of their jobs.
  void tell_all();

  // Called by the JobRunner at the end of a turn; the job is in the store.
  /// The job has ended, or is input_required.
  void job_settled(const Job& job);
  /// `params` of a `notifications/progress`, without the token.
  void job_progress(const Job& job, std::string_view params);
  /// Another notification about its request.
  void job_notified(const Job& job, const Frame& notification);
  std::vector<JobWaiter> waiters_for(JobNumber number) const;

 private:
  struct WaitingCollect : Collect {
    ClientId client{};
    std::string request_id{};      ///< raw JSON
    std::string progress_token{};  ///< raw JSON; empty: none
    bool may_be_asked = true;
    bool is_due = false;  ///< answered as soon as its queue has room, whatever the job's state
    SteadyTime until{};
    Control::Reply reply{};
  };
  using All = std::multimap<JobNumber, WaitingCollect>;

  void add_waiter(JobNumber job, WaitingCollect collector);
  void ask_no_more(All::iterator at);
  void tell(All::iterator at);
  void tell_now(All::iterator at);
  void tell_due();
  void forget_collected();
  template <class Select>
  std::vector<All::iterator> select(Select&& is_one);
  std::vector<All::iterator> of(const Client& client);

  EventLoop& loop_;
  JobRunner& runner_;
  const Clients& clients_;
  All all_;                           ///< by job
  std::vector<JobNumber> collected_;  ///< to be forgotten once all waiting clients were answered
  DeadlineTimer clock_;
};

}  // namespace bridge
