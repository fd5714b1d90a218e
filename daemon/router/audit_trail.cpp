#include "router/audit_trail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "router/request_log.hpp"
#include "text/characters.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

constexpr std::size_t longest_arguments = 4096;

std::string name_of(UpstreamId id) { return std::to_string(value_of(id)); }

/// As JSON; empty: none.
std::string grant_text(const std::optional<GrantHold>& hold) {
  if (!hold || hold->is_refused()) return {};
  JsonObject text;
  text.add("id", hold->id()).add("name", hold->name);
  if (hold->issuer.http) return std::move(text.add("issuer", "http")).text();
  return std::move(text.add("issuer", hold->issuer.uid)).text();
}

bool is_recorded(const Frame& request) {
  return request.method != "ping"sv && request.method != "bridge/status"sv;
}

}  // namespace

void AuditedArguments::note(AuditRecord& record, std::string_view arguments) {
  if (arguments.empty()) return;
  record.arguments_sha256 = digest_.of(arguments);
  if (!with_text_) return;
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

AuditRecord* OpenRequests::find_open(AuditOwner owner, std::string_view name) {
  const auto known = known_.find(owner);
  if (known == known_.end()) return nullptr;
  const auto found = known->second.open.find(name);
  return found == known->second.open.end() ? nullptr : &found->second;
}

AuditRecord* OpenRequests::find_open(AuditOwner owner, std::string_view name,
                                     std::uint64_t number) {
  const auto known = known_.find(owner);
  if (known == known_.end()) return nullptr;
  const auto [first, last] = known->second.open.equal_range(name);
  const auto found = std::find_if(
      first, last, [number](const auto& entry) { return entry.second.number == number; });
  return found == last ? nullptr : &found->second;
}

std::optional<AuditRecord> OpenRequests::take_open(AuditOwner owner, std::string_view name) {
  std::optional<AuditRecord> taken;
  end_open(owner, name,
           [&taken](AuditRecord& record, std::string_view) { taken = std::move(record); });
  return taken;
}

std::vector<AuditOwner> OpenRequests::owners() const {
  std::vector<AuditOwner> all;
  for (const auto& [owner, its] : known_) all.push_back(owner);
  return all;
}

std::size_t OpenRequests::of_left_behind() const {
  const auto known = known_.find(AuditOwner::left_behind());
  return known == known_.end() ? 0 : known->second.open.size();
}

AuditTrail::AuditTrail(const EventLoop& loop, AuditLog& log, const AuditOptions& options,
                       std::function<std::vector<std::string>()> secrets)
    : loop_(loop),
      log_(log),
      options_(options),
      arguments_(options.arguments, std::move(secrets)),
      run_(random_hex(8)) {}

/// The description of the client is read once while its process exists.
OpenRequests::Of& AuditTrail::of(const Client& client) {
  const auto [its, is_new] = open_.of(AuditOwner::of(client.id()));
  if (is_new) describe(its, client);
  return its;
}

void AuditTrail::describe(OpenRequests::Of& its, const Client& client) {
  const ClientIdentity& identity = client.channel.identity();
  its.client.http = identity.kind == "http";
  its.client.uid = identity.uid;
  its.client.pid = static_cast<std::uint64_t>(identity.pid);
  its.client.remote = identity.remote;
  if (!its.client.http) its.client.command = client.channel.command();
  its.client.grant = grant_text(client.grant);
  its.text = described(its.client);
}

void AuditTrail::grant_changed(const Client& client, const std::set<std::string_view>& sent) {
  const auto [its, is_new] = open_.of(AuditOwner::of(client.id()));
  describe(its, client);
  for (auto& [name, record] : its.open) {
    if (!sent.contains(name)) record.client = its.client;
  }
  if (!sent.empty()) its.text.clear();  // each record has its own
}

void AuditTrail::came(const Client& client, const Frame& request) {
  if (!is_recorded(request)) return;
  const std::string_view raw_id = request.text(request.id);
  OpenRequests::Of& its = of(client);
  AuditRecord& record = open_.add_open(its, raw_id);
  record.client = its.client;
  fill(record, request);
  if (options_.required && !request.method.starts_with("bridge/"))
    new_.push_back({AuditOwner::of(client.id()), std::string(raw_id), record.number});
}

void AuditTrail::came(const JobRequest& job, const Frame& request) {
  if (job.about_task) return;  // a request of the bridge about a job
  if (open_.find_open(AuditOwner::jobs(), job.job) != nullptr) return;  // sent by an earlier daemon
  AuditRecord& record = open_.add_open(open_.of(AuditOwner::jobs()).first, job.job);
  record.client.http = job.peer.http;
  record.client.uid = job.peer.uid;
  record.client.grant = grant_text(job.grant);
  record.client.pid = static_cast<std::uint64_t>(job.pid);
  record.client.command = job.command;
  record.client.remote = job.remote;
  record.job = job.job;
  fill(record, request);
  if (options_.required) new_.push_back({AuditOwner::jobs(), job.job, record.number});
}

void AuditTrail::kept_as_job(const Client& client, const Frame& request, std::string_view job) {
  AuditRecord record;
  record.client = of(client).client;
  fill(record, request);
  record.job = job;
  write_end(record, {AuditOutcome::ok});
}

void AuditTrail::fill(AuditRecord& record, const Frame& request) {
  record.number = numbers_.next_number();
  record.time = ticks_of(loop_.wall_time());
  record.came = ticks_of(loop_.now());
  record.bytes_in = request.bytes.size();
  describe(record, request);
  for (std::string* const text :
       {&record.method, &record.tool, &record.prompt, &record.uri, &record.job}) {
    if (may_have_grants(*text)) *text = without_grants(std::move(*text));
  }
}

/// Adds what the request asks for.
void AuditTrail::describe(AuditRecord& record, const Frame& request) {
  std::string submitted;
  std::string_view method = request.method;
  std::string_view params = request.text(request.params);
  record.method = request.method;
  const bool is_control = method.starts_with("bridge/");
  if (method == "bridge/submit"sv) {
    submitted = judged_method(find_string(params, "method").value_or(""));
    method = submitted;
    params = find_member(params, "params").value_or("");
  } else if (request.meta.present()) {
    record.traceparent = traceparent_of(params);
  }
  const bool is_call = method == "tools/call"sv;
  const bool is_prompt = method == "prompts/get"sv;
  if ((is_call || is_prompt) && !is_control) {
    (is_prompt ? record.prompt : record.tool) = to_text(request.text(request.name)).value_or("");
    return arguments_.note(record, request.text(request.arguments));
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
  arguments_.note(record, arguments);
}

void AuditTrail::begin_all() {
  std::vector<AuditRecord*> records;
  for (const New& one : std::exchange(new_, {})) {
    AuditRecord* const record = open_.find_open(one.owner, one.name, one.number);
    if (record == nullptr || !record->id.empty()) continue;
    record->id = next_id();
    records.push_back(record);
  }
  write_begin(records);
}

std::string AuditTrail::next_id() { return fmt::format("{}-{}", run_, ++last_id_); }

/// REQUIRES: the records have ids.
void AuditTrail::write_begin(const std::vector<AuditRecord*>& records) {
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
  return may_send(open_.find_open(AuditOwner::of(client), raw_id));
}

bool AuditTrail::may_send(const JobRequest& job) {
  return may_send(open_.find_open(AuditOwner::jobs(), job.job));
}

/// Null: a request of the bridge itself.
bool AuditTrail::may_send(AuditRecord* record) {
  if (!options_.required || record == nullptr || record->is_begun) return true;
  if (record->id.empty()) record->id = next_id();
  write_begin({record});
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

/// `client`: described() of its client, if at hand; else empty.
void AuditTrail::write_end(const AuditRecord& record, const AuditEnd& how,
                           std::string_view client) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      loop_.now() - steady_time_of(record.came));
  line_.clear();
  if (client.empty()) {
    append_ended_line(line_, record, described(record.client), how, took, second_);
  } else {
    append_ended_line(line_, record, client, how, took, second_);
  }
  append(line_);
  begun_before_.erase(record.id);  // a job of an earlier daemon: it has its last line
  numbers_.number_ended(record.number);
}

void AuditTrail::answered(ClientId client, std::string_view raw_id, std::string_view response) {
  open_.end_open(
      AuditOwner::of(client), raw_id, [&](AuditRecord& record, std::string_view its_client) {
        if (record.method == "bridge/submit"sv)
          record.job =
              find_string(find_member(response, "result").value_or(""), "job").value_or("");
        write_end(record, end_of_response(response, record.method == "tools/call"sv, raw_id),
                  its_client);
      });
}

void AuditTrail::not_answered(ClientId client, std::string_view raw_id) {
  open_.end_open(AuditOwner::of(client), raw_id,
                 [this](const AuditRecord& record, std::string_view its_client) {
                   write_end(record, {AuditOutcome::cancelled}, its_client);
                 });
}

void AuditTrail::left_behind(ClientId client, std::string_view raw_id, UpstreamId id) {
  auto record = open_.take_open(AuditOwner::of(client), raw_id);
  if (!record) return;
  if (open_.of_left_behind() >= most_left_behind) {
    write_end(*record, {AuditOutcome::unknown});
  } else {
    open_.add_open(open_.of(AuditOwner::left_behind()).first, name_of(id)) = std::move(*record);
  }
}

void AuditTrail::adopted(ClientId client, std::string_view raw_id, std::string_view job) {
  auto record = open_.take_open(AuditOwner::of(client), raw_id);
  if (!record) return;
  record->job = job;
  open_.add_open(open_.of(AuditOwner::jobs()).first, job) = std::move(*record);
}

void AuditTrail::left_behind_ended(UpstreamId id, std::string_view response) {
  end_with(AuditOwner::left_behind(), name_of(id), response, AuditOutcome::unknown);
}

void AuditTrail::left_behind_renamed(UpstreamId former, UpstreamId next) {
  if (auto record = open_.take_open(AuditOwner::left_behind(), name_of(former)))
    open_.add_open(open_.of(AuditOwner::left_behind()).first, name_of(next)) = std::move(*record);
}

void AuditTrail::job_ended(std::string_view job, std::string_view response) {
  end_with(AuditOwner::jobs(), job, response, AuditOutcome::cancelled);
}

/// `otherwise`: without a response.
void AuditTrail::end_with(AuditOwner owner, std::string_view name, std::string_view response,
                          AuditOutcome otherwise) {
  open_.end_open(owner, name, [&](const AuditRecord& record, std::string_view) {
    const bool is_call = record.method == "tools/call"sv;
    write_end(record, response.empty() ? AuditEnd{otherwise} : end_of_response(response, is_call));
  });
}

void AuditTrail::client_left(ClientId client) {
  end_all_of(AuditOwner::of(client), AuditOutcome::cancelled);
}

void AuditTrail::end_all_of(AuditOwner owner, AuditOutcome outcome) {
  open_.end_all(owner, [&](const AuditRecord& record, std::string_view its_client) {
    write_end(record, {outcome}, its_client);
  });
}

void AuditTrail::end_all(bool jobs_continue) {
  for (const AuditOwner owner : open_.owners()) {
    if (!jobs_continue || owner != AuditOwner::jobs()) end_all_of(owner, AuditOutcome::unknown);
  }
  log_.write_last();
}

void AuditTrail::take_over(std::vector<AuditRecord> records) {
  for (AuditRecord& record : records) {
    numbers_.restored(record.number);
    const bool is_call_of_job = !record.job.empty() && !record.method.starts_with("bridge/");
    if (is_call_of_job) {
      // The duration is known by the calendar only.
      const std::uint64_t now = ticks_of(loop_.wall_time());
      const auto took =
          WallTime::duration(static_cast<WallTime::rep>(now - std::min(now, record.time)));
      record.came = ticks_of(loop_.now() - std::chrono::duration_cast<SteadyTime::duration>(took));
      const std::string job = record.job;
      open_.add_open(open_.of(AuditOwner::jobs()).first, job) = std::move(record);
    } else {
      end_unknown(record);
    }
  }
}

/// If the file has the first line, the last line is made from it.
void AuditTrail::end_unknown(const AuditRecord& record) {
  if (!begun_before_.contains(record.id)) append(unknown_line(beginning_line(record)));
  numbers_.number_ended(record.number);
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
  std::vector<std::string> unknown;
  open_.each([&](AuditOwner owner, const std::string& name, const AuditRecord&) {
    if (owner == AuditOwner::jobs() && !known(name)) unknown.push_back(name);
  });
  for (const std::string& job : unknown) end_unknown(*open_.take_open(AuditOwner::jobs(), job));
}

std::vector<AuditTrail::Saved> AuditTrail::save_open() const {
  std::vector<Saved> saved;
  open_.each([&saved](AuditOwner owner, const std::string& name, const AuditRecord& record) {
    saved.push_back({owner, name, record});
  });
  return saved;
}

void AuditTrail::restore(std::vector<Saved> saved) {
  for (Saved& one : saved) {
    numbers_.count_from(one.record.number);
    OpenRequests::Of& its = open_.of(one.owner).first;
    if (one.owner.kind == AuditOwner::Kind::client) {
      its.client = one.record.client;
      its.text = described(its.client);
    }
    open_.add_open(its, one.name) = std::move(one.record);
  }
}

}  // namespace bridge
