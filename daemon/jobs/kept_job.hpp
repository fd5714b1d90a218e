#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, number, remote, uid, method, tool, key, digest, holds_key, pid, command, created,
           keep, state, progress, response, ended);
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

/// REQUIRES: it has ended.
KeptJob kept_job(const Job& job);
KeptKey kept_key(const User& user, const UsedKey& key);
/// Nothing: its state is no end.
std::optional<Job> job_of(KeptJob kept);
std::optional<UsedKey> used_key_of(KeptKey kept);
User user_of(const KeptKey& kept);

}  // namespace bridge
