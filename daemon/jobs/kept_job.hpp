#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.hpp"
#include "jobs/used_keys.hpp"

namespace bridge {

/// A job that has ended, as one image of the program leaves it to the next in the same process:
/// both have the same clocks.
struct KeptJob {
  std::string id;
  std::uint64_t number = 0;
  bool remote = false;
  std::uint64_t uid = 0;
  std::string method;
  std::string tool;
  std::string key;
  std::uint64_t digest = 0;
  bool holds_key = false;
  std::uint64_t pid = 0;
  std::string command;
  std::uint64_t created = 0;  ///< in ticks of WallTime
  std::uint64_t keep = 0;     ///< milliseconds
  std::uint64_t state = 0;    ///< JobState
  std::string progress;
  std::string response;
  std::uint64_t ended = 0;  ///< in ticks of SteadyTime
  bool collected = false;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, number, remote, uid, method, tool, key, digest, holds_key, pid, command, created,
           keep, state, progress, response, ended, collected);
  }
};

/// A job that has not ended, likewise, with what the JobRunner knows of it.
struct KeptRunningJob {
  struct Answer {
    std::string key;
    std::string result;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(key, result);
    }
  };
  struct Question {
    std::string id;  ///< raw JSON; empty: of a task
    std::string method;
    std::string params;
    std::string key;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, method, params, key);
    }
  };

  KeptJob job;
  std::uint64_t client = 0;  ///< ClientId of its user's JobClient
  bool in_flight = false;    ///< its request has been started, and goes along or is a task
  bool for_later = false;
  bool in_round = false;        ///< what is asked stands in a result
  std::string request;          ///< of one that has not been started, or may be sent with answers
  std::uint64_t sent_as = 0;    ///< UpstreamId; of one in flight
  std::uint64_t task_form = 0;  ///< with `task`
  std::string task;             ///< raw JSON; empty: it is none
  std::vector<Answer> answers;  ///< that the task has not been told yet
  std::vector<std::string> answered;
  std::vector<Question> questions;
  std::uint64_t since = 0;   ///< in ticks of SteadyTime
  std::uint64_t worked = 0;  ///< likewise, before that

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(job, client, in_flight, request, task_form, task, answers, answered, questions, since,
           worked, for_later, in_round, sent_as);
  }
};

/// A request that has become a job, and whose client still waits for its answer.
struct KeptDelivery {
  std::uint64_t job = 0;     ///< JobNumber
  std::uint64_t client = 0;  ///< ClientId
  std::string request_id;
  std::string progress_token;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(job, client, request_id, progress_token);
  }
};

/// What a forgotten job's key has left behind, likewise.
struct KeptKey {
  bool remote = false;
  std::uint64_t uid = 0;
  std::string key;
  std::uint64_t digest = 0;
  std::string job;
  std::uint64_t state = 0;  ///< JobState
  std::uint64_t until = 0;  ///< in ticks of SteadyTime

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(remote, uid, key, digest, job, state, until);
  }
};

KeptJob kept_job(const Job& job);
KeptKey kept_key(const User& user, const UsedKey& key);
/// Nothing: its state is no end.
std::optional<Job> job_of(KeptJob kept);
/// One that works, whatever its state was.
Job unfinished_job_of(KeptJob kept);
std::optional<UsedKey> used_key_of(KeptKey kept);
User user_of(const KeptKey& kept);

}  // namespace bridge
