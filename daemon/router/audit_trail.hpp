#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
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

/// Looks up texts by views.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// What a record has of a request's arguments: their digest and, with --audit-arguments, their text
/// without secrets. Memory: the forms of the secrets.
class AuditedArguments {
 public:
  AuditedArguments(bool with_text, std::function<std::vector<std::string>()> secrets)
      : with_text_(with_text), secrets_(std::move(secrets)) {}

  /// `arguments`: JSON; empty: none.
  void note(AuditRecord& record, std::string_view arguments);

 private:
  const bool with_text_;
  const std::function<std::vector<std::string>()> secrets_;
  SecretForms forms_;
  ArgumentsDigest digest_;
};

/// Whose requests: a client's, by the ids that it wrote; all jobs', by the jobs' ids; or those of
/// clients that have left, by their upstream ids.
struct AuditOwner {
  enum class Kind : std::uint8_t { client, jobs, left_behind };
  friend constexpr Kind last_of(Kind) { return Kind::left_behind; }

  Kind kind = Kind::client;
  ClientId client{};

  static AuditOwner of(ClientId client) { return {Kind::client, client}; }
  static AuditOwner jobs() { return {Kind::jobs, {}}; }
  static AuditOwner left_behind() { return {Kind::left_behind, {}}; }

  template <class A>
  void each_field(A& archive) {
    archive(kind, client);
  }
  friend bool operator==(const AuditOwner&, const AuditOwner&) = default;
};

struct AuditOwnerHash {
  std::size_t operator()(const AuditOwner& owner) const {
    return std::hash<ClientId>()(owner.client) ^ static_cast<std::size_t>(owner.kind);
  }
};

/// The records of requests that have not ended, by their owner and name. Pure; the owner bounds
/// them.
class OpenRequests {
 public:
  /// An owner of requests.
  struct Of {
    AuditClient client;  ///< unknown for jobs and for clients that have left
    std::string text;    ///< described() of it
    std::unordered_multimap<std::string, AuditRecord, TextHash, std::equal_to<>> open;
  };

  /// Also whether the owner was unknown.
  std::pair<Of&, bool> of(AuditOwner owner) {
    const auto [found, is_new] = known_.try_emplace(owner);
    return {found->second, is_new};
  }
  /// A client may use a name twice.
  AuditRecord& add_open(Of& its, std::string_view name) {
    ++size_;
    return its.open
        .emplace(std::piecewise_construct, std::forward_as_tuple(name), std::forward_as_tuple())
        ->second;
  }
  AuditRecord* find_open(AuditOwner owner, std::string_view name);
  /// The one with this number.
  AuditRecord* find_open(AuditOwner owner, std::string_view name, std::uint64_t number);
  std::optional<AuditRecord> take_open(AuditOwner owner, std::string_view name);
  /// Removes it before `visit`, which gets the record and the client's description.
  template <class Visit>
  void end_open(AuditOwner owner, std::string_view name, Visit&& visit) {
    const auto known = known_.find(owner);
    if (known == known_.end()) return;
    const auto found = known->second.open.find(name);
    if (found == known->second.open.end()) return;
    auto node = known->second.open.extract(found);
    --size_;
    visit(node.mapped(), known->second.text);
  }
  /// The same for all requests of the owner.
  template <class Visit>
  void end_all(AuditOwner owner, Visit&& visit) {
    const auto known = known_.find(owner);
    if (known == known_.end()) return;
    const auto node = known_.extract(known);
    size_ -= node.mapped().open.size();
    for (const auto& [name, record] : node.mapped().open) visit(record, node.mapped().text);
  }
  /// `visit` gets the owner, the request's name and the record.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [owner, its] : known_) {
      for (const auto& [name, record] : its.open) visit(owner, name, record);
    }
  }
  std::vector<AuditOwner> owners() const;
  std::size_t of_left_behind() const;
  std::size_t size() const { return size_; }

 private:
  std::unordered_map<AuditOwner, Of, AuditOwnerHash> known_;
  std::size_t size_ = 0;
};

