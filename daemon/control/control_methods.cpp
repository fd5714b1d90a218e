#include "control/control_methods.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "base/clock.hpp"
#include "control/readiness.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t longest_wait = 3'600'000;

std::string status_text(const LoginStatus& status) {
  std::string text = fmt::format(R"("state":"{}")", name_of(status.state));
  if (status.expires_in)
    fmt::format_to(std::back_inserter(text), R"(,"expiresInMs":{})", status.expires_in->count());
  if (!status.scope.empty())
    fmt::format_to(std::back_inserter(text), R"(,"scope":{})", quote(status.scope));
  if (!status.wanted.empty())
    fmt::format_to(std::back_inserter(text), R"(,"wanted":{})", quote(status.wanted));
  if (status.is_pending) text += R"(,"pending":true)";
  return text;
}

/// What there is to do while one is pending, else how it stands.
std::string answer_text(const LoginAnswer& answer) {
  if (!answer.offer) return "{" + status_text(answer.status) + "}";
  const LoginOffer& offer = *answer.offer;
  std::string text = R"({"state":"pending")";
  const auto member = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(text), R"(,"{}":{})", name, quote(value));
  };
  member("url", offer.url);
  member("verificationUri", offer.verification_uri);
  member("userCode", offer.user_code);
  fmt::format_to(std::back_inserter(text), R"(,"expiresInMs":{}}})", offer.expires_in.count());
  return text;
}

Login::Done answer_to(const std::string& id, Control::Reply reply) {
  return [id, reply = std::move(reply)](const LoginAnswer& answer) {
    reply(answer.failure ? error_reply(id, *answer.failure)
                         : result_reply(id, answer_text(answer)));
  };
}

}  // namespace

std::string LoginMethods::status(const Session& session) const {
  if (login_ == nullptr) return {};
  return ",\"login\":{" + status_text(login_status(session, *login_)) + "}";
}

void LoginMethods::answer(const Frame& request, const Client& asker, Control::Reply reply) {
  const std::string id(request.text(request.id));
  const ClientIdentity& identity = asker.channel.identity();
  if (identity.kind != "unix" || (identity.uid != geteuid() && identity.uid != 0)) {
    reply(error_reply(id, json_rpc::invalid_request,
                      "only the daemon's user and root may log in and out, over its Unix socket"));
  } else if (login_ == nullptr) {
    reply(error_reply(id, json_rpc::invalid_request, "there is no login here: " + why_not_));
  } else if (request.method == "bridge/login") {
    log_in(request.text(request.params), id, std::move(reply));
  } else {
    login_->log_out([id, reply = std::move(reply)](const LogoutAnswer& answer) {
      reply(result_reply(
          id,
          fmt::format(R"({{"loggedIn":{},"revoked":{}{}}})", answer.was_logged_in, answer.revoked,
                      answer.fault.empty() ? "" : ",\"fault\":" + quote(answer.fault))));
    });
  }
}

void LoginMethods::log_in(std::string_view params, const std::string& id, Control::Reply reply) {
  const auto invalid = [&] {
    reply(error_reply(id, json_rpc::invalid_params,
                      "Invalid params: mode is \"browser\" or \"device\", callback a string, "
                      "waitMs a whole number, cancel true"));
  };
  if (const auto callback = find_member(params, "callback")) {
    const auto address = find_string(params, "callback");
    if (!address) {
      invalid();
      return;
    }
    login_->complete_login(*address, answer_to(id, std::move(reply)));
  } else if (const auto wait = find_member(params, "waitMs")) {
    const auto time = to_unsigned(*wait);
    if (!time) {
      invalid();
      return;
    }
    login_->wait_for_login(std::chrono::milliseconds(std::min(*time, longest_wait)),
                           answer_to(id, std::move(reply)));
  } else if (find_member(params, "cancel") == "true") {
    login_->cancel_login([id, reply = std::move(reply)](const LoginAnswer& answer) {
      reply(result_reply(id, "{" + status_text(answer.status) + "}"));
    });
  } else {
    std::optional<LoginMode> mode;
    if (const auto said = find_member(params, "mode")) {
      if (said != "\"browser\"" && said != "\"device\"") {
        invalid();
        return;
      }
      mode = said == "\"device\"" ? LoginMode::device : LoginMode::browser;
    }
    login_->begin_login(mode, answer_to(id, std::move(reply)));
  }
}

