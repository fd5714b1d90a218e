#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verbs/dialogue.hpp"
#include "verbs/job_messages.hpp"

namespace client {

/// What a wait for jobs came to.
struct JobEvent {
  enum class Kind {
    ended,    ///< `collected` says how; nobody waits for it any more
    asks,     ///< nobody here answers its question; nobody waits for it any more
    failed,   ///< `answer` is the daemon's error about it; nobody waits for it any more
    time_up,  ///< the time that was given to the wait is over
    stopped,  ///< `answer` says what ended everything
  };

  Kind kind = Kind::stopped;
  std::string job{};
  CollectedJob collected{};
  Answer answer{};
};

/// Waits for jobs, all at the same time over one connection. What they ask is asked at the terminal
/// if there is one, one question after the other.
class JobWaits {
 public:
  struct Manner {
    std::optional<Milliseconds> time;  ///< for all of it
    bool keep = true;                  ///< leave what was collected in the daemon
    bool several = false;              ///< more than one job: each is named where it asks
    bool only_now = false;             ///< a job that works on is not waited for
    bool reconnects = false;           ///< to the daemon that takes the place of one that hangs up
  };

  JobWaits(Dialogue& dialogue, Manner manner);

  /// REQUIRES: no more jobs than the daemon lets one connection wait for, 64. A job that is waited
  /// for already is not waited for twice.
  void add(const std::string& job);
  bool empty() const { return pending_.empty(); }

  /// REQUIRES: not empty().
  JobEvent next();

 private:
  enum class Step { collecting, asking, answering };

  struct Pending {
    std::string job;
    Step step = Step::collecting;
    std::string id;  // of the request or of the question
    std::string question_id{};
  };

  void collect(Pending& pending);
  std::optional<JobEvent> take(std::size_t at, const Answer& answer);
  std::optional<JobEvent> take_collected(std::size_t at, const Answer& answer);
  JobEvent end(std::size_t at, JobEvent event);
  bool is_asking() const;
  Deadline until() const;

  Dialogue& dialogue_;
  Manner manner_;
  Deadline end_;       // of `time`
  Deadline patience_;  // a little after end_: until then the daemon's own answer may come
  std::vector<Pending> pending_;
};

}  // namespace client
