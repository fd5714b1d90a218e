#include "router/audit_trail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

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

}  // namespace

AuditTrail::AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
                       std::function<std::vector<std::string>()> secrets)
    : loop_(loop), log_(log), options_(options), secrets_(std::move(secrets)) {
  std::random_device random;
  run_ = fmt::format("{:08x}{:08x}", random(), random());
}

/// The description of the client, read once while its process exists.
AuditTrail::Known& AuditTrail::known_of(const Client& client) {
  const auto [found, is_new] = known_.try_emplace(client.id());
  Known& known = found->second;
  if (is_new) {
    const ClientIdentity& identity = client.channel.identity();
    known.client.http = client.user.remote;
    known.client.uid = identity.uid;
    known.client.pid = static_cast<std::uint64_t>(identity.pid);
    known.client.remote = identity.remote;
    if (!known.client.http) known.client.command = client.channel.command();
    known.text = described(known.client);
  }
  return known;
}

void AuditTrail::came(const Client& client, const Frame& request) {
  if (client.is_bridge || !is_recorded(request)) return;
  const std::string_view raw_id = request.text(request.id);
  Known& known = known_of(client);
  AuditRecord& record =
      known.open
          .emplace(std::piecewise_construct, std::forward_as_tuple(raw_id), std::forward_as_tuple())
          ->second;
  ++of_clients_;
  record.client = known.client;
  fill(record, request);
  if (options_.required && !request.method.starts_with("bridge/"))
    new_.push_back({client.id(), std::string(raw_id), record.number});
}

void AuditTrail::came(const User& user, const JobRequest& job, const Frame& request) {
  if (job.about_task) return;  // a request of the bridge about a job
  const auto [found, is_new] = jobs_.try_emplace(job.job);
  if (!is_new) return;  // sent by an earlier daemon
  AuditRecord& record = found->second;
  record.client.http = user.remote;
  record.client.uid = user.uid;
  record.client.pid = static_cast<std::uint64_t>(job.pid);
  record.client.command = job.command;
  record.client.remote = job.remote;
  record.job = job.job;
  fill(record, request);
  if (options_.required) new_.push_back({{}, job.job, record.number});
}

void AuditTrail::kept_as_job(const Client& client, const Frame& request, std::string_view job) {
  AuditRecord record;
  record.client = known_of(client).client;
  fill(record, request);
  record.job = job;
  end(record, {AuditOutcome::ok});
}

void AuditTrail::fill(AuditRecord& record, const Frame& request) {
  record.number = ++last_number_;
  record.time = ticks_of(loop_.wall_time());
  record.came = ticks_of(loop_.now());
  record.bytes_in = request.bytes.size();
  describe(record, request);
}

/// Adds what the request asks for.
void AuditTrail::describe(AuditRecord& record, const Frame& request) {
  std::string submitted;
  std::string_view method = request.method;
  std::string_view params = request.text(request.params);
  record.method = request.method;
  const bool is_control = method.starts_with("bridge/");
  if (method == "bridge/submit"sv) {
    submitted = find_string(params, "method").value_or("");
    method = submitted;
    params = find_member(params, "params").value_or("");
  } else if (request.meta.present()) {
    record.traceparent = traceparent_of(params);
  }
  const bool is_call = method == "tools/call"sv;
  const bool is_prompt = method == "prompts/get"sv;
  if ((is_call || is_prompt) && !is_control) {
    (is_prompt ? record.prompt : record.tool) = to_text(request.text(request.name)).value_or("");
    return note_arguments(record, request.text(request.arguments));
  }
  const bool is_completion = method == "completion/complete"sv;
  const bool names_tool = is_call || method == "bridge/tool"sv;
  std::string_view arguments;
  each_member(params, [&](std::string_view key, std::string_view value) {
    if ((names_tool || is_prompt) && key_is(key, "name")) {
      (is_prompt ? record.prompt : record.tool) = to_text(value).value_or("");
    } else if ((is_call || is_prompt) && key_is(key, "arguments")) {
      arguments = value;
    } else if (!is_call && !is_prompt && key_is(key, "uri")) {
      record.uri = to_text(value).value_or("");
    } else if (is_control && record.job.empty() && key_is(key, "job")) {
      record.job = to_text(value).value_or("");
    } else if (is_completion && key_is(key, "ref")) {
      record.prompt = find_string(value, "name").value_or("");
      record.uri = find_string(value, "uri").value_or("");
    }
    return true;
  });
  note_arguments(record, arguments);
}

