#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "mcp/handshake.hpp"
#include "router/asked_for.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// What a modern client's request says beside its method (MCP 2026-07-28, basic, "`_meta`").
struct ModernRequest {
  DeclaredAnswers declared;  ///< which questions its client answers
  std::string log_level;     ///< empty: no log messages
  std::uint64_t digest = 0;  ///< request_digest(), of one that can be asked something
  /// The capabilities, as JSON, for want of which the upstream was refused what it asked about it;
  /// empty: it was not.
  std::string undeclared;
  /// It did not say about which of those in flight.
  bool undeclared_by_one_of_several = false;

  template <class A>
  void each_field(A& archive) {
    archive(declared, log_level, digest, undeclared, undeclared_by_one_of_several);
  }
};

/// What is kept of a legacy client's request at a modern upstream that may ask something in its
/// result (MCP 2026-07-28, "Multi Round-Trip Requests").
struct InputRound {
  std::string original;  ///< the request as its client wrote it
  unsigned rounds = 0;   ///< so many times it was answered so
  unsigned pauses = 0;   ///< the last of them, without a question

  template <class A>
  void each_field(A& archive) {
    archive(original, rounds, pauses);
  }
};

/// A client's request that is in flight upstream.
struct PendingRequest {
  std::optional<ClientId> client;  ///< none: it has left, and --orphans finish; or suspended
  User user;                       ///< whose client that is or was
  std::string client_request_id;   ///< raw JSON, as the client wrote it
  std::string progress_token;      ///< raw JSON; empty: none
  std::string method;
  std::string subject;            ///< RestorableState::subject_of
  bool takes_slot = true;         ///< of --max-inflight
  bool waits_for_answer = false;  ///< to a question about it, and takes no slot meanwhile
  bool suspended = false;         ///< its client was answered with a question of the upstream's
  bool is_own = false;            ///< the router's, with no client from the start
  bool mirrored_again = false;    ///< sent a second time, for want of headers
  bool is_upstream = true;        ///< false: what the upstream had to say under this id has come
  std::string_view malformed{};   ///< what is wrong with what came instead of its answer
  Era era = Era::legacy;          ///< of its client, as this request says
  Era side = Era::legacy;         ///< of the session in which it goes (Session)
  std::unique_ptr<ModernRequest> modern;           ///< of a modern one
  std::unique_ptr<InputRound> rounds;              ///< of one that may be sent again with answers
  std::unique_ptr<const std::string> traceparent;  ///< for the log, at debug level only
  SteadyTime received;
  SteadyTime sent;

  // Who has one in flight sets again that it waits; what has come of it, and is the router's own,
  // ends with the process.
  template <class A>
  void each_field(A& archive) {
    archive(client, user, client_request_id, progress_token, method, subject, takes_slot,
            archive.not_saved(waits_for_answer), suspended, archive.not_saved(is_own),
            mirrored_again, is_upstream, archive.not_saved(malformed), era, side, modern, rounds,
            traceparent, received, sent);
  }
};

/// Requests in flight by upstream id, as they are saved: in the order in which they were sent.
using SavedRequests = std::vector<std::pair<UpstreamId, PendingRequest>>;

/// A request that is in flight no more, where it was in the table: it is not moved about. False:
/// there was none.
class TakenRequest {
 public:
  using Node = std::unordered_map<UpstreamId, PendingRequest>::node_type;

  explicit TakenRequest(Node node) : node_(std::move(node)) {}
  explicit operator bool() const { return !node_.empty(); }
  const PendingRequest& operator*() const { return node_.mapped(); }
  const PendingRequest* operator->() const { return &node_.mapped(); }

 private:
  Node node_;
};

/// The requests in flight by upstream id, and whose stream an answered one was: what comes late on
/// it still belongs to that client. Pure. Bounded by --max-inflight, and by 1024 answered ones.
class PendingRequests {
 public:
  PendingRequest& add(UpstreamId id, PendingRequest request) {
    if (request.takes_slot) ++slots_used_;
    return pending_.emplace(id, std::move(request)).first->second;
  }
  /// One that is filled in where it stays. REQUIRES: there is none of this id.
  PendingRequest& add(UpstreamId id, bool takes_slot) {
    PendingRequest& request = pending_[id];
    request.takes_slot = takes_slot;
    if (takes_slot) ++slots_used_;
    return request;
  }
  /// Gives it another id. REQUIRES: there is one of the former id, and none of this one.
  PendingRequest& rename(UpstreamId former, UpstreamId id) {
    auto node = pending_.extract(former);
    note_answered(former, node.mapped());
    node.key() = id;
    return pending_.insert(std::move(node)).position->second;
  }

  void set_takes_slot(PendingRequest& request, bool takes_slot) {
    slots_used_ += takes_slot ? 1 : 0;
    slots_used_ -= request.takes_slot ? 1 : 0;
    request.takes_slot = takes_slot;
  }

  PendingRequest* find(UpstreamId id) {
    const auto found = pending_.find(id);
    return found == pending_.end() ? nullptr : &found->second;
  }
  const PendingRequest* find(UpstreamId id) const {
    const auto found = pending_.find(id);
    return found == pending_.end() ? nullptr : &found->second;
  }

  TakenRequest take(UpstreamId id) {
    TakenRequest taken(pending_.extract(id));
    if (!taken) return taken;
    if (taken->takes_slot) --slots_used_;
    note_answered(id, *taken);
    return taken;
  }

  /// Whose request's stream this is or was.
  std::optional<ClientId> owner(UpstreamId id) const {
    if (const auto found = pending_.find(id); found != pending_.end()) return found->second.client;
    const auto& [answered, client] = answered_[value_of(id) % answered_.size()];
    if (answered == id && id != UpstreamId{}) return client;
    return std::nullopt;
  }

  std::size_t size() const { return pending_.size(); }
  /// Slots of --max-inflight that are taken.
  std::size_t slots_used() const { return slots_used_; }
  auto begin() { return pending_.begin(); }
  auto end() { return pending_.end(); }
  auto begin() const { return pending_.begin(); }
  auto end() const { return pending_.end(); }

 private:
  void note_answered(UpstreamId id, const PendingRequest& request) {
    if (request.client) answered_[value_of(id) % answered_.size()] = {id, *request.client};
  }

  std::unordered_map<UpstreamId, PendingRequest> pending_;
  std::size_t slots_used_ = 0;
  std::array<std::pair<UpstreamId, ClientId>, 1024> answered_{};
};

}  // namespace bridge
