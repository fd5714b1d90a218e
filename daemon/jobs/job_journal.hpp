#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace bridge {

struct Job;
struct JobTime;
struct JobWay;
struct UsedKey;
struct User;

/// What happens to jobs, for whoever writes it down: told by the JobStore when it has happened, and
/// before anybody else is told of it. It may only take note. By default nothing is written.
/// Implemented by JobLog.
class JobJournal {
 public:
  /// Whether what it is told outlives the daemon.
  virtual bool is_durable() const { return false; }
  /// Accepted. `request` is what is to be sent to the upstream; empty: it was sent already, as
  /// `way` says.
  virtual void job_added(const Job& job, std::string_view request, const JobWay& way) {
    static_cast<void>(job);
    static_cast<void>(request);
    static_cast<void>(way);
  }
  /// Another daemon, or image of the program, has left it. `request` and `way` are empty if it has
  /// ended.
  virtual void job_restored(const Job& job, std::string_view request, const JobWay& way) {
    static_cast<void>(job);
    static_cast<void>(request);
    static_cast<void>(way);
  }
  /// Its request goes to the upstream now, under this id.
  virtual void job_started(const Job& job, UpstreamId id) {
    static_cast<void>(job);
    static_cast<void>(id);
  }
  /// Its time runs since then, or stands.
  virtual void job_time(const Job& job, const JobTime& time) {
    static_cast<void>(job);
    static_cast<void>(time);
  }
  /// Its request has become this task of the server: JobWay::task_form and task.
  virtual void job_is_task(const Job& job, std::uint64_t form, std::string_view raw_id) {
    static_cast<void>(job);
    static_cast<void>(form);
    static_cast<void>(raw_id);
  }
  /// The upstream asks something on its answer's stream. Told as soon as that comes, and before
  /// what comes behind it.
  virtual void job_questioned(const Job& job) { static_cast<void>(job); }
  /// Its request was answered with this `input_required` result, and goes on with the answers.
  virtual void job_asked(const Job& job, std::string_view result) {
    static_cast<void>(job);
    static_cast<void>(result);
  }
  /// The next question of that result has this answer, as JSON.
  virtual void job_question_answered(const Job& job, std::string_view result) {
    static_cast<void>(job);
    static_cast<void>(result);
  }
  /// Its question or its progress.
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
