#pragma once

#include "command_line/duration.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/verbs.hpp"

namespace client {

// What is said to the daemon about jobs (requests that belong to no connection), and what it says.
// Pure.

/// The params of bridge/submit for a tools/call with these params. `key` may be empty.
std::string submit_params(std::string_view call_params, std::string_view key);

/// `{"job":…}`; `more` is further members, each with a comma before it.
std::string job_params(std::string_view job, std::string_view more = "");

/// A member of the params of bridge/collect: how long it may wait, if there is so much time.
std::string collect_wait(Milliseconds left);

/// The result of bridge/submit.
struct SubmittedJob {
  std::string id;
  std::string state;
  bool durable = true;
  bool forgotten = false;  ///< its key did the same call, and only how that ended is still known
};

/// Nothing if it cannot be read.
std::optional<SubmittedJob> read_submitted(std::string_view result);

/// The result of bridge/collect. Text is JSON as it came, "" for what is not there.
struct CollectedJob {
  enum class Phase { working, asks, ended };

  Phase phase = Phase::working;
  std::string question_method;  ///< decoded
  std::string question_params;
  std::string question_id;  ///< which one is answered; "" if the daemon does not say
  std::string result;       ///< of the response, if the job has completed
  std::string error;        ///< likewise, if it has failed; neither: it was cancelled
};

/// What bridge/answer is sent: `more` is `,"result":…` or `,"error":…`.
std::string answer_params(std::string_view job, std::string_view question_id,
                          std::string_view more);

/// What a job asks, for programs: `{"job":…,"question":{"method":…,"params":…}}`.
std::string question_json(std::string_view job, const CollectedJob& asking);

/// Nothing if it cannot be read.
std::optional<CollectedJob> read_collected(std::string_view result);

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

/// Prints the end of a job as `call` prints its result; of several, each under its id.
/// REQUIRES: event.kind is ended.
ExitCode present_end(Dialogue& dialogue, const Options& options, const JobEvent& event,
                     bool several);

/// Shows on stderr what a job asks, and how to answer it.
void show_question(Console& console, const std::string& job, const CollectedJob& collected);

}  // namespace client
