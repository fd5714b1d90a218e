#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "jobs/job.hpp"

namespace bridge {

/// Saves the jobs beyond the daemon's life. Implemented by JobLog.
class JobKeeper {
 public:
  /// Writes the changes at once. Returns whether they survive the daemon.
  virtual bool write_changes() = 0;
  /// The upstream asks something on the stream of this job's answer: until that is answered, the
  /// stream is resumed from before the question.
  virtual void note_question(Job& job) = 0;

  virtual ~JobKeeper() = default;
};

/// What remains of a forgotten job with a key, so that the job is not begun twice.
struct UsedKey {
  std::string key;
  std::uint64_t digest = 0;  ///< of method and params
  std::string job;           ///< its id
  JobState state = JobState::completed;
  SteadyTime until{};
  std::uint64_t number = 0;  ///< increases with each added key

  template <class A>
  void each_field(A& archive) {
    archive(key, digest, job, state, until, archive.not_saved(number));
  }
};

/// The used keys of one user. Pure. Bounds: max_keys and max_bytes; the oldest are dropped first,
/// counted.
class UsedKeys {
 public:
  static constexpr std::size_t max_keys = 10'000;
  static constexpr std::size_t max_bytes = 4u << 20;

  /// REQUIRES: the key is new; `until` is not before that of the last one.
  void add(UsedKey key) {
    bytes_ += charge_of(key);
    key.number = ++last_number_;
    keys_.push_back(std::move(key));
    const auto added = std::prev(keys_.end());
    by_key_.emplace(added->key, added);
    while (keys_.size() > max_keys || bytes_ > max_bytes) {
      drop_oldest();
      ++pushed_out_;
    }
  }
  /// Null: absent or expired.
  const UsedKey* find(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &*found->second;
  }
  void expire(SteadyTime now) {
    while (!keys_.empty() && keys_.front().until <= now) drop_oldest();
  }

  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  /// The bytes of keys and job ids.
  std::size_t text_bytes() const { return bytes_ - keys_.size() * overhead; }
  std::uint64_t pushed_out() const { return pushed_out_; }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  static constexpr std::size_t overhead = 168;  // of a list node and an index node
  using List = std::list<UsedKey>;

  static std::size_t charge_of(const UsedKey& key) {
    return key.key.size() + key.job.size() + overhead;
  }
  void drop_oldest() {
    bytes_ -= charge_of(keys_.front());
    by_key_.erase(keys_.front().key);
    keys_.pop_front();
  }

  List keys_;  ///< in order of expiry
  std::map<std::string_view, List::iterator> by_key_;
  std::size_t bytes_ = 0;
  std::uint64_t pushed_out_ = 0;
  std::uint64_t last_number_ = 0;
};

/// The changed parts of a job, as bits.
enum class JobChange : std::uint8_t { nothing = 0, outcome = 1, position = 2, all = 4 };

/// The changes since the last write.
struct JobChanges {
  std::map<JobNumber, unsigned> jobs;
  std::vector<JobNumber> forgotten;
  std::vector<std::pair<User, UsedKey>> keys;  ///< used keys of forgotten jobs
};

/// --jobs, --jobs-bytes, --job-ttl.
struct JobLimits {
  std::size_t jobs = 1000;
  std::size_t bytes = 64u << 20;
  std::chrono::milliseconds ttl{24 * 3600 * 1000};
};

/// The jobs, and the used keys of forgotten ones (BEHAVIOUR, "Jobs: bounds"). Pure; time is passed
/// in.
///
/// Owned by the JobRunner; the loop's thread only. Bounds: JobLimits. Ended jobs make room for
/// later jobs of the same user, oldest first, those with a key last. While another user has a job,
/// no user gets more than half; a user above that makes room when another submits a job.
class JobStore {
 public:
  struct Counts {
    std::uint64_t submitted = 0;
    std::array<std::uint64_t, job_states> ended{};  ///< by final state
    std::uint64_t pushed_out = 0;                   ///< ended ones that made room for others
    std::uint64_t expired = 0;
    std::uint64_t refused = 0;       ///< submits without room
    std::uint64_t not_restored = 0;  ///< ended ones of an earlier daemon, without room
  };

  explicit JobStore(JobLimits limits) : limits_(limits) {}
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  /// Null: nothing is saved, and no changes are recorded.
  void set_keeper(JobKeeper* keeper) { keeper_ = keeper; }
  JobKeeper* keeper() const { return keeper_; }
  /// Writes the changes at once. Returns whether jobs survive the daemon.
  bool write() { return keeper_ != nullptr && keeper_->write_changes(); }
  void changed(const Job& job, JobChange what) {
    if (keeper_ != nullptr) changes_.jobs[job.number] |= static_cast<unsigned>(what);
  }
  JobChanges take_changes() { return std::exchange(changes_, {}); }

  JobNumber next_number() { return static_cast<JobNumber>(++last_number_); }
  /// Null if there is no room even without this user's ended jobs. REQUIRES: a number from
  /// next_number(); a new key, or none.
  Job* add_job(Job job);
  /// Makes room for the job if possible; returns whether there is room.
  bool make_room_for(const Job& job);
  /// Restores a job unchanged. An unfinished one always has room, whatever the present bounds:
  /// ended jobs of its user make room. Null: an ended one without room.
  Job* restore(Job job);
  void restore(const User& user, UsedKey key);

