#include "router/audit_trail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "audit/arguments_digest.hpp"
#include "json/json_text.hpp"
#include "router/request_log.hpp"
#include "text/characters.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

constexpr std::size_t longest_arguments = 4096;

bool is_recorded(const Frame& request) {
  return request.method != "ping"sv && request.method != "bridge/status"sv;
}

template <class Time>
std::uint64_t ticks(Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

AuditTrail::AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
                       std::function<std::vector<std::string>()> secrets)
    : loop_(loop), log_(log), options_(options), secrets_(std::move(secrets)) {
  std::random_device random;
  run_ = fmt::format("{:08x}{:08x}", random(), random());
}

std::string AuditTrail::key_of(ClientId client, std::string_view raw_id) {
  std::string key = std::to_string(value_of(client));
  key.append(1, ' ').append(raw_id);
  return key;
}

/// What is known of it; read once, while its process is there.
const AuditClient& AuditTrail::client_of(const Client& client) {
  const auto [found, is_new] = known_.try_emplace(client.id());
  AuditClient& known = found->second.client;
  if (is_new) {
    const ClientIdentity& identity = client.channel.identity();
    known.http = client.user.remote;
    known.uid = identity.uid;
    known.pid = static_cast<std::uint64_t>(identity.pid);
    known.remote = identity.remote;
    if (!known.http) known.command = client.channel.command();
  }
  return known;
}

void AuditTrail::came(const Client& client, const Frame& request) {
  if (client.is_bridge || !is_recorded(request)) return;
  AuditRecord record;
  record.client = client_of(client);
  add_new(client.id(), std::move(record), request);
}

void AuditTrail::came(const User& user, const JobRequest& job, const Frame& request) {
  if (job.about_task) return;  // what the bridge asks about a job
  AuditRecord record;
  record.client.http = user.remote;
  record.client.uid = user.uid;
  record.client.pid = static_cast<std::uint64_t>(job.pid);
  record.client.command = job.command;
  record.job = job.job;
  add_new(client_of_jobs, std::move(record), request);
}

void AuditTrail::add_new(ClientId client, AuditRecord record, const Frame& request) {
  record.time = ticks(loop_.wall_time());
  record.came = ticks(loop_.now());
  record.bytes_in = request.bytes.size();
  describe(record, request);
  add(client, request.text(request.id), std::move(record));
}

/// What it asks for.
void AuditTrail::describe(AuditRecord& record, const Frame& request) {
  std::string method = request.method;
  std::string_view params = request.text(request.params);
  record.method = method;
  if (method == "bridge/submit"sv) {
    method = find_string(params, "method").value_or("");
    params = find_member(params, "params").value_or("");
  } else if (request.meta.present()) {
    record.traceparent = traceparent_of(params);
  }
  const bool is_call = method == "tools/call"sv;
  const bool is_prompt = method == "prompts/get"sv;
  std::string_view arguments;
  each_member(params, [&](std::string_view key, std::string_view value) {
    if ((is_call || is_prompt || record.method == "bridge/tool"sv) && key_is(key, "name")) {
      (is_prompt ? record.prompt : record.tool) = to_text(value).value_or("");
    } else if ((is_call || is_prompt) && key_is(key, "arguments")) {
      arguments = value;
    } else if (!is_call && !is_prompt && key_is(key, "uri")) {
      record.uri = to_text(value).value_or("");
    } else if (record.job.empty() && record.method.starts_with("bridge/") && key_is(key, "job")) {
      record.job = to_text(value).value_or("");
    } else if (method == "completion/complete"sv && key_is(key, "ref")) {
      record.prompt = find_string(value, "name").value_or("");
      record.uri = find_string(value, "uri").value_or("");
    }
    return true;
  });
  if (arguments.empty()) return;
  record.arguments_sha256 = arguments_digest(arguments);
  if (!options_.arguments) return;
  std::vector<std::string> secrets = secrets_();
  if (!forms_.is_of(secrets)) forms_ = SecretForms(std::move(secrets));
  std::string shown = forms_.blotted(std::string(arguments));
  if (shown.size() > longest_arguments) {
    record.arguments = quote(whole_characters(shown, longest_arguments));
  } else if (is_json(shown, 1)) {
    make_single_line(shown);
    record.arguments = std::move(shown);
  } else {
    record.arguments = quote(shown);
  }
}

