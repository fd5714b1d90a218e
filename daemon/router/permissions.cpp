#include "router/permissions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "mcp/methods.hpp"

namespace bridge {

namespace {

/// The subject of a request; of a submission, that of the submitted request.
Subject asked_by(const Frame& request) {
  const bool is_call = request.method == "tools/call";
  if (is_call && !request.has_ambiguous_params && is_string(request.text(request.name))) {
    // Was read with the frame, which has no member that another parser could take for it.
    const std::string_view raw = request.text(request.name);
    return {Subject::Kind::tool, *to_text(raw), is_clear_text(raw.substr(1, raw.size() - 2))};
  }
  const std::string_view params = request.text(request.params);
  if (request.method != "bridge/submit") return subject_of(request.method, params);
  // As JobMethods reads it.
  return subject_of(judged_method(find_string(params, "method").value_or("")),
                    find_member(params, "params").value_or("{}"));
}

bool is_owner(const User& user) { return !user.remote && user.uid == geteuid(); }

/// The rules of grants that have ended, by their end.
const std::array<PolicyRule, grant_ends>& ended_rules() {
  static const std::array<PolicyRule, grant_ends> rules = [] {
    std::array<PolicyRule, grant_ends> all;
    for (std::size_t at = 0; at < all.size(); ++at) {
      all[at].is_of_grant = true;
      all[at].ended = text_of(static_cast<GrantEnd>(at));
    }
    return all;
  }();
  return rules;
}

/// So many rules that no client has are kept for the next request with such a grant.
constexpr std::size_t kept_rights = 64;

}  // namespace

Permissions::Permissions(EventLoop& loop, std::function<void()> grants_ended)
    : loop_(loop),
      grants_ended_(std::move(grants_ended)),
      expiry_(loop, [this] { expire_grants(); }) {}

void Permissions::take_rule(Client& client) const {
  client.rights = client.grant ? shared_rule_of(*client.grant) : nullptr;
  client.rule = client.grant ? client.rights.get() : rule_for(client.channel.identity().peer());
}

const PolicyRule* Permissions::rule_for(const Caller& caller, const JobRequest* job) const {
  if (caller.client() != nullptr) return caller.client()->rule;
  if (job == nullptr || job->about_task) return nullptr;
  if (job->grant) return &rule_of(*job->grant);
  return policy_ == nullptr ? nullptr : &policy_->policy.rule_for(job->peer);
}

std::shared_ptr<const PolicyRule> Permissions::shared_rule_of(const GrantHold& hold) const {
  // Not owned: it lives as long as the program.
  if (const auto end = grants_.end_of(hold, now()))
    return {std::shared_ptr<void>(), &ended_rules()[static_cast<std::size_t>(*end)]};
  auto& rights = rights_[hold.path.back()];
  if (rights != nullptr) return rights;
  auto made = std::make_shared<const PolicyRule>(
      grants_.rights_of(hold, policy_ != nullptr ? &policy_->policy : nullptr));
  rights = made;
  if (rights_.size() > most_rights_) {
    std::erase_if(rights_, [&made](const auto& entry) {
      return entry.second != made && entry.second.use_count() == 1;
    });
    most_rights_ = 2 * rights_.size() + kept_rights;
  }
  return made;
}

bool Permissions::may_take_part(const JobRequest& job) const {
  return job.grant ? !rule_of(*job.grant).is_none() : may_take_part(job.peer);
}

void Permissions::restore_grants(const std::vector<SavedGrant>& saved,
                                 const std::map<std::string, RunningGrant>& running) {
  grants_.restore(saved, now(), running);
  watch_expiry();
}

/// A calendar that is set forward, or a machine that has slept, is noticed when a grant is used and
/// when the server says something.
void Permissions::watch_expiry() {
  const auto next = grants_.next_expiry(now());
  if (!next) {
    expiry_.clear();
    return;
  }
  expiry_.set(std::max(*next, loop_.now() + std::chrono::milliseconds(1)));
}

bool Permissions::has_just_expired(const GrantHold& hold) const {
  return grants_.has_just_expired(hold, now());
}

void Permissions::expire_grants() { grants_gone(grants_.expire(now())); }

std::size_t Permissions::end_grant(std::string_view id) {
  const std::vector<std::string> ended = grants_.revoke(id);
  grants_gone(ended);
  return ended.size();
}

void Permissions::grants_gone(const std::vector<std::string>& ids) {
  watch_expiry();
  for (const std::string& id : ids) rights_.erase(id);
  if (!ids.empty() && grants_ended_) grants_ended_();
}

const PolicyRule* Permissions::rule_for_http() const {
  Peer peer;
  peer.http = true;
  return rule_for(peer);
}

std::optional<Failure> Permissions::refusal(const Caller& caller, const JobRequest* job,
                                            const Frame& request, const ToolList& tools) {
  const PolicyRule* const rule = rule_for(caller, job);
  if (rule == nullptr || rule->restricts_nothing()) return std::nullopt;
  return refusal(caller.user, *rule, asked_by(request), tools);
}

bool Permissions::allows(const Client& client, const Frame& request, const ToolList& tools) const {
  const PolicyRule* const rule = client.rule;
  return rule == nullptr || rule->restricts_nothing() ||
         bridge::allows(*rule, asked_by(request), tools);
}

std::optional<Failure> Permissions::refusal_of_tool(const Client& client, std::string_view name,
                                                    const ToolList& tools) {
  if (client.rule == nullptr) return std::nullopt;
  return refusal(client.user, *client.rule, {Subject::Kind::tool, std::string(name)}, tools);
}

bool Permissions::needs_tools(const Caller& caller, const JobRequest* job, const Frame& request,
                              const ToolList& tools) const {
  const PolicyRule* const rule = rule_for(caller, job);
  if (rule == nullptr || rule->is_none() || !rule->tools.wants_read_only() || tools.is_whole())
    return false;
  const Subject subject = asked_by(request);
  return subject.kind == Subject::Kind::tool && subject.is_clear;
}

Failure Permissions::refusal_without_tools(std::string_view response) {
  ++counts_.tool;
  const std::string_view error = find_member(response, "error").value_or("");
  const std::string_view data = find_member(error, "data").value_or("");
  const std::string reason = find_string(error, "message").value_or("no reason given");
  return failure_of(
      ErrorKind::denied, Delivered::no,
      fmt::format("the policy allows only tools that tools/list marks with readOnlyHint, and the "
                  "list could not be fetched: {}{}",
                  find_string(data, "source") == "bridge" ? "" : "the server said: ",
                  printable(reason, 500)));
}

Failure Permissions::refusal_of_client(const Client& client) {
  return refusal_by(client.user, *client.rule, {});
}

std::optional<Failure> Permissions::refusal(const User& user, const PolicyRule& rule,
                                            const Subject& subject, const ToolList& tools) {
  if (bridge::allows(rule, subject, tools)) return std::nullopt;
  return refusal_by(user, rule, subject);
}

/// Only the daemon's own user without a grant is told where the rule stands.
Failure Permissions::refusal_by(const User& user, const PolicyRule& rule, const Subject& subject) {
  if (!rule.ended.empty()) {
    ++grants_.counts.refused[static_cast<std::size_t>(&rule - ended_rules().data())];
  } else {
    ++(rule.is_none() ? counts_.no_rule : count_of(subject.kind));
  }
  const bool names_file = policy_ != nullptr && !rule.is_of_grant && is_owner(user);
  return definitive_failure_of(ErrorKind::denied,
                               denial(rule, subject, names_file ? policy_->path : std::string()));
}

std::uint64_t& Permissions::count_of(Subject::Kind kind) {
  switch (kind) {
    case Subject::Kind::tool: return counts_.tool;
    case Subject::Kind::prompt: return counts_.prompt;
    case Subject::Kind::resource: return counts_.resource;
    default: return counts_.method;
  }
}

bool Permissions::has_token(const Client& client, std::uint64_t calls) const {
  const PolicyRule* const rule = client.rule;
  if (calls > 0 && client.grant && grants_.is_used_up(*client.grant)) return false;
  if (rule == nullptr || !rule->rate) return true;
  const auto found = buckets_.find(client.user);
  if (found == buckets_.end()) return true;
  TokenBucket bucket = found->second;
  return !bucket.take(*rule->rate, loop_.now());
}

std::optional<Failure> Permissions::take_token(const Client& client, std::uint64_t count,
                                               std::uint64_t calls) {
  if (calls == 0 || !client.grant) return take_token(client, count);
  if (grants_.is_used_up(*client.grant))
    return refusal_by(client.user, ended_rules()[static_cast<std::size_t>(GrantEnd::used_up)], {});
  auto refusal = take_token(client, count);
  if (!refusal) grants_.count_calls(*client.grant, calls);
  return refusal;
}

std::optional<Failure> Permissions::take_token(const Client& client, std::uint64_t count) {
  const PolicyRule* const rule = client.rule;
  if (rule == nullptr || !rule->rate) return std::nullopt;
  if (buckets_.size() >= max_users) make_room();
  const auto wait = buckets_[client.user].take(*rule->rate, loop_.now(), count);
  if (!wait) return std::nullopt;
  ++counts_.rate;
  Failure failure = failure_of(
      ErrorKind::rate_limited, Delivered::no,
      fmt::format(
          "too many requests of this user: the policy allows {} in {} ms", rule->rate->burst,
          std::chrono::duration_cast<std::chrono::milliseconds>(rule->rate->period).count()));
  failure.retry_after = *wait;
  return failure;
}

/// Drops full buckets: a new one is equal.
void Permissions::make_room() {
  std::erase_if(buckets_,
                [now = loop_.now()](const auto& entry) { return entry.second.full_at() <= now; });
}

void Permissions::filter(const Caller& caller, const JobRequest* job, std::string_view method,
                         Frame& response) const {
  const MethodFacts& facts = facts_of_method(method);
  if (facts.list.empty() || !response.result.present()) return;
  const PolicyRule* const rule = rule_for(caller, job);
  if (rule == nullptr || rule->restricts_nothing()) return;
  const ItemRule& items = facts.list == "tools"     ? rule->tools
                          : facts.list == "prompts" ? rule->prompts
                                                    : rule->resources;
  if (!rule->is_none() && items.allows_all()) return;
  bool drops = false;
  std::string bytes = without_items(response, facts.list, [&](std::size_t, std::string_view item) {
    const auto text = find_string(item, facts.item_name);
    const bool is_shown = !rule->is_none() && text &&
                          items.allows(*text, items.wants_read_only() && tool_reads_only(item));
    drops = drops || !is_shown;
    return !is_shown;
  });
  if (drops) response = std::get<Frame>(parse_frame(std::move(bytes)));
}

std::map<User, SteadyTime> Permissions::save_rates() const {
  std::map<User, SteadyTime> saved;
  for (const auto& [user, bucket] : buckets_) {
    if (bucket.full_at() > loop_.now()) saved.emplace(user, bucket.full_at());
  }
  return saved;
}

void Permissions::restore_rates(const std::map<User, SteadyTime>& rates) {
  for (const auto& [user, full_at] : rates) buckets_[user] = TokenBucket(full_at);
}

namespace {

bool is_hidden(const ItemRule& resources, std::string_view message) {
  const auto method = find_string(message, "method");
  if (method != "notifications/resources/updated") return false;
  const auto params = find_member(message, "params");
  const auto uri = params ? find_string(*params, "uri") : std::nullopt;
  return !uri || !resources.allows(*uri);
}

}  // namespace

std::shared_ptr<const RingFilter> ring_filter_of(const PolicyRule& rule) {
  if (rule.is_none()) return std::make_shared<RingFilter>([](const RingEntry&) { return false; });
  if (rule.resources.allows_all()) return nullptr;
  return std::make_shared<RingFilter>([resources = rule.resources](const RingEntry& entry) {
    return !is_hidden(resources, entry.line);
  });
}

bool hides_notification(const PolicyRule& rule, std::string_view message) {
  if (rule.is_none()) return true;
  return !rule.resources.allows_all() && is_hidden(rule.resources, message);
}

}  // namespace bridge