  Job* find_job(JobNumber number) {
    return const_cast<Job*>(std::as_const(*this).find_job(number));
  }
  const Job* find_job(JobNumber number) const;
  Job* find_job(std::string_view id);
  Job* with_key(const User& user, std::string_view key);
  const UsedKey* used_key(const User& user, std::string_view key, SteadyTime now);

  /// Over `longest_progress` bytes it is dropped.
  void set_progress(Job& job, std::string_view params);
  /// False: no room for the question.
  bool ask(Job& job, JobQuestion question);
  void proceed(Job& job);
  /// False: no room for the response; the job did not end. REQUIRES: it has not ended.
  bool end_job(Job& job, JobState state, std::string response, bool delivered, SteadyTime now);
  /// REQUIRES: the job has ended.
  void forget(Job& job, SteadyTime now);
  /// Forgets jobs and keys that have expired. Returns when to call again, if any job has ended.
  std::optional<SteadyTime> expire(SteadyTime now);

  /// Newest first; `visit` returns false to stop, and must not change anything.
  template <class Visit>
  void each_newest_first(Visit&& visit) const {
    for (auto at = jobs_.rbegin(); at != jobs_.rend(); ++at) {
      if (!visit(at->second)) return;
    }
  }
  /// The jobs after this one in order of submission; `visit` as above.
  template <class Visit>
  void each_after(JobNumber number, Visit&& visit) const {
    for (auto at = jobs_.upper_bound(number); at != jobs_.end(); ++at) {
      if (!visit(at->second)) return;
    }
  }
  /// The last number assigned.
  JobNumber last_number() const { return static_cast<JobNumber>(last_number_); }
  /// `visit` also gets the user; in order of expiry per user.
  template <class Visit>
  void each_used_key(Visit&& visit) const {
    for (const auto& [user, owner] : owners_) {
      for (const UsedKey& key : owner.used_keys) visit(user, key);
    }
  }
  /// The keys after this place (a user and a key's number), in order; `visit` returns false to
  /// stop, and must not change anything.
  template <class Visit>
  void each_used_key_after(const std::pair<User, std::uint64_t>& place, Visit&& visit) const {
    for (auto at = owners_.lower_bound(place.first); at != owners_.end(); ++at) {
      for (const UsedKey& key : at->second.used_keys) {
        const bool is_behind = place.first < at->first || key.number > place.second;
        if (is_behind && !visit(at->first, key)) return;
      }
    }
  }
  /// The number of used keys, and the bytes of their texts.
  std::pair<std::size_t, std::size_t> size_of_used_keys() const;
  std::size_t size() const { return jobs_.size(); }
  std::size_t bytes() const { return bytes_; }
  /// The number of jobs that have not ended.
  std::size_t unfinished() const { return jobs_.size() - due_.size(); }
  /// The number of jobs in this state. Visits all jobs, as the next one does.
  std::size_t in_state(JobState state) const;
  /// The number of ended jobs with an undelivered response.
  std::size_t uncollected() const;
  const Counts& counts() const { return counts_; }
  const JobLimits& limits() const { return limits_; }

  static constexpr std::size_t longest_progress = 4096;

 private:
  /// The order in which ended jobs make room: whether it has a key, then the number of its end.
  using Place = std::pair<bool, std::uint64_t>;
  struct Owner {
    std::size_t jobs = 0;
    std::size_t bytes = 0;
    std::size_t ended_bytes = 0;
    std::map<Place, JobNumber> ended;
    std::map<std::string, JobNumber, std::less<>> keys;
    UsedKeys used_keys;
  };

  bool make_room(Owner& owner, std::size_t jobs, std::size_t bytes);
  bool grow(Job& job, std::size_t bytes);
  void shrink(Job& job, std::size_t bytes);
  bool push_out_one(Owner& owner);
  void trim_others(const Owner& owner);
  void trim(Owner& owner);
  void insert(Job job);
  void insert_ended(Owner& owner, const Job& job);
  void leave_key(Owner& owner, const Job& job, SteadyTime now);
  void remove(Job& job, SteadyTime now);
  static std::size_t charge_of(const Job& job);

  const JobLimits limits_;
  JobKeeper* keeper_ = nullptr;
  JobChanges changes_;
  std::map<JobNumber, Job> jobs_;
  std::unordered_map<std::string_view, JobNumber> by_id_;  ///< keys are views of the jobs' ids
  std::map<User, Owner> owners_;
  std::map<std::pair<SteadyTime, JobNumber>, Place> due_;  ///< ended jobs by expiry
  std::size_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_end_ = 0;
  SteadyTime latest_{};  ///< the latest time passed in
  Counts counts_;
};

struct JobOptions {
  JobLimits limits;
  bool shared = false;  ///< --jobs-shared: every user sees all jobs
  /// --request-max: the total working time of a job; 0: unlimited.
  std::chrono::milliseconds request_max{3600000};
  /// The longest wait of a caller over HTTP: an answer must come before --http-timeout.
  std::chrono::milliseconds longest_http_wait{55000};
};

}  // namespace bridge