void AuditTrail::note_arguments(AuditRecord& record, std::string_view arguments) {
  if (arguments.empty()) return;
  record.arguments_sha256 = digest_.of(arguments);
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

std::optional<AuditRecord> AuditTrail::take(ClientId client, std::string_view raw_id) {
  const auto known = known_.find(client);
  if (known == known_.end()) return std::nullopt;
  Open& open = known->second.open;
  const auto found = open.find(raw_id);
  if (found == open.end()) return std::nullopt;
  std::optional<AuditRecord> record = std::move(found->second);
  open.erase(found);
  --of_clients_;
  return record;
}

AuditRecord* AuditTrail::find(ClientId client, std::string_view raw_id) {
  const auto known = known_.find(client);
  if (known == known_.end()) return nullptr;
  const auto found = known->second.open.find(raw_id);
  return found == known->second.open.end() ? nullptr : &found->second;
}

AuditRecord* AuditTrail::find(const New& one) {
  if (one.client == ClientId{}) {
    const auto found = jobs_.find(one.name);
    return found == jobs_.end() ? nullptr : &found->second;
  }
  const auto known = known_.find(one.client);
  if (known == known_.end()) return nullptr;
  const auto [first, last] = known->second.open.equal_range(one.name);
  const auto found = std::find_if(
      first, last, [&one](const auto& entry) { return entry.second.number == one.number; });
  return found == last ? nullptr : &found->second;
}

void AuditTrail::begin_all() {
  std::vector<AuditRecord*> records;
  for (const New& one : std::exchange(new_, {})) {
    AuditRecord* const record = find(one);
    if (record == nullptr || !record->id.empty()) continue;
    record->id = fmt::format("{}-{}", run_, ++last_id_);
    records.push_back(record);
  }
  begin(records);
}

/// REQUIRES: the records have ids.
void AuditTrail::begin(const std::vector<AuditRecord*>& records) {
  if (records.empty()) return;
  std::string lines;
  for (const AuditRecord* const record : records) lines += beginning_line(*record);
  said_ += lines.size();
  std::size_t written = log_.append_now(std::move(lines));
  for (AuditRecord* const record : records) {
    record->is_begun = written > 0;
    written -= written > 0 ? 1 : 0;
  }
}

bool AuditTrail::may_send(ClientId client, std::string_view raw_id) {
  return may_send(find(client, raw_id));
}

bool AuditTrail::may_send(const JobRequest& job) {
  const auto found = jobs_.find(job.job);
  return may_send(found == jobs_.end() ? nullptr : &found->second);
}

bool AuditTrail::may_send(AuditRecord* record) {
  if (!options_.required || record == nullptr || record->is_begun)
    return true;  // null: a request of the bridge itself
  if (record->id.empty()) record->id = fmt::format("{}-{}", run_, ++last_id_);
  begin({record});
  return record->is_begun;
}

void AuditTrail::append(const std::string& line) {
  log_.append(line);
  said_ += line.size();
  if (options_.required && said_ > repeated_after) begin_again();
}

void AuditTrail::begin_again() {
  said_ = 0;
  each([this](const AuditRecord& one) {
    if (one.is_begun) log_.append(beginning_line(one));
  });
}

void AuditTrail::note_end(const AuditRecord& record) {
  if (record.number <= noted_) ended_.push_back(record.number);
}

/// `client`: described() of its client, if at hand.
void AuditTrail::end(const AuditRecord& record, const AuditEnd& how, std::string_view client) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      loop_.now() - steady_time_of(record.came));
  line_.clear();
  if (client.empty()) {
    append_ended_line(line_, record, described(record.client), how, took, second_);
  } else {
    append_ended_line(line_, record, client, how, took, second_);
  }
  append(line_);
  note_end(record);
}

