#include "grant/grants.hpp"

#include <algorithm>
#include <map>

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

bool is_same_user(const Peer& left, const Peer& right) {
  return left.http == right.http && (left.http || left.uid == right.uid);
}

}  // namespace

std::optional<Failure> Grants::fault_of(const Grant& wanted, const GrantHold* under) const {
  const Peer& user = under != nullptr ? under->first_issuer : wanted.issuer;
  const auto of_user = static_cast<std::size_t>(std::count_if(
      alive_.begin(), alive_.end(),
      [&user](const auto& entry) { return is_same_user(entry.second.first_issuer, user); }));
  if (alive_.size() >= most_ || of_user >= std::max<std::size_t>(1, most_ / 2)) {
    return failure_of(ErrorKind::overloaded, Delivered::no,
                      "too many grants are alive (--grants, half of them for one user); revoke "
                      "some, or wait until some expire");
  }
  if (under != nullptr && under->path.size() >= deepest) {
    return definitive_failure_of(ErrorKind::overloaded,
                                 "this grant was issued under 15 others; use one of those");
  }
  if (payload_of(wanted).size() > Grant::longest_payload) {
    return definitive_failure_of(ErrorKind::too_large,
                                 "the lists of this grant are too long (over 8192 bytes)");
  }
  return std::nullopt;
}

std::variant<Grants::Issued, Failure> Grants::issue(Grant wanted, const Peer& issuer,
                                                    const GrantHold* under, WallTime now) {
  wanted.id = random_hex(7);
  wanted.issuer = issuer;
  wanted.issuer.grant = under != nullptr;
  wanted.expires += milliseconds_of(now);
  if (under != nullptr) {
    wanted.parent = under->id();
    wanted.expires = std::min(wanted.expires, under->expires);
  }
  if (auto fault = fault_of(wanted, under)) return *std::move(fault);
  std::string string = key_.sign(payload_of(wanted));
  Alive& alive = add(std::move(wanted), 0);
  ++counts.issued;
  if (notes_changes_) changes_.issued.push_back(alive.grant.id);
  return Issued{std::move(string), &alive};
}

/// REQUIRES: its parent, if it has one, is there.
Grants::Alive& Grants::add(Grant grant, std::uint64_t used) {
  Alive alive{std::move(grant), used, {}, {}};
  const Alive* const parent = find(alive.grant.parent);
  alive.path = parent != nullptr ? parent->path : std::vector<std::string>();
  alive.path.push_back(alive.grant.id);
  alive.first_issuer = parent != nullptr ? parent->first_issuer : alive.grant.issuer;
  const std::string string = key_.sign(payload_of(alive.grant));
  alive.hash = hash_.of(string);
  alive.length = string.size();
  alive.end = string.substr(string.size() - compared);
  by_hash_.emplace(alive.hash, alive.grant.id);
  by_expiry_.emplace(alive.grant.expires, alive.grant.id);
  return alive_.insert_or_assign(alive.grant.id, std::move(alive)).first->second;
}

void Grants::remove(const std::string& id) {
  const auto found = alive_.find(id);
  by_hash_.erase(found->second.hash);
  by_expiry_.erase({found->second.grant.expires, id});
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

std::variant<GrantHold, GrantEnd> Grants::verify(std::string_view string, WallTime now) const {
  const Alive* alive = find_known(string);
  if (alive != nullptr) {
    if (alive->grant.has_expired(now)) return GrantEnd::expired;
    return hold_of(*alive);
  }
  const auto payload = key_.verify(string);
  const auto grant = payload ? read_payload(*payload) : std::nullopt;
  if (!grant) return GrantEnd::invalid;
  if (grant->has_expired(now)) return GrantEnd::expired;
  alive = find(grant->id);
  if (alive == nullptr) return GrantEnd::revoked;
  return hold_of(*alive);
}

std::optional<GrantEnd> Grants::end_of(const GrantHold& hold, WallTime now) const {
  if (hold.is_refused()) return hold.refused;
  if (hold.expires <= milliseconds_of(now)) return GrantEnd::expired;
  if (!alive_.contains(hold.path.back())) return GrantEnd::revoked;
  return std::nullopt;
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
    if (const PolicyRule* const rule = policy->rule_for_issuer_with_grant(alive->grant.issuer))
      rights.narrow(*rule);
  }
  return rights;
}

std::size_t Grants::revoke(std::string_view id) {
  std::vector<std::string> ended;
  for (const auto& [its, alive] : alive_) {
    if (std::find(alive.path.begin(), alive.path.end(), id) != alive.path.end())
      ended.push_back(its);
  }
  for (const std::string& one : ended) remove(one);
  if (notes_changes_) changes_.revoked.insert(changes_.revoked.end(), ended.begin(), ended.end());
  return ended.size();
}

/// A child ends no later than its parent, so that none loses its parent.
bool Grants::expire(WallTime now) {
  bool any = false;
  while (!by_expiry_.empty() && by_expiry_.begin()->first <= milliseconds_of(now)) {
    remove(std::string(by_expiry_.begin()->second));
    any = true;
  }
  return any;
}

std::optional<std::uint64_t> Grants::next_expiry() const {
  return by_expiry_.empty() ? std::nullopt : std::optional(by_expiry_.begin()->first);
}

std::vector<SavedGrant> Grants::save() const {
  std::vector<SavedGrant> all;
  all.reserve(alive_.size());
  for (const auto& [id, alive] : alive_) all.push_back(saved(alive));
  return all;
}

void Grants::restore(const std::vector<SavedGrant>& saved, WallTime now) {
  std::map<std::string, std::pair<Grant, std::uint64_t>> waiting;
  for (const SavedGrant& one : saved) {
    auto grant = read_payload(one.payload);
    if (!grant || grant->has_expired(now)) continue;
    const std::string id = grant->id;
    waiting.insert_or_assign(id, std::pair(std::move(*grant), one.used));
  }
  // Parents first; a grant whose parent is gone has ended with it.
  for (bool any = true; any;) {
    any = false;
    for (auto entry = waiting.begin(); entry != waiting.end();) {
      auto& [grant, used] = entry->second;
      const bool is_next = grant.parent.empty() || find(grant.parent) != nullptr;
      if (is_next) add(std::move(grant), used);
      any = any || is_next;
      entry = is_next ? waiting.erase(entry) : std::next(entry);
    }
  }
}

}  // namespace bridge
