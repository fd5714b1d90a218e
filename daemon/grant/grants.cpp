#include "grant/grants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "text/secret_forms.hpp"

namespace bridge {
namespace {

std::uint64_t milliseconds_of(WallTime time) {
  const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, since_1970.count()));
}

/// Characters at the end of a string, which are of its signature.
constexpr std::size_t compared = 42;

std::chrono::milliseconds time_until(std::uint64_t expires, WallTime now) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(expires) -
                                   static_cast<std::int64_t>(milliseconds_of(now)));
}

}  // namespace

std::optional<Failure> Grants::fault_of(const Grant& wanted, const GrantHold* under) const {
  const Peer& user = under != nullptr ? under->first_issuer : wanted.issuer;
  const auto found = of_user_.find(user_of(user));
  const std::size_t of_user = found == of_user_.end() ? 0 : found->second;
  if (alive_.size() >= most_ || of_user >= std::max<std::size_t>(1, most_ / 2)) {
    return failure_of(ErrorKind::overloaded, Delivered::no,
                      "too many grants are alive (--grants, half of them for one user); revoke "
                      "some, or wait until some expire");
  }
  if (under != nullptr && under->path.size() >= deepest) {
    return definitive_failure_of(ErrorKind::overloaded,
                                 "this grant was issued under 15 others; use one of those");
  }
  const std::size_t size = payload_of(wanted).size();
  if (size <= Grant::longest_payload) return std::nullopt;
  Grant alone = wanted;
  alone.issuer.groups.clear();
  const std::size_t of_groups = size - payload_of(alone).size();
  if (of_groups < Grant::longest_payload / 2) {
    return definitive_failure_of(ErrorKind::too_large,
                                 "the lists of this grant are too long (over 8192 bytes)");
  }
  return definitive_failure_of(
      ErrorKind::too_large,
      fmt::format("a grant names its issuer's groups, and this user has {} supplementary ones, "
                  "too many for its string; issue it as a user with fewer groups, or over the HTTP "
                  "port with a token",
                  wanted.issuer.groups.size()));
}

std::variant<Grants::Issued, Failure> Grants::issue(Grant wanted, const Peer& issuer,
                                                    const GrantHold* under, const Now& now) {
  wanted.id = random_hex(7);
  wanted.issuer = issuer;
  wanted.issuer.grant = under != nullptr;
  const std::chrono::milliseconds life(static_cast<std::int64_t>(wanted.expires));
  wanted.expires += milliseconds_of(now.wall);
  if (under != nullptr) {
    wanted.parent = under->id();
    wanted.expires = std::min(wanted.expires, under->expires);
  }
  if (auto fault = fault_of(wanted, under)) return *std::move(fault);
  std::string string = key_.sign(payload_of(wanted));
  Alive& alive = add(std::move(wanted), 0, now.steady + life);
  ++counts.issued;
  if (notes_changes_) changes_.issued.push_back(alive.grant.id);
  return Issued{std::move(string), &alive};
}

/// REQUIRES: its parent, if it has one, is there.
Grants::Alive& Grants::add(Grant grant, std::uint64_t used, SteadyTime deadline) {
  Alive alive{std::move(grant), used};
  alive.deadline = deadline;
  alive.first_issuer = alive.grant.issuer;
  if (const auto parent = alive_.find(alive.grant.parent); parent != alive_.end()) {
    alive.path = parent->second.path;
    alive.first_issuer = parent->second.first_issuer;
    alive.deadline = std::min(deadline, parent->second.deadline);
    parent->second.children.insert(alive.grant.id);
  }
  alive.path.push_back(alive.grant.id);
  const std::string string = key_.sign(payload_of(alive.grant));
  alive.hash = hash_.of(string);
  alive.length = string.size();
  alive.end = string.substr(string.size() - compared);
  by_hash_.emplace(alive.hash, alive.grant.id);
  by_expiry_.emplace(alive.grant.expires, alive.grant.id);
  by_deadline_.emplace(alive.deadline, alive.grant.id);
  ++of_user_[user_of(alive.first_issuer)];
  return alive_.insert_or_assign(alive.grant.id, std::move(alive)).first->second;
}