void AuditTrail::answered(ClientId client, std::string_view raw_id, std::string_view response) {
  const auto known = known_.find(client);
  if (known == known_.end()) return;
  Open& open = known->second.open;
  const auto found = open.find(raw_id);
  if (found == open.end()) return;
  AuditRecord& record = found->second;
  if (record.method == "bridge/submit"sv)
    record.job = find_string(find_member(response, "result").value_or(""), "job").value_or("");
  end(record, end_of_response(response, record.method == "tools/call"sv, raw_id),
      known->second.text);
  open.erase(found);
  --of_clients_;
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

void AuditTrail::adopted(ClientId client, std::string_view raw_id, std::string_view job) {
  auto record = take(client, raw_id);
  if (!record) return;
  record->job = job;
  jobs_.insert_or_assign(std::string(job), std::move(*record));
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
  for (const auto& [request, record] : known->second.open)
    end(record, {AuditOutcome::cancelled}, known->second.text);
  of_clients_ -= known->second.open.size();
  known_.erase(known);
}

void AuditTrail::job_ended(std::string_view job, std::string_view response) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  AuditEnd how{AuditOutcome::cancelled};
  if (!response.empty()) how = end_of_response(response, found->second.method == "tools/call"sv);
  end(found->second, how);
  jobs_.erase(found);
}

void AuditTrail::end_all(bool jobs_continue) {
  for (const auto& [id, known] : std::exchange(known_, {})) {
    for (const auto& [request, record] : known.open) end(record, {}, known.text);
  }
  of_clients_ = 0;
  if (!jobs_continue) {
    for (const auto& [job, record] : std::exchange(jobs_, {})) end(record, {});
  }
  for (const auto& [id, record] : std::exchange(left_behind_, {})) end(record, {});
  log_.write_last();
}

void AuditTrail::take_over(std::vector<AuditRecord> records) {
  for (AuditRecord& record : records) {
    last_number_ = noted_ = std::max(noted_, record.number);
    const bool is_call_of_job = !record.job.empty() && !record.method.starts_with("bridge/");
    if (is_call_of_job) {
      // The duration is known by the calendar only.
      const std::uint64_t now = ticks_of(loop_.wall_time());
      const auto took =
          WallTime::duration(static_cast<WallTime::rep>(now - std::min(now, record.time)));
      record.came = ticks_of(loop_.now() - std::chrono::duration_cast<SteadyTime::duration>(took));
      std::string job = record.job;
      jobs_.insert_or_assign(std::move(job), std::move(record));
    } else {
      end_unknown(record);
    }
  }
}

/// If the file has the first line, the last line is made from it.
void AuditTrail::end_unknown(const AuditRecord& record) {
  if (!begun_before_.contains(record.id)) append(unknown_line(beginning_line(record)));
  note_end(record);
}

void AuditTrail::found_begun(std::vector<std::string> lines) {
  for (std::string& line : lines) {
    std::string id = find_string(line, "id").value_or("");
    begun_before_.insert_or_assign(std::move(id), std::move(line));
  }
}

void AuditTrail::end_begun() {
  each([&](const AuditRecord& one) { begun_before_.erase(one.id); });
  for (const auto& [id, line] : std::exchange(begun_before_, {})) append(unknown_line(line));
}

void AuditTrail::give_up_jobs(const std::function<bool(std::string_view job)>& known) {
  std::erase_if(jobs_, [&](const auto& entry) {
    if (known(entry.first)) return false;
    end_unknown(entry.second);
    return true;
  });
}

std::vector<AuditTrail::Saved> AuditTrail::save() const {
  std::vector<Saved> saved;
  for (const auto& [id, known] : known_) {
    for (const auto& [request, record] : known.open) saved.push_back({id, request, record});
  }
  for (const auto& [job, record] : jobs_) saved.push_back({ClientId{}, {}, record});
  for (const auto& [id, record] : left_behind_)
    saved.push_back({ClientId{}, std::to_string(value_of(id)), record});
  return saved;
}

void AuditTrail::restore(std::vector<Saved> saved) {
  for (Saved& one : saved) {
    last_number_ = std::max(last_number_, one.record.number);
    if (one.client != ClientId{}) {
      Known& known = known_[one.client];
      known.client = one.record.client;
      known.text = described(known.client);
      known.open.emplace(std::move(one.request), std::move(one.record));
      ++of_clients_;
    } else if (const auto id = to_unsigned(one.request)) {
      left_behind_.insert_or_assign(static_cast<UpstreamId>(*id), std::move(one.record));
    } else {
      std::string job = one.record.job;
      jobs_.insert_or_assign(std::move(job), std::move(one.record));
    }
  }
}

}  // namespace bridge
