#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "audit/audit_log.hpp"
#include "audit/audit_record.hpp"
#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "router/client.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

/// With --audit-required, why a request is refused that could not be recorded.
constexpr std::string_view unrecorded_refusal =
    "the audit cannot be written, and --audit-required refuses requests without it; make room for "
    "it, then send the request again";

/// The requests of clients from their arrival to the line that the audit has of each (BEHAVIOUR,
/// "Audit"). The request of a job ends with the job.
///
/// Owned by the daemon; the loop's thread only. Memory: a record for each request that has not
/// ended; of those whose clients have left at most most_left_behind.
class AuditTrail {
 public:
  static constexpr std::size_t most_left_behind = 1000;
  /// With --audit-required, after so many bytes of lines the first lines of what has not ended are
  /// written again: AuditFile::unended() does not look further back than twice that.
  static constexpr std::size_t repeated_after = 32u << 20;

  /// A request that has not ended, for an upgrade.
  struct Saved {
    ClientId client{};    ///< 0: it has left, or is a job
    std::string request;  ///< raw JSON; of one that was left behind its UpstreamId; of a job empty
    AuditRecord record;

    template <class A>
    void each_field(A& archive) {
      archive(client, request, record);
    }
  };

  /// `secrets`: what is not shown of arguments.
  AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
             std::function<std::vector<std::string>()> secrets);

  /// --audit-required.
  bool is_required() const { return options_.required; }

  /// A request of a client.
  void came(const Client& client, const Frame& request);
  /// One of a job.
  void came(const User& user, const JobRequest& job, const Frame& request);
  /// A request that has become this job on its arrival: its submission.
  void kept_as_job(const Client& client, const Frame& request, std::string_view job);
  /// With --audit-required: writes the first lines of what has come since the last call, at once.
  void begin_all();
  /// Before it is sent to the server. False: with --audit-required it could not be recorded.
  bool may_send(ClientId client, std::string_view raw_id);
  bool may_send(const JobRequest& job);
  void answered(ClientId client, std::string_view raw_id, std::string_view response);
  void not_answered(ClientId client, std::string_view raw_id);

  /// Its client leaves, and it goes on under this id.
  void left_behind(ClientId client, std::string_view raw_id, UpstreamId id);
  /// It becomes this job.
  void adopted(ClientId client, std::string_view raw_id, std::string_view job);
  /// What came of one that was left behind; empty: its response was lost.
  void left_behind_ended(UpstreamId id, std::string_view response);
  /// All of its other requests are cancelled.
  void client_left(ClientId client);
  /// A job has ended, if its request had come; without a response it was cancelled.
  void job_ended(std::string_view job, std::string_view response);
  /// The daemon ends: open requests end as unknown, except for jobs that the next daemon resumes.
  void end_all(bool jobs_continue);
  /// The lines that follow go to another file: it gets the first lines of what has not ended.
  void begin_again();

  std::vector<Saved> save() const;
  void restore(std::vector<Saved> saved);

  // For the state: which requests have not ended, so that the next daemon knows of them.
  /// Calls `begun` with the record of each that has come since the last call and has not ended, and
  /// returns the numbers of those that have ended, of which it was called before. Their lines are
  /// there.
  template <class Begun>
  std::vector<std::uint64_t> take_changes(Begun&& begun) {
    log_.write();
    const std::uint64_t noted = std::exchange(noted_, last_number_);
    if (noted != noted_)
      each([&](const AuditRecord& one) { one.number > noted ? begun(one) : void(); });
    if (log_.is_failing()) return {};
    return std::exchange(ended_, {});
  }
  /// All that have not ended.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [id, known] : known_) {
      for (const auto& [request, record] : known.open) visit(record);
    }
    for (const auto& [job, record] : jobs_) visit(record);
    for (const auto& [id, record] : left_behind_) visit(record);
  }
  std::size_t size() const { return of_clients_ + jobs_.size() + left_behind_.size(); }
  /// What a daemon that died has left: their ends are unknown, but for jobs, which go on until
  /// give_up_jobs().
  void take_over(std::vector<AuditRecord> records);
  /// Lines that an earlier daemon with --audit-required has left in the file
  /// (AuditFile::unended()). Before take_over().
  void found_begun(std::vector<std::string> lines);
  /// Their ends are unknown, except of requests that continue.
  void end_begun();
  /// The ends of jobs that are not `known` are unknown.
  void give_up_jobs(const std::function<bool(std::string_view job)>& known);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// By their raw ids, of which a client may use one twice.
  using Open = std::unordered_multimap<std::string, AuditRecord, TextHash, std::equal_to<>>;
  /// A client that has sent requests.
  struct Known {
    AuditClient client;
    std::string text;  ///< described()
    Open open;
  };
  using Jobs = std::map<std::string, AuditRecord, std::less<>>;
  /// One whose first line begin_all() is to write.
  struct New {
    ClientId client{};
    std::string name;  ///< its raw id; without a client that of a job
    std::uint64_t number = 0;
  };

  Known& known_of(const Client& client);
  void fill(AuditRecord& record, const Frame& request);
  void describe(AuditRecord& record, const Frame& request);
  void note_arguments(AuditRecord& record, std::string_view arguments);
  std::optional<AuditRecord> take(ClientId client, std::string_view raw_id);
  AuditRecord* find(ClientId client, std::string_view raw_id);
  bool may_send(AuditRecord* record);
  AuditRecord* find(const New& one);
  void begin(const std::vector<AuditRecord*>& records);
  void end(const AuditRecord& record, const AuditEnd& how, std::string_view client = {});
  void append(const std::string& line);
  void note_end(const AuditRecord& record);
  void end_unknown(const AuditRecord& record);

  const EventLoop& loop_;
  AuditLog& log_;
  const AuditOptions options_;
  std::function<std::vector<std::string>()> secrets_;
  SecretForms forms_;
  ArgumentsDigest digest_;
  std::string run_;  ///< of this daemon, in the ids
  std::uint64_t last_id_ = 0;
  std::unordered_map<ClientId, Known> known_;
  std::size_t of_clients_ = 0;  ///< requests of them that have not ended
  Jobs jobs_;                   ///< by their names
  std::unordered_map<UpstreamId, AuditRecord> left_behind_;
  std::vector<New> new_;
  std::map<std::string, std::string> begun_before_;  ///< lines of an earlier daemon, by their ids
  std::string line_;  ///< the one that is being made; its memory is kept
  WrittenSecond second_;
  std::size_t said_ = 0;  ///< bytes of lines since the first ones were said again
  std::uint64_t last_number_ = 0;
  std::uint64_t noted_ = 0;           ///< up to this number the state knows of those that are open
  std::vector<std::uint64_t> ended_;  ///< of those
};

}  // namespace bridge