/// The numbers of requests in order of arrival, and which of them the state knows. Pure.
class AuditNumbers {
 public:
  std::uint64_t next_number() { return ++last_; }
  void count_from(std::uint64_t number) { last_ = std::max(last_, number); }
  /// A request of an earlier daemon.
  void restored(std::uint64_t number) { last_ = noted_ = std::max(noted_, number); }
  /// The state is told of all requests up to now; returns the last one that it knew.
  std::uint64_t note_all() { return std::exchange(noted_, last_); }
  bool has_new() const { return noted_ != last_; }
  void number_ended(std::uint64_t number) {
    if (number <= noted_) ended_.push_back(number);
  }
  /// Ended requests that the state knows.
  std::vector<std::uint64_t> take_ended() { return std::exchange(ended_, {}); }

 private:
  std::uint64_t last_ = 0;
  std::uint64_t noted_ = 0;
  std::vector<std::uint64_t> ended_;
};

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
    AuditOwner owner;
    std::string name;
    AuditRecord record;

    template <class A>
    void each_field(A& archive) {
      archive(owner, name, record);
    }
  };

  /// `secrets` are redacted in arguments.
  AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
             std::function<std::vector<std::string>()> secrets);

  /// --audit-required.
  bool is_required() const { return options_.required; }

  /// A client's request has arrived.
  void came(const Client& client, const Frame& request);
  /// The client has another grant; `sent`: the ids of its requests that came before and are not
  /// changed.
  void grant_changed(const Client& client, const std::set<std::string_view>& sent);
  /// A job's request has arrived.
  void came(const JobRequest& job, const Frame& request);
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
  /// It was sent again, under another id.
  void left_behind_renamed(UpstreamId former, UpstreamId next);
  /// All other requests of the client are cancelled.
  void client_left(ClientId client);
  /// A job has ended, if its request was recorded; without a response it was cancelled.
  void job_ended(std::string_view job, std::string_view response);
  /// The daemon ends: open requests end as `unknown`, except those of jobs that the next daemon
  /// resumes.
  void end_all(bool jobs_continue);
  /// Later lines go to another file, which gets the first lines of open requests.
  void begin_again();

  std::vector<Saved> save_open() const;
  void restore(std::vector<Saved> saved);

  // For the state: the open requests, so that the next daemon knows them.
  /// Calls `begun` with the record of each open request that arrived since the last call. Returns
  /// the numbers of reported requests that have ended since; their lines are written. Returns none
  /// while the log is failing.
  template <class Begun>
  std::vector<std::uint64_t> take_changes(Begun&& begun) {
    log_.write();
    if (numbers_.has_new()) {
      const std::uint64_t noted = numbers_.note_all();
      each([&](const AuditRecord& one) { one.number > noted ? begun(one) : void(); });
    }
    if (log_.is_failing()) return {};
    return numbers_.take_ended();
  }
  /// Visits all open requests.
  template <class Visit>
  void each(Visit&& visit) const {
    open_.each([&](AuditOwner, const std::string&, const AuditRecord& record) { visit(record); });
  }
  std::size_t size() const { return open_.size(); }
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
  /// A request whose first line begin_all() writes.
  struct New {
    AuditOwner owner;
    std::string name;
    std::uint64_t number = 0;
  };

  OpenRequests::Of& of(const Client& client);
  static void describe(OpenRequests::Of& its, const Client& client);
  void fill(AuditRecord& record, const Frame& request);
  void describe(AuditRecord& record, const Frame& request);
  bool may_send(AuditRecord* record);
  std::string next_id();
  void write_begin(const std::vector<AuditRecord*>& records);
  void write_end(const AuditRecord& record, const AuditEnd& how, std::string_view client = {});
  void end_with(AuditOwner owner, std::string_view name, std::string_view response,
                AuditOutcome otherwise);
  void end_all_of(AuditOwner owner, AuditOutcome outcome);
  void append(const std::string& line);
  void end_unknown(const AuditRecord& record);

  const EventLoop& loop_;
  AuditLog& log_;
  const AuditOptions options_;
  AuditedArguments arguments_;
  std::string run_;  ///< identifies this daemon in record ids
  std::uint64_t last_id_ = 0;
  OpenRequests open_;
  AuditNumbers numbers_;
  std::vector<New> new_;
  std::map<std::string, std::string> begun_before_;  ///< an earlier daemon's first lines, by id
  std::string line_;                                 ///< buffer for the current line, reused
  WrittenSecond second_;
  std::size_t said_ = 0;  ///< bytes of lines since the first lines were repeated
};

}  // namespace bridge
