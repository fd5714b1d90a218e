#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit/audit_log.hpp"
#include "audit/audit_options.hpp"
#include "audit/audit_record.hpp"
#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "router/client.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

/// The requests of clients from their arrival to the line that the audit has of each (BEHAVIOUR,
/// "Audit").
///
/// Owned by the daemon; the loop's thread only. Memory: a record for each request that has not
/// ended; of those whose clients have left at most most_left_behind.
class AuditTrail final : public AnswerWatcher {
 public:
  static constexpr std::size_t most_left_behind = 1000;

  /// A request that has not ended, for an upgrade.
  struct Saved {
    ClientId client{};    ///< 0: it has left
    std::string request;  ///< raw JSON; of one without a client its UpstreamId
    AuditRecord record;

    template <class A>
    void each_field(A& archive) {
      archive(client, request, record);
    }
  };

  /// `secrets`: what is not shown of arguments.
  AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
             std::function<std::vector<std::string>()> secrets);

  /// A request of a client.
  void came(const Client& client, const Frame& request);
  /// One of a job.
  void came(const User& user, const JobRequest& job, const Frame& request);
  /// Before it is sent to the server. False: with --audit-required it could not be recorded.
  bool may_send(const Caller& caller, std::string_view raw_id);
  void answered(ClientId client, std::string_view raw_id, std::string_view response) override;
  void not_answered(ClientId client, std::string_view raw_id) override;

  /// Its client leaves, and it goes on under this id.
  void left_behind(ClientId client, std::string_view raw_id, UpstreamId id);
  /// It becomes the request of another client.
  void adopted(ClientId client, std::string_view raw_id, ClientId keeper, std::string_view as);
  /// What came of one that was left behind; empty: its response was lost.
  void left_behind_ended(UpstreamId id, std::string_view response);
  /// All of its other requests are cancelled.
  void client_left(ClientId client);
  /// The daemon ends: what has not ended is unknown.
  void end_all();

  std::vector<Saved> save() const;
  void restore(std::vector<Saved> saved);

 private:
  struct Open {
    ClientId client{};
    AuditRecord record;
  };
  struct Known {
    AuditClient client;
    std::size_t open = 0;
  };
  using Table = std::unordered_multimap<std::string, Open>;

  static std::string key_of(ClientId client, std::string_view raw_id);
  const AuditClient& client_of(const Client& client);
  void add_new(ClientId client, AuditRecord record, const Frame& request);
  void describe(AuditRecord& record, const Frame& request);
  std::optional<AuditRecord> take(ClientId client, std::string_view raw_id);
  void add(ClientId client, std::string_view raw_id, AuditRecord record);
  void end(const AuditRecord& record, const AuditEnd& how);

  const EventLoop& loop_;
  AuditLog& log_;
  const AuditOptions options_;
  std::function<std::vector<std::string>()> secrets_;
  SecretForms forms_;
  std::string run_;  ///< of this daemon, in the ids
  std::uint64_t last_id_ = 0;
  Table open_;
  std::unordered_map<ClientId, Known> known_;
  std::unordered_map<UpstreamId, AuditRecord> left_behind_;
};

}  // namespace bridge
