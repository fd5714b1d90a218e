#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/event_loop.hpp"
#include "grant/grants.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/tool_headers.hpp"
#include "notifications/ring.hpp"
#include "policy/peer.hpp"
#include "policy/policy.hpp"
#include "policy/subject.hpp"
#include "router/client.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// Requests that the policy refused, by reason, for the metrics.
struct PermissionCounts {
  std::uint64_t no_rule = 0;
  std::uint64_t tool = 0;
  std::uint64_t prompt = 0;
  std::uint64_t resource = 0;
  std::uint64_t method = 0;
  std::uint64_t rate = 0;
};

/// Decides what clients may do, by the policy (BEHAVIOUR, "Policy") and their grants ("Grants"):
/// the rights of a peer are one rule, whichever they come from. Without a policy a client without a
/// grant has no rule, and everything is allowed.
///
/// Owned by the router; the loop's thread only. Memory: a bucket per user whose rule has a rate, at
/// most max_users; full ones are dropped first. The grants, and the rights of those that clients
/// have or that were used last.
class Permissions {
 public:
  static constexpr std::size_t max_users = 10'000;

  /// `grants_ended`: the rules of clients whose grants have ended must be looked up again; not
  /// called from within a call, except end_grant() and expire_grants().
  explicit Permissions(EventLoop& loop, std::function<void()> grants_ended = {});

  /// Replaces the policy; each client's rule must be looked up again. Null: no policy.
  void take_policy(std::shared_ptr<const PolicyFile> policy) {
    policy_ = std::move(policy);
    rights_.clear();
  }
  /// Whether requests must be judged: there is a policy, or a grant was used.
  bool is_on() const { return policy_ != nullptr || judges_grants_; }
  /// Null without a policy.
  const PolicyFile* policy() const { return policy_.get(); }

  /// Looks up the client's rule.
  void take_rule(Client& client) const;
  /// The rule for a request; for a job's request that of its submitter.
  const PolicyRule* rule_for(const Caller& caller, const JobRequest* job) const;
  /// The rule for a peer; null without a policy.
  const PolicyRule* rule_for(const Peer& peer) const {
    return policy_ == nullptr ? nullptr : &policy_->policy.rule_for(peer);
  }
  /// The rule for a peer that has this grant, if it has one.
  const PolicyRule* rule_for(const Peer& peer, const std::optional<GrantHold>& grant) const {
    return grant ? &rule_of(*grant) : rule_for(peer);
  }
  /// Whether a rule matches this peer.
  bool may_take_part(const Peer& peer) const {
    return policy_ == nullptr || !policy_->policy.rule_for(peer).is_none();
  }
  /// Whether a job's submitter still may do anything.
  bool may_take_part(const JobRequest& job) const;
  /// The rule for callers of the HTTP frontend.
  const PolicyRule* rule_for_http() const;

  /// Whether the client may send this.
  bool allows(const Client& client, const Frame& request, const ToolList& tools) const;
  /// Why the client may not send this, counted; nullopt: it may.
  std::optional<Failure> refusal(const Client& client, const Frame& request,
                                 const ToolList& tools) {
    return refusal(client, nullptr, request, tools);
  }
  std::optional<Failure> refusal(const Caller& caller, const JobRequest* job, const Frame& request,
                                 const ToolList& tools);
  /// The same for a client that no rule matches, whatever it asks. REQUIRES: a policy.
  Failure refusal_of_client(const Client& client);
  /// The same for a tool that the client names in a control method.
  std::optional<Failure> refusal_of_tool(const Client& client, std::string_view name,
                                         const ToolList& tools);
  /// Whether the request can be judged only by the server's list of tools (`"read-only"`), which is
  /// not known.
  bool needs_tools(const Caller& caller, const JobRequest* job, const Frame& request,
                   const ToolList& tools) const;
  /// Denies such a request because of this error response to a request for the list.
  Failure refusal_without_tools(std::string_view response);
  /// Whether take_token() would take one.
  bool has_token(const Client& client, std::uint64_t calls) const;
  /// Takes tokens of the client's user, and so many of its grant's `calls`. Returns the refusal,
  /// counted, if they are not there; then nothing is taken.
  std::optional<Failure> take_token(const Client& client, std::uint64_t count, std::uint64_t calls);
  /// Removes from a list what the caller may not see; `method` is that of the request.
  void filter(const Caller& caller, const JobRequest* job, std::string_view method,
              Frame& response) const;

  const PermissionCounts& counts() const { return counts_; }

  const Grants& grants() const { return grants_; }
  Grants& grants() { return grants_; }
  /// A client or a job has a grant: from now on requests are judged.
  void grant_is_used() { judges_grants_ = true; }
  /// Grants of an earlier process or daemon with the same key.
  void restore_grants(const std::vector<SavedGrant>& saved,
                      const std::map<std::string, RunningGrant>& running = {});
  /// A grant was issued: sets the time when the next one expires.
  void watch_expiry();
  /// Whether the grant has expired since the client's rule was looked up.
  bool has_just_expired(const GrantHold& hold) const;
  bool has_ended(const GrantHold& hold) const { return grants_.end_of(hold, now()).has_value(); }
  void expire_grants();
  /// Revokes it and all that were issued under it; the number of them.
  std::size_t end_grant(std::string_view id);
  /// Both clocks.
  Grants::Now now() const { return {loop_.wall_time(), loop_.now()}; }

  /// For an upgrade: when each user's bucket will be full, for those that are not.
  std::map<User, SteadyTime> save_rates() const;
  void restore_rates(const std::map<User, SteadyTime>& rates);

 private:
  /// The rule is valid until the next call, the shared one as long as it is held.
  const PolicyRule& rule_of(const GrantHold& hold) const { return *shared_rule_of(hold); }
  std::shared_ptr<const PolicyRule> shared_rule_of(const GrantHold& hold) const;
  void grants_gone(const std::vector<std::string>& ids);
  std::optional<Failure> refusal(const User& user, const PolicyRule& rule, const Subject& subject,
                                 const ToolList& tools);
  Failure refusal_by(const User& user, const PolicyRule& rule, const Subject& subject);
  std::optional<Failure> take_token(const Client& client, std::uint64_t count);
  std::uint64_t& count_of(Subject::Kind kind);
  void make_room();

  EventLoop& loop_;
  const std::function<void()> grants_ended_;
  std::shared_ptr<const PolicyFile> policy_;
  Grants grants_;
  bool judges_grants_ = false;
  using Rights = std::unordered_map<std::string, std::shared_ptr<const PolicyRule>>;
  mutable Rights rights_;  ///< of grants, by their ids
  mutable std::size_t most_rights_ = 0;
  DeadlineTimer expiry_;
  std::map<User, TokenBucket> buckets_;
  PermissionCounts counts_;
};

/// The filter of ring entries for a peer with this rule: without changes of resources hidden from
/// it; without a rule it gets nothing. Null if the peer gets all. Pure; independent of the policy's
/// lifetime.
std::shared_ptr<const RingFilter> ring_filter_of(const PolicyRule& rule);

/// The same for a notification (JSON) that does not come from the ring: whether it is hidden.
bool hides_notification(const PolicyRule& rule, std::string_view message);

}  // namespace bridge
