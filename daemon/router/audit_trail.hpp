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

/// Why --audit-required refuses a request.
constexpr std::string_view unrecorded_refusal =
    "the audit cannot be written, and --audit-required refuses requests without it; make room for "
    "it, then send the request again";

/// Follows each request of a client from its arrival to its line in the audit (BEHAVIOUR, "Audit").
/// A job's request ends with the job.
///
/// Owned by the daemon; the loop's thread only. Memory: a record per request that has not ended; of
/// requests whose clients have left, at most most_left_behind.
class AuditTrail {
 public:
  static constexpr std::size_t most_left_behind = 1000;
  /// With --audit-required, the first lines of open requests are repeated after this many bytes:
  /// AuditFile::unended() looks back at most twice as far.
  static constexpr std::size_t repeated_after = 32u << 20;

  /// A request that has not ended, for an upgrade.
  struct Saved {
    ClientId client{};    ///< 0: the client has left, or it is a job's
    std::string request;  ///< raw JSON id; the UpstreamId if the client has left; empty for a job
    AuditRecord record;

    template <class A>
    void each_field(A& archive) {
      archive(client, request, record);
    }
  };

  /// `secrets` are redacted in arguments.
  AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
             std::function<std::vector<std::string>()> secrets);

  /// --audit-required.
  bool is_required() const { return options_.required; }

  /// A client's request has arrived.
  void came(const Client& client, const Frame& request);
  /// A job's request has arrived.
  void came(const User& user, const JobRequest& job, const Frame& request);
  /// A request became this job on arrival; records its submission.
  void kept_as_job(const Client& client, const Frame& request, std::string_view job);
  /// With --audit-required: writes the first lines of the requests since the last call, at once.
  void begin_all();
  /// Called before the request is sent to the server. False: --audit-required, and it could not be
  /// recorded.
  bool may_send(ClientId client, std::string_view raw_id);
  bool may_send(const JobRequest& job);
  void answered(ClientId client, std::string_view raw_id, std::string_view response);
  void not_answered(ClientId client, std::string_view raw_id);

  /// The client has left; its request continues under this id.
  void left_behind(ClientId client, std::string_view raw_id, UpstreamId id);
  /// The request becomes this job.
  void adopted(ClientId client, std::string_view raw_id, std::string_view job);
  /// The end of a request whose client has left; empty: the response was lost.
  void left_behind_ended(UpstreamId id, std::string_view response);
  /// All other requests of the client are cancelled.
  void client_left(ClientId client);
  /// A job has ended, if its request was recorded; without a response it was cancelled.
  void job_ended(std::string_view job, std::string_view response);
  /// The daemon ends: open requests end as `unknown`, except those of jobs that the next daemon
  /// resumes.
  void end_all(bool jobs_continue);
  /// Later lines go to another file, which gets the first lines of open requests.
  void begin_again();

  std::vector<Saved> save() const;
  void restore(std::vector<Saved> saved);

  // For the state: the open requests, so that the next daemon knows them.
  /// Calls `begun` with the record of each open request that arrived since the last call. Returns
  /// the numbers of reported requests that have ended since; their lines are written. Returns none
  /// while the log is failing.
  template <class Begun>
  std::vector<std::uint64_t> take_changes(Begun&& begun) {
    log_.write();
    const std::uint64_t noted = std::exchange(noted_, last_number_);
    if (noted != noted_)
      each([&](const AuditRecord& one) { one.number > noted ? begun(one) : void(); });
    if (log_.is_failing()) return {};
    return std::exchange(ended_, {});
  }
  /// Visits all open requests.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [id, known] : known_) {
      for (const auto& [request, record] : known.open) visit(record);
    }
    for (const auto& [job, record] : jobs_) visit(record);
    for (const auto& [id, record] : left_behind_) visit(record);
  }
  std::size_t size() const { return of_clients_ + jobs_.size() + left_behind_.size(); }
  /// Takes over the open requests of a daemon that died: they end as `unknown`, except jobs, which
  /// continue until give_up_jobs().
  void take_over(std::vector<AuditRecord> records);
  /// First lines that an earlier daemon with --audit-required left in the file
  /// (AuditFile::unended()). Called before take_over().
  void found_begun(std::vector<std::string> lines);
  /// Ends those as `unknown`, except requests that continue.
  void end_begun();
  /// Ends jobs that are not `known` as `unknown`.
  void give_up_jobs(const std::function<bool(std::string_view job)>& known);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// By raw id; a client may use one twice.
  using Open = std::unordered_multimap<std::string, AuditRecord, TextHash, std::equal_to<>>;
  /// A client that has sent requests.
  struct Known {
    AuditClient client;
    std::string text;  ///< described()
    Open open;
  };
  using Jobs = std::map<std::string, AuditRecord, std::less<>>;
  /// A request whose first line begin_all() writes.
  struct New {
    ClientId client{};
    std::string name;  ///< the raw id; the job's name if there is no client
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
  std::string run_;  ///< identifies this daemon in record ids
  std::uint64_t last_id_ = 0;
  std::unordered_map<ClientId, Known> known_;
  std::size_t of_clients_ = 0;  ///< open requests of clients
  Jobs jobs_;                   ///< by name
  std::unordered_map<UpstreamId, AuditRecord> left_behind_;
  std::vector<New> new_;
  std::map<std::string, std::string>
      begun_before_;  ///< first lines of an earlier daemon, by record id
  std::string line_;  ///< buffer for the current line, reused
  WrittenSecond second_;
  std::size_t said_ = 0;  ///< bytes of lines since the first lines were repeated
  std::uint64_t last_number_ = 0;
  std::uint64_t noted_ = 0;           ///< the state knows open requests up to this number
  std::vector<std::uint64_t> ended_;  ///< requests known to the state that have ended
};

}  // namespace bridge