namespace {

constexpr std::size_t max_answer = 1u << 20;
constexpr std::uint64_t default_limit = 100;

std::int64_t milliseconds(SteadyTime::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::int64_t unix_milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Names of what a legacy session was opened with. It was a client's to write.
std::string declared_names(const Session& session) {
  constexpr std::size_t most = 32;
  constexpr std::size_t longest = 64;
  if (session.opened_with().empty()) return "null";
  const std::string_view capabilities =
      find_member(session.opened_with(), "capabilities").value_or("{}");
  std::string names;
  std::size_t count = 0;
  for_each_member(capabilities, {0, capabilities.size()}, [&](std::string_view key, Slice, Slice) {
    if (key.size() > longest || ++count > most) return;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", key);
  });
  return "[" + names + "]";
}

/// What the server has declared, as it came; null if it is more than a status should have.
std::string_view capabilities_of(const ServerDescription* server) {
  constexpr std::size_t longest = 16 << 10;
  if (server == nullptr) return "null";
  const std::string_view declared = find_member(server->result(), "capabilities").value_or("null");
  return declared.size() > longest ? "null" : declared;
}

std::string_view name_of(ServerStream state) {
  switch (state) {
    case ServerStream::off: return "off";
    case ServerStream::waiting: return "waiting";
    case ServerStream::open: return "open";
    case ServerStream::none: return "none";
  }
  return "off";
}

std::string last_reopening(const SessionRecord& record) {
  if (!record.reopening) return "null";
  return fmt::format(R"({{"reason":"{}","atMs":{}}})", name_of(record.reopening->reason),
                     unix_milliseconds(record.reopening->at));
}

}  // namespace

ControlMethods::ControlMethods(const EventLoop& loop, const Router& router, const Session& session,
                               const Upstream& upstream, NotificationFeed& feed, JobRunner& jobs,
                               Collectors& collectors)
    : loop_(loop),
      router_(router),
      session_(session),
      upstream_(upstream),
      feed_(feed),
      jobs_(jobs.store()),
      collectors_(collectors),
      job_methods_(loop, jobs, collectors),
      instance_(random_name()),
      started_(loop_.now()) {}

void ControlMethods::answer(const Frame& request, Client& asker, Reply reply) {
  if (request.method == "bridge/tool" && tools_ != nullptr) {
    tools_->answer(request, std::move(reply));
  } else if (LoginMethods::has(request.method)) {
    logins_.answer(request, asker, std::move(reply));
  } else if (request.method == "bridge/monitor" && monitor_ != nullptr) {
    reply(monitor_->answer(request, asker));
  } else if (JobMethods::has(request.method)) {
    job_methods_.answer(request, asker, std::move(reply));
  } else {
    reply(response_to(request, asker.id()));
  }
}

std::string ControlMethods::response_to(const Frame& request, ClientId asker) const {
  const std::string_view id = request.text(request.id);
  if (request.method == "bridge/status") {
    std::string all = status();
    all.back() = ',';
    return result_reply(id, fmt::format(R"({}"you":{}}})", all, value_of(asker)));
  }
  if (request.method == "bridge/metrics")
    return result_reply(id, fmt::format(R"({{"text":{}}})", quote(metrics_())));
  if (request.method == "bridge/notifications") {
    const std::string result = notifications(request.text(request.params));
    if (!result.empty()) return result_reply(id, result);
    return error_reply(id, json_rpc::invalid_params,
                       "Invalid params: since and limit are whole numbers, instance is a string");
  }
  return error_reply(
      id, json_rpc::method_not_found,
      "Method not found: the bridge knows bridge/status, bridge/notifications, bridge/metrics, "
      "bridge/tool, bridge/login, bridge/logout, bridge/monitor, and of jobs bridge/submit, bridge/collect, bridge/answer, bridge/jobs, "
      "bridge/cancel and bridge/forget");
}

std::string ControlMethods::status() const {
  std::string last_error = "null";
  if (const auto& error = router_.statistics().last_error) {
    last_error =
        fmt::format(R"({{"atMs":{},"kind":"{}","message":{}}})", unix_milliseconds(error->at),
                    bridge::name_of(error->kind), quote(error->message));
  }
  return fmt::format(
      R"({{"version":"{}","pid":{},"instance":"{}","uptimeMs":{},"upstream":{},"ring":{},"clients":{},{},"jobs":{},"lastError":{}{}}})",
      MCP_BRIDGE_VERSION, getpid(), instance_, milliseconds(loop_.now() - started_),
      upstream_status(), ring_status(), clients_status(), requests_status(), jobs_status(),
      last_error, state_status());
}

std::string ControlMethods::state_status() const {
  if (!state_report_) return {};
  const StateReport state = state_report_();
  return fmt::format(R"(,"state":{{"durable":{},"bytes":{}{}}})", state.durable, state.bytes,
                     state.durable ? "" : fmt::format(R"(,"error":{})", quote(state.error)));
}

std::string ControlMethods::upstream_status() const {
  const ServerDescription* server = session_.server();
  const std::string_view eras = session_.eras().name();
  const auto opened = session_.record().opened_at;
  return fmt::format(
      R"({{"kind":"{}","target":{},"state":"{}","ready":{},"era":{},"eras":{},"protocolVersion":{},"serverInfo":{},"capabilities":{},"declared":{},"sessionAgeMs":{},"reopened":{},"lastReopening":{},"reconnects":{},"stream":"{}"{}}})",
      upstream_.kind(), quote(upstream_.target()), bridge::name_of(session_.state()),
      is_ready(session_, upstream_),
      server != nullptr ? quote(bridge::name_of(server->era())) : "null",
      eras.empty() ? "null" : quote(eras),
      server != nullptr ? quote(server->protocol_version()) : "null",
      server != nullptr ? server->server_info() : "null", capabilities_of(server),
      declared_names(session_),
      opened ? fmt::format("{}", milliseconds(loop_.now() - *opened)) : "null",
      session_.counts().reopened, last_reopening(session_.record()), session_.counts().reconnects,
      name_of(session_.record().server_stream), logins_.status(session_));
}

std::string ControlMethods::ring_status() const {
  feed_.acknowledge_read();
  Ring& ring = feed_.ring();
  ring.expire(loop_.wall_time());
  return fmt::format(
      R"({{"entries":{},"untaken":{},"bytes":{},"capacity":{},"capacityBytes":{},"oldest":{},"newest":{},"dropped":{},"coalesced":{}}})",
      ring.size(), ring.untaken(), ring.bytes(), ring.limits().entries, ring.limits().bytes,
      value_of(ring.oldest()), value_of(ring.newest()), ring.dropped(), ring.coalesced());
}

std::string ControlMethods::clients_status() const {
  std::string all = "[";
  for (const auto& [id, client] : router_.clients()) {
    if (client->is_job) continue;
    const ClientIdentity& identity = client->channel.identity();
    if (all.size() > 1) all += ',';
    fmt::format_to(
        std::back_inserter(all),
        R"({{"id":{},"kind":"{}","pid":{},"uid":{},"command":{},"connectedMs":{},"inFlight":{},"queuedBytes":{},"idle":{},"era":{}}})",
        value_of(id), identity.kind, identity.pid, identity.uid, quote(client->channel.command()),
        milliseconds(loop_.now() - identity.connected), client->in_flight.size(),
        client->channel.queued_bytes() + router_.waiting_bytes(id),
        client->channel.idle() && client->in_flight.empty() && client->waiting.empty(),
        client->seen_ordinary_frame || client->era == Era::modern
            ? quote(bridge::name_of(client->era))
            : "null");
  }
  return all + ']';
}

std::string ControlMethods::requests_status() const {
  const Statistics& statistics = router_.statistics();
  return fmt::format(
      R"("requests":{{"total":{},"errors":{},"inFlight":{},"queued":{},"parked":{}}},"latencyUs":{{"p50":{},"p99":{},"addedP50":{}}})",
      statistics.requests, statistics.errors, router_.in_flight(), router_.queued(),
      router_.parked(), statistics.total.percentile(0.5), statistics.total.percentile(0.99),
      statistics.added.percentile(0.5));
}

std::string ControlMethods::jobs_status() const {
  return fmt::format(
      R"({{"working":{},"inputRequired":{},"ended":{},"bytes":{},"capacity":{},"capacityBytes":{},"pushedOut":{}}})",
      jobs_.in_state(JobState::working), jobs_.in_state(JobState::input_required),
      jobs_.size() - jobs_.in_state(JobState::working) - jobs_.in_state(JobState::input_required),
      jobs_.bytes(), jobs_.limits().jobs, jobs_.limits().bytes, jobs_.counts().pushed_out);
}

/// Empty if the params are of the wrong form.
std::string ControlMethods::notifications(std::string_view params) const {
  std::uint64_t since = 0;
  std::uint64_t limit = default_limit;
  const auto raw_since = find_member(params, "since");
  const auto raw_limit = find_member(params, "limit");
  const auto raw_instance = find_member(params, "instance");
  if (raw_since) {
    const auto number = to_unsigned(*raw_since);
    if (!number) return {};
    since = *number;
  }
  if (raw_limit) {
    const auto number = to_unsigned(*raw_limit);
    if (!number || *number == 0) return {};
    limit = *number;
  }
  if (raw_instance && !is_string(*raw_instance)) return {};

  feed_.acknowledge_read();
  Ring& ring = feed_.ring();
  ring.expire(loop_.wall_time());
  const bool other_instance = raw_instance && *raw_instance != quote(instance_);
  if (other_instance) since = 0;
  const bool gap = other_instance || (raw_since && since + 1 < value_of(ring.oldest())) ||
                   since > value_of(ring.newest());
  std::string list;
  std::uint64_t count = 0;
  bool more = false;
  ring.each_after(
      static_cast<Sequence>(std::min(since, value_of(ring.newest()))), [&](const RingEntry& entry) {
        const std::string_view message(entry.line.data(), entry.line.size() - 1);
        if (count == limit || (count > 0 && list.size() + message.size() > max_answer - 4096)) {
          more = true;
          return false;
        }
        fmt::format_to(std::back_inserter(list),
                       R"({}{{"seq":{},"time":{},"taken":{},"message":{}}})", count > 0 ? "," : "",
                       value_of(entry.sequence), unix_milliseconds(entry.time), entry.taken(),
                       message);
        ++count;
        return true;
      });
  return fmt::format(
      R"({{"instance":"{}","oldest":{},"newest":{},"dropped":{},"gap":{},"more":{},"notifications":[{}]}})",
      instance_, value_of(ring.oldest()), value_of(ring.newest()), ring.dropped(), gap, more, list);
}

}  // namespace bridge