void Grants::remove(const std::string& id) {
  const auto found = alive_.find(id);
  const Alive& alive = found->second;
  by_hash_.erase(alive.hash);
  by_expiry_.erase({alive.grant.expires, id});
  by_deadline_.erase({alive.deadline, id});
  const auto of_user = of_user_.find(user_of(alive.first_issuer));
  if (--of_user->second == 0) of_user_.erase(of_user);
  if (const auto parent = alive_.find(alive.grant.parent); parent != alive_.end())
    parent->second.children.erase(id);
  alive_.erase(found);
}

const Grants::Alive* Grants::find(std::string_view id) const {
  const auto found = alive_.find(std::string(id));
  return found == alive_.end() ? nullptr : &found->second;
}

GrantHold Grants::hold_of(const Alive& alive) const {
  return {alive.path, alive.grant.name, alive.grant.issuer, alive.first_issuer,
          alive.grant.expires};
}

/// The grant of this string, if that is sure without verifying it: an equal hash alone may be
/// chance.
const Grants::Alive* Grants::find_known(std::string_view string) const {
  if (!GrantKey::may_be_signed(string) || string.size() < compared) return nullptr;
  const auto found = by_hash_.find(hash_.of(string));
  if (found == by_hash_.end()) return nullptr;
  const Alive& alive = alive_.at(found->second);
  const bool is_it = string.size() == alive.length &&
                     equal_in_constant_time(string.substr(string.size() - compared), alive.end);
  return is_it ? &alive : nullptr;
}

/// REQUIRES: it was issued here.
bool Grants::has_expired(const Grant& grant, const Now& now) const {
  if (grant.has_expired(now.wall)) return true;
  const Alive* const alive = find(grant.id);
  return alive != nullptr ? alive->deadline <= now.steady
                          : outlived_.contains({grant.expires, grant.id});
}

std::variant<GrantHold, GrantEnd> Grants::verify(std::string_view string, const Now& now) const {
  const Alive* alive = find_known(string);
  if (alive != nullptr) {
    if (has_expired(alive->grant, now)) return GrantEnd::expired;
    return hold_of(*alive);
  }
  const auto payload = key_.verify(string);
  const auto grant = payload ? read_payload(*payload) : std::nullopt;
  if (!grant) return GrantEnd::invalid;
  if (has_expired(*grant, now)) return GrantEnd::expired;
  alive = find(grant->id);
  if (alive == nullptr) return GrantEnd::revoked;
  return hold_of(*alive);
}

std::optional<GrantEnd> Grants::end_of(const GrantHold& hold, const Now& now) const {
  if (hold.is_refused()) return hold.refused;
  if (hold.expires <= milliseconds_of(now.wall)) return GrantEnd::expired;
  const std::string& id = hold.path.back();
  const auto found = alive_.find(id);
  if (found != alive_.end())
    return found->second.deadline <= now.steady ? std::optional(GrantEnd::expired) : std::nullopt;
  return outlived_.contains({hold.expires, id}) ? GrantEnd::expired : GrantEnd::revoked;
}

std::optional<std::uint64_t> Grants::calls_left(const GrantHold& hold) const {
  std::optional<std::uint64_t> left;
  for (const std::string& id : hold.path) {
    const Alive* const alive = find(id);
    if (alive == nullptr || alive->grant.calls == 0) continue;
    const std::uint64_t its = alive->grant.calls - std::min(alive->used, alive->grant.calls);
    left = std::min(its, left.value_or(its));
  }
  return left;
}

void Grants::count_calls(const GrantHold& hold, std::uint64_t calls) {
  for (const std::string& id : hold.path) {
    const auto found = alive_.find(id);
    if (found == alive_.end() || found->second.grant.calls == 0) continue;
    found->second.used += calls;
    if (notes_changes_) changes_.used.insert(id);
  }
}

bool Grants::has_just_expired(const GrantHold& hold, const Now& now) const {
  if (hold.is_refused()) return false;
  const auto found = alive_.find(hold.path.back());
  return found != alive_.end() &&
         (found->second.deadline <= now.steady || hold.expires <= milliseconds_of(now.wall));
}

void Grants::open_round(std::string_view id) {
  const auto found = alive_.find(std::string(id));
  if (found != alive_.end()) ++found->second.rounds;
}

bool Grants::has_round(const GrantHold& hold) const {
  const Alive* const alive = hold.is_refused() ? nullptr : find(hold.path.back());
  return alive != nullptr && alive->rounds > 0;
}

