#pragma once

#include <string_view>

namespace bridge {

struct Job;
struct UsedKey;
struct User;

/// What happens to jobs, for whoever writes it down: told by the JobStore when it has happened, and
/// before anybody else is told of it. It may only take note. By default nothing is written.
class JobJournal {
 public:
  /// Whether what it is told outlives the daemon.
  virtual bool is_durable() const { return false; }
  /// Accepted. `request` is what is to be sent to the upstream; empty: it was sent already.
  virtual void job_added(const Job& job, std::string_view request) {
    static_cast<void>(job);
    static_cast<void>(request);
  }
  /// Its request goes to the upstream now.
  virtual void job_started(const Job& job) { static_cast<void>(job); }
  /// Its question, its key or its progress.
  virtual void job_changed(const Job& job) { static_cast<void>(job); }
  virtual void job_ended(const Job& job) { static_cast<void>(job); }
  /// Forgotten or pushed out.
  virtual void job_forgotten(const Job& job) { static_cast<void>(job); }
  /// What a forgotten job's key leaves behind.
  virtual void key_left(const User& user, const UsedKey& key) {
    static_cast<void>(user);
    static_cast<void>(key);
  }

  virtual ~JobJournal() = default;
};

}  // namespace bridge
