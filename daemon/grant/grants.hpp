#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

/// What only the next process after an upgrade gets of a grant beside that.
struct RunningGrant {
  SteadyTime deadline{};
  std::uint64_t rounds = 0;

  template <class A>
  void each_field(A& archive) {
    archive(deadline, rounds);
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
/// A grant ends by the calendar, and by the steady clock too: a calendar that is set back prolongs
/// none.
///
/// Pure but for its key: times are passed in. Owned by Permissions. Bounds: `most` grants
/// (--grants), of one issuer at most half, each of Grant::longest_payload bytes. Each operation on
/// one grant takes a time that does not depend on the number of others.
class Grants {
 public:
  static constexpr std::size_t deepest = 16;  ///< grants on a path

  /// The same moment on both clocks.
  struct Now {
    WallTime wall{};
    SteadyTime steady{};
  };

  struct Alive {
    Grant grant;
    std::uint64_t used = 0;  ///< calls
    std::vector<std::string> path{};
    Peer first_issuer{};
    SteadyTime deadline{};             ///< it ends then even if the calendar was set back
    std::uint64_t rounds = 0;          ///< see open_round()
    std::set<std::string> children{};  ///< ids
    std::uint64_t hash = 0;            ///< of its string
    std::size_t length = 0;            ///< of its string
    std::string end{};                 ///< of its string: most of the signature
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
                                      const Now& now);

  /// Verifies a string. The result may be used_up for `bridge/use` to refuse; counts nothing.
  std::variant<GrantHold, GrantEnd> verify(std::string_view string, const Now& now) const;
  /// Whether it has ended, and how; used_up does not count here.
  std::optional<GrantEnd> end_of(const GrantHold& hold, const Now& now) const;
  /// Whether it has expired and was not removed yet.
  bool has_just_expired(const GrantHold& hold, const Now& now) const;
  bool is_used_up(const GrantHold& hold) const { return calls_left(hold) == 0; }
  /// nullopt: not limited.
  std::optional<std::uint64_t> calls_left(const GrantHold& hold) const;
  /// Counts calls, for it and all grants on its path.
  void count_calls(const GrantHold& hold, std::uint64_t calls);
  /// Of these, which were counted, nothing was made.
  void give_back_calls(const GrantHold& hold, std::uint64_t calls) { count_calls(hold, 0 - calls); }

  /// A call that was counted for the grant of this id was answered with questions (MCP 2026-07-28,
  /// "Multi Round-Trip Requests"): the request that carries the answers to them is not counted. The
  /// requests that were really executed are never more than those that were counted.
  void open_round(std::string_view id);
  bool has_round(const GrantHold& hold) const;
  /// REQUIRES: has_round().
  void take_round(const GrantHold& hold);

  /// What the grants on the path of a grant that has not ended allow of the first issuer's rights,
  /// and of those of each child's issuer with its own grant. `policy`: null: everything.
  PolicyRule rights_of(const GrantHold& hold, const Policy* policy) const;

  /// Null if it is not alive.
  const Alive* find(std::string_view id) const;
  GrantHold hold_of(const Alive& alive) const;
  /// Ends it and all that were issued under it; returns their ids.
  std::vector<std::string> revoke(std::string_view id);
  /// Removes what has expired; returns their ids.
  std::vector<std::string> expire(const Now& now);
  /// When the next one expires, if the calendar is not set.
  std::optional<SteadyTime> next_expiry(const Now& now) const;

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

  std::vector<SavedGrant> save() const;
  SavedGrant saved(const Alive& alive) const { return {payload_of(alive.grant), alive.used}; }
  std::map<std::string, RunningGrant> save_running() const;
  /// Grants of an earlier daemon with the same key, in any order. `running`: by their ids.
  void restore(const std::vector<SavedGrant>& saved, const Now& now,
               const std::map<std::string, RunningGrant>& running = {});

  GrantCounts counts;

 private:
  std::optional<Failure> fault_of(const Grant& wanted, const GrantHold* under) const;
  const Alive* find_known(std::string_view string) const;
  Alive& add(Grant grant, std::uint64_t used, SteadyTime deadline);
  void remove(const std::string& id);
  bool has_expired(const Grant& grant, const Now& now) const;

  std::size_t most_;
  GrantKey key_;
  SecretHash hash_;
  std::unordered_map<std::string, Alive> alive_;
  std::unordered_map<std::uint64_t, std::string> by_hash_;  ///< ids
  std::set<Place> by_expiry_;
  std::set<std::pair<SteadyTime, std::string>> by_deadline_;
  std::set<Place> outlived_;  ///< expired, though not yet by a calendar that was set back
  std::map<User, std::size_t> of_user_;  ///< alive, by their first issuers
  Changes changes_;
  bool notes_changes_ = false;  ///< a state takes them
};

}  // namespace bridge