void Grants::take_round(const GrantHold& hold) { --alive_.find(hold.path.back())->second.rounds; }

PolicyRule Grants::rights_of(const GrantHold& hold, const Policy* policy) const {
  PolicyRule rights;
  rights.number = 1;
  if (policy != nullptr) rights = policy->rule_for(hold.first_issuer);
  rights.is_of_grant = true;
  for (const std::string& id : hold.path) {
    const Alive* const alive = find(id);
    if (alive == nullptr) continue;
    rights.narrow(alive->grant.lists());
    if (policy == nullptr || !alive->grant.issuer.grant) continue;
    const PolicyRule& rule = policy->rule_for(alive->grant.issuer);
    if (rule.is_none()) rights.number = 0;
    rights.narrow(rule);
  }
  return rights;
}

std::vector<std::string> Grants::revoke(std::string_view id) {
  std::vector<std::string> ended;
  if (find(id) != nullptr) ended.emplace_back(id);
  for (std::size_t at = 0; at < ended.size(); ++at) {
    const std::set<std::string> children = alive_.find(ended[at])->second.children;
    ended.insert(ended.end(), children.begin(), children.end());
    remove(ended[at]);
  }
  if (notes_changes_) changes_.revoked.insert(changes_.revoked.end(), ended.begin(), ended.end());
  return ended;
}

/// A child ends no later than its parent, so that none loses its parent.
std::vector<std::string> Grants::expire(const Now& now) {
  const std::uint64_t wall = milliseconds_of(now.wall);
  std::vector<std::string> ended;
  while (!by_expiry_.empty() && by_expiry_.begin()->first <= wall) {
    ended.push_back(by_expiry_.begin()->second);
    remove(ended.back());
  }
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now.steady) {
    ended.push_back(by_deadline_.begin()->second);
    outlived_.emplace(find(ended.back())->grant.expires, ended.back());
    // A restart does not know the steady clock of this one.
    if (notes_changes_) changes_.revoked.push_back(ended.back());
    remove(ended.back());
  }
  while (!outlived_.empty() && (outlived_.begin()->first <= wall || outlived_.size() > most_))
    outlived_.erase(outlived_.begin());
  return ended;
}

std::optional<SteadyTime> Grants::next_expiry(const Now& now) const {
  if (by_expiry_.empty()) return std::nullopt;
  return std::min(by_deadline_.begin()->first,
                  now.steady + time_until(by_expiry_.begin()->first, now.wall));
}

std::vector<SavedGrant> Grants::save() const {
  std::vector<SavedGrant> all;
  all.reserve(alive_.size());
  for (const auto& [id, alive] : alive_) all.push_back(saved(alive));
  return all;
}

std::map<std::string, RunningGrant> Grants::save_running() const {
  std::map<std::string, RunningGrant> all;
  for (const auto& [id, alive] : alive_)
    all.emplace(id, RunningGrant{alive.deadline, alive.rounds});
  return all;
}

void Grants::restore(const std::vector<SavedGrant>& saved, const Now& now,
                     const std::map<std::string, RunningGrant>& running) {
  std::map<std::string, std::pair<Grant, std::uint64_t>> waiting;
  for (const SavedGrant& one : saved) {
    auto grant = read_payload(one.payload);
    // In an upgrade those that have expired meanwhile end like all others.
    if (!grant || (grant->has_expired(now.wall) && !running.contains(grant->id))) continue;
    const std::string id = grant->id;
    waiting.insert_or_assign(id, std::pair(std::move(*grant), one.used));
  }
  // Parents first; a grant whose parent is gone has ended with it.
  for (bool any = true; any;) {
    any = false;
    for (auto entry = waiting.begin(); entry != waiting.end();) {
      auto& [grant, used] = entry->second;
      const bool is_next = grant.parent.empty() || find(grant.parent) != nullptr;
      if (is_next) {
        const auto ran = running.find(entry->first);
        const SteadyTime end = now.steady + time_until(grant.expires, now.wall);
        Alive& alive = add(std::move(grant), used,
                           ran != running.end() ? std::min(end, ran->second.deadline) : end);
        if (ran != running.end()) alive.rounds = ran->second.rounds;
      }
      any = any || is_next;
      entry = is_next ? waiting.erase(entry) : std::next(entry);
    }
  }
}

}  // namespace bridge