void AuditTrail::add(ClientId client, std::string_view raw_id, AuditRecord record) {
  open_.emplace(key_of(client, raw_id), Open{client, std::move(record)});
  ++known_[client].open;
}

std::optional<AuditRecord> AuditTrail::take(ClientId client, std::string_view raw_id) {
  const auto found = open_.find(key_of(client, raw_id));
  if (found == open_.end()) return std::nullopt;
  std::optional<AuditRecord> record = std::move(found->second.record);
  open_.erase(found);
  if (const auto known = known_.find(client); known != known_.end()) --known->second.open;
  return record;
}

bool AuditTrail::may_send(const Caller& caller, std::string_view raw_id) {
  if (!options_.required) return true;
  const auto found = open_.find(key_of(caller.id(), raw_id));
  if (found == open_.end()) return true;  // the bridge's own
  AuditRecord& record = found->second.record;
  record.id = fmt::format("{}-{}", run_, ++last_id_);
  if (log_.append_now(beginning_line(record))) return true;
  record.id.clear();
  return false;
}

void AuditTrail::end(const AuditRecord& record, const AuditEnd& how) {
  const SteadyTime came = steady_time_of(record.came);
  log_.append(ended_line(
      record, how, std::chrono::duration_cast<std::chrono::microseconds>(loop_.now() - came)));
}

void AuditTrail::answered(ClientId client, std::string_view raw_id, std::string_view response) {
  auto record = take(client, raw_id);
  if (!record) return;
  if (record->method == "bridge/submit"sv)
    record->job = find_string(find_member(response, "result").value_or(""), "job").value_or("");
  end(*record, end_of_response(response, record->method == "tools/call"sv));
}

void AuditTrail::not_answered(ClientId client, std::string_view raw_id) {
  if (const auto record = take(client, raw_id)) end(*record, {AuditOutcome::cancelled});
}

void AuditTrail::left_behind(ClientId client, std::string_view raw_id, UpstreamId id) {
  auto record = take(client, raw_id);
  if (!record) return;
  if (left_behind_.size() >= most_left_behind) {
    end(*record, {AuditOutcome::unknown});
  } else {
    left_behind_.insert_or_assign(id, std::move(*record));
  }
}

void AuditTrail::adopted(ClientId client, std::string_view raw_id, ClientId keeper,
                         std::string_view as) {
  if (auto record = take(client, raw_id)) add(keeper, as, std::move(*record));
}

void AuditTrail::left_behind_ended(UpstreamId id, std::string_view response) {
  const auto found = left_behind_.find(id);
  if (found == left_behind_.end()) return;
  const AuditRecord& record = found->second;
  AuditEnd how;
  if (!response.empty()) how = end_of_response(response, record.method == "tools/call"sv);
  end(record, how);
  left_behind_.erase(found);
}

void AuditTrail::client_left(ClientId client) {
  const auto known = known_.find(client);
  if (known == known_.end()) return;
  if (known->second.open > 0) {
    for (auto at = open_.begin(); at != open_.end();) {
      if (at->second.client != client) {
        ++at;
        continue;
      }
      end(at->second.record, {AuditOutcome::cancelled});
      at = open_.erase(at);
    }
  }
  known_.erase(known);
}

void AuditTrail::end_all() {
  for (const auto& [key, one] : std::exchange(open_, {})) end(one.record, {});
  for (const auto& [id, record] : std::exchange(left_behind_, {})) end(record, {});
  known_.clear();
  log_.write();
}

std::vector<AuditTrail::Saved> AuditTrail::save() const {
  std::vector<Saved> saved;
  for (const auto& [key, one] : open_)
    saved.push_back({one.client, key.substr(key.find(' ') + 1), one.record});
  for (const auto& [id, record] : left_behind_)
    saved.push_back({ClientId{}, std::to_string(value_of(id)), record});
  return saved;
}

void AuditTrail::restore(std::vector<Saved> saved) {
  for (Saved& one : saved) {
    if (one.client == ClientId{}) {
      const auto id = to_unsigned(one.request);
      if (id) left_behind_.insert_or_assign(static_cast<UpstreamId>(*id), std::move(one.record));
      continue;
    }
    known_[one.client].client = one.record.client;
    add(one.client, one.request, std::move(one.record));
  }
}

}  // namespace bridge
