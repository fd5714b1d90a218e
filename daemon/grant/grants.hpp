#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "grant/grant.hpp"
#include "grant/grant_key.hpp"
#include "json/reply.hpp"
#include "policy/policy.hpp"

namespace bridge {

/// A grant as it is saved.
struct SavedGrant {
  std::string payload;
  std::uint64_t used = 0;  ///< calls

  template <class A>
  void each_field(A& archive) {
    archive(payload, used);
  }
};

/// What has happened to grants, for the metrics.
struct GrantCounts {
  std::uint64_t issued = 0;
  std::uint64_t used = 0;  ///< accepted: by a `bridge/use` or with an HTTP request
  std::uint64_t refused[grant_ends] = {};
};

/// The grants of this daemon that are alive, and what they allow (BEHAVIOUR, "Grants"). A grant
/// that is not here has expired or was revoked: both end with it all that were issued under it.
///
/// Pure but for its key: times are passed in. Owned by Permissions. Bounds: `most` grants
/// (--grants), of one issuer at most half, each of Grant::longest_payload bytes.
class Grants {
 public:
  static constexpr std::size_t deepest = 16;  ///< grants on a path

  struct Alive {
    Grant grant;
    std::uint64_t used = 0;  ///< calls
    std::vector<std::string> path;
    Peer first_issuer;
    std::uint64_t hash = 0;  ///< of its string
    std::size_t length = 0;  ///< of its string
    std::string end{};       ///< of its string: most of the signature
  };

  explicit Grants(std::size_t most = 10'000) : most_(most) {}
  void set_most(std::size_t most) { most_ = most; }
  std::size_t most() const { return most_; }

  /// Replaces the key, before the first grant.
  void set_key(GrantKey key) { key_ = std::move(key); }
  const GrantKey& key() const { return key_; }

  /// Issues a grant of read_wanted_grant() for this peer; `under`: its grant, null: it has none.
  /// Returns its string and the grant, or why there is none. A child ends no later than its parent.
  struct Issued {
    std::string string;
    const Alive* alive;
  };
  std::variant<Issued, Failure> issue(Grant wanted, const Peer& issuer, const GrantHold* under,
                                      WallTime now);

  /// Verifies a string. The result may be used_up for `bridge/use` to refuse; counts nothing.
  std::variant<GrantHold, GrantEnd> verify(std::string_view string, WallTime now) const;
  /// Whether it has ended, and how; used_up does not count here.
  std::optional<GrantEnd> end_of(const GrantHold& hold, WallTime now) const;
  bool is_used_up(const GrantHold& hold) const { return calls_left(hold) == 0; }
  /// nullopt: not limited.
  std::optional<std::uint64_t> calls_left(const GrantHold& hold) const;
  /// Counts calls, for it and all grants on its path.
  void count_calls(const GrantHold& hold, std::uint64_t calls);
  /// Of these, which were counted, nothing was made.
  void give_back_calls(const GrantHold& hold, std::uint64_t calls) { count_calls(hold, 0 - calls); }

  /// What the grants on the path of a grant that has not ended allow of the first issuer's rights.
  /// `policy`: null: everything.
  PolicyRule rights_of(const GrantHold& hold, const Policy* policy) const;

  /// Null if it is not alive.
  const Alive* find(std::string_view id) const;
  GrantHold hold_of(const Alive& alive) const;
  /// Ends it and all that were issued under it; the number of them.
  std::size_t revoke(std::string_view id);
  /// Removes what has expired. Whether there was anything.
  bool expire(WallTime now);
  /// When the next one expires, in milliseconds since 1970.
  std::optional<std::uint64_t> next_expiry() const;

  std::size_t size() const { return alive_.size(); }
  /// A place in the order of their ends.
  using Place = std::pair<std::uint64_t, std::string>;
  /// Visits those behind the place until `visit` returns false.
  template <class Visit>
  void each_after(const Place& place, Visit&& visit) const {
    for (auto at = by_expiry_.upper_bound(place); at != by_expiry_.end(); ++at) {
      if (!visit(*at, alive_.at(at->second))) return;
    }
  }

  /// The ids of grants that were issued, used or revoked since the last call; those of the first
  /// two may have ended. From the first question on the owner is told.
  struct Changes {
    std::vector<std::string> issued;
    std::set<std::string> used;
    std::vector<std::string> revoked;
    bool empty() const { return issued.empty() && used.empty() && revoked.empty(); }
  };
  Changes take_changes() {
    notes_changes_ = true;
    return std::exchange(changes_, {});
  }
  bool has_changes() const { return !changes_.empty(); }

  std::vector<SavedGrant> save() const;
  SavedGrant saved(const Alive& alive) const { return {payload_of(alive.grant), alive.used}; }
  /// Grants of an earlier daemon with the same key, in any order.
  void restore(const std::vector<SavedGrant>& saved, WallTime now);

  GrantCounts counts;

 private:
  std::optional<Failure> fault_of(const Grant& wanted, const GrantHold* under) const;
  const Alive* find_known(std::string_view string) const;
  Alive& add(Grant grant, std::uint64_t used);
  void remove(const std::string& id);

  std::size_t most_;
  GrantKey key_;
  SecretHash hash_;
  std::unordered_map<std::string, Alive> alive_;
  std::unordered_map<std::uint64_t, std::string> by_hash_;  ///< ids
  std::set<Place> by_expiry_;
  Changes changes_;
  bool notes_changes_ = false;  ///< a state takes them
};

}  // namespace bridge
