#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "router/call.hpp"

namespace bridge {

/// Whose request a stream is or was about.
struct StreamOwner {
  std::optional<ClientId> client;
  bool is_job = false;

  bool is_known() const { return client || is_job; }
  friend bool operator==(const StreamOwner&, const StreamOwner&) = default;
};

/// A call removed from the table without being moved in memory. False: there was none.
class TakenCall {
 public:
  using Node = std::unordered_map<UpstreamId, Call>::node_type;

  explicit TakenCall(Node node) : node_(std::move(node)) {}
  explicit operator bool() const { return !node_.empty(); }
  const Call& operator*() const { return node_.mapped(); }
  const Call* operator->() const { return &node_.mapped(); }

 private:
  Node node_;
};

/// The requests in flight by upstream id, and the owners of answered ones, for late messages on
/// their streams. Pure. Bounds: --max-inflight requests, 1024 answered ones.
class CallTable {
 public:
  Call& add_call(UpstreamId id, Call call) {
    if (call.takes_slot()) ++slots_used_;
    return calls_.emplace(id, std::move(call)).first->second;
  }
  /// Adds a call to be filled in place. REQUIRES: the id is unused.
  Call& add_call(UpstreamId id, Call::Kind kind) {
    Call& call = calls_[id];
    call.kind = kind;
    if (call.takes_slot()) ++slots_used_;
    return call;
  }
  /// Changes the id of a call. REQUIRES: `former` is in use, `id` is unused.
  Call& rename(UpstreamId former, UpstreamId id) {
    auto node = calls_.extract(former);
    note_former_owner(former, node.mapped());
    node.key() = id;
    return calls_.insert(std::move(node)).position->second;
  }

  /// Changes what a call waits for, and counts its slot again.
  template <class Change>
  void change(Call& call, Change&& change_it) {
    slots_used_ -= call.takes_slot() ? 1 : 0;
    change_it();
    slots_used_ += call.takes_slot() ? 1 : 0;
  }

  Call* find_call(UpstreamId id) {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second;
  }
  const Call* find_call(UpstreamId id) const {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second;
  }

  TakenCall take_call(UpstreamId id) {
    TakenCall taken(calls_.extract(id));
    if (!taken) return taken;
    if (taken->takes_slot()) --slots_used_;
    note_former_owner(id, *taken);
    return taken;
  }

  /// Of the request in flight, or answered not long ago.
  StreamOwner owner(UpstreamId id) const {
    if (const auto found = calls_.find(id); found != calls_.end()) return owner_of(found->second);
    const auto& [answered, owner] = answered_[value_of(id) % answered_.size()];
    return answered == id && id != UpstreamId{} ? owner : StreamOwner{};
  }

  /// The caller's request with this id, and its upstream id; null: not in flight.
  std::pair<UpstreamId, const Call*> find_call(const Caller& caller, std::string_view raw_id) const;
  bool has(const Caller& caller, std::string_view raw_id) const {
    return find_call(caller, raw_id).second != nullptr;
  }
  /// The request in flight with this upstream id, given as JSON.
  std::optional<UpstreamId> named_by(std::string_view raw_id) const;
  /// The ids of all calls that match, in order.
  template <class IsOne>
  std::vector<UpstreamId> all(IsOne&& is_one) const {
    std::vector<UpstreamId> ids;
    for (const auto& [id, call] : calls_) {
      if (is_one(call)) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// `visit` gets the upstream id and the call; it must not start or end calls.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [id, call] : calls_) visit(id, call);
  }
  template <class IsOne>
  bool any(IsOne&& is_one) const {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const auto& entry) { return is_one(entry.second); });
  }

  std::size_t size() const { return calls_.size(); }
  /// Slots of --max-inflight that are taken.
  std::size_t slots_used() const { return slots_used_; }
  /// Slots of --client-inflight that this caller's requests take.
  std::size_t slots_used_by(const Caller& caller) const;
  /// The same for all callers of a user.
  std::size_t slots_used_by(const User& user) const;
  auto begin() { return calls_.begin(); }
  auto end() { return calls_.end(); }
  auto begin() const { return calls_.begin(); }
  auto end() const { return calls_.end(); }

 private:
  static StreamOwner owner_of(const Call& call);
  void note_former_owner(UpstreamId id, const Call& call) {
    if (const StreamOwner owner = owner_of(call); owner.is_known())
      answered_[value_of(id) % answered_.size()] = {id, owner};
  }

  std::unordered_map<UpstreamId, Call> calls_;
  std::size_t slots_used_ = 0;
  std::array<std::pair<UpstreamId, StreamOwner>, 1024> answered_{};
};

}  // namespace bridge
