#include "control/control_methods.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "control/supervisor.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "router/permissions.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t longest_wait = 3'600'000;

JsonObject login_object(const LoginStatus& status) {
  JsonObject object;
  object.add("state", name_of(status.state));
  if (status.expires_in) object.add("expiresInMs", status.expires_in->count());
  object.add_unless_empty("scope", status.scope).add_unless_empty("wanted", status.wanted);
  if (status.is_pending) object.add("pending", true);
  return object;
}

/// While a login is pending the steps for the person, else the login's state.
JsonObject answer_object(const LoginAnswer& answer) {
  if (!answer.offer) return login_object(answer.status);
  const LoginOffer& offer = *answer.offer;
  JsonObject object;
  object.add("state", "pending")
      .add_unless_empty("url", offer.url)
      .add_unless_empty("verificationUri", offer.verification_uri)
      .add_unless_empty("userCode", offer.user_code)
      .add("expiresInMs", offer.expires_in.count());
  return object;
}

LoginDone answer_to(const std::string& id, Control::Reply reply) {
  return [id, reply = std::move(reply)](const LoginAnswer& answer) {
    reply(answer.failure ? error_reply(id, *answer.failure)
                         : result_reply(id, answer_object(answer)));
  };
}

}  // namespace

std::optional<JsonObject> LoginMethods::status(const Session& session) const {
  if (login_ == nullptr) return std::nullopt;
  return login_object(login_status(session, *login_));
}

bool LoginMethods::can_log_in(const Frame& request, const Control::Reply& reply) const {
  if (login_ == nullptr) {
    reply(error_reply(request.text(request.id), json_rpc::invalid_request,
                      "there is no login here: " + why_not_));
  }
  return login_ != nullptr;
}

void LoginMethods::log_out(const Frame& request, Control::Reply reply) {
  if (!can_log_in(request, reply)) return;
  login_->log_out([id = std::string(request.text(request.id)),
                   reply = std::move(reply)](const LogoutAnswer& answer) {
    JsonObject result;
    result.add("loggedIn", answer.was_logged_in).add("revoked", answer.revoked);
    reply(result_reply(id, result.add_unless_empty("fault", answer.fault)));
  });
}

void LoginMethods::log_in(const Frame& request, Control::Reply reply) {
  if (!can_log_in(request, reply)) return;
  const std::string id(request.text(request.id));
  const std::string_view params = request.text(request.params);
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
      reply(result_reply(id, login_object(answer.status)));
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

std::int64_t milliseconds(SteadyTime::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::int64_t unix_milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// Names of what a legacy session was opened with. A client has written them.
std::string declared_names(const Session& session) {
  constexpr std::size_t most = 32;
  constexpr std::size_t longest = 64;
  if (session.opened_with().empty()) return "null";
  const std::string_view capabilities =
      find_member(session.opened_with(), "capabilities").value_or("{}");
  JsonArray names;
  std::size_t count = 0;
  for_each_member(capabilities, {0, capabilities.size()}, [&](std::string_view key, Slice, Slice) {
    if (key.size() > longest || ++count > most) return;
    names.add(RawJson{fmt::format("\"{}\"", key)});
  });
  return names.text();
}

/// The server's capabilities as it declared them; null if they are too large for a status.
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

std::optional<JsonObject> last_reopening(const SessionRecord& record) {
  if (!record.reopening) return std::nullopt;
  return JsonObject()
      .add("reason", name_of(record.reopening->reason))
      .add("atMs", unix_milliseconds(record.reopening->at));
}

}  // namespace

ControlMethods::ControlMethods(EventLoop& loop, const Router& router, const Session& session,
                               const Upstream& upstream, NotificationFeed& feed, JobRunner& jobs,
                               JobWaiters& collectors, ControlSources sources)
    : loop_(loop),
      router_(router),
      session_(session),
      upstream_(upstream),
      feed_(feed),
      jobs_(jobs.store()),
      job_waiters_(collectors),
      job_methods_(loop, jobs, collectors),
      grants_(loop, jobs.router()),
      sources_(std::move(sources)),
      logins_(sources_.login, sources_.why_no_login),
      ring_methods_(loop, feed, router.clients(), sources_.instance,
                    jobs.options().longest_http_wait),
      started_(loop_.now()) {}

/// Who may call a control method.
enum class MayCall : std::uint8_t {
  anyone,
  owner,  ///< the daemon's own user and root, on the Unix socket
};

/// A row for each control method; adding one is a row and a function.
struct ControlMethods::Method {
  std::string_view name;
  std::string_view params;
  std::string_view help;
  MayCall caller;
  ControlFacts facts;
  void (*answer)(ControlMethods& self, const Frame& request, Client& asker, Reply&& reply);
};

std::span<const ControlMethods::Method> ControlMethods::methods() {
  using Self = ControlMethods&;
  using Asker = Client&;
  static constexpr Method rows[] = {
      {"bridge/status",
       "",
       "the state of everything",
       MayCall::anyone,
       {},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         reply(result_reply(request.text(request.id), self.status_for(asker)));
       }},
      {"bridge/notifications",
       "since?, instance?, limit?, waitMs?, untaken?, methods?",
       "notifications of the ring, without taking them",
       MayCall::anyone,
       {.is_handled_again = true, .is_answered_in_order = true},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         self.ring_methods_.read(request, asker, std::move(reply));
       }},
      {"bridge/take",
       "instance, seqs",
       "mark notifications as taken",
       MayCall::anyone,
       {},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         reply(self.ring_methods_.take(request, asker));
       }},
      {"bridge/metrics",
       "",
       "the metrics, in the text form of Prometheus",
       MayCall::anyone,
       {},
       [](Self self, const Frame& request, Asker, Reply&& reply) {
         reply(result_reply(request.text(request.id),
                            JsonObject().add("text", self.sources_.metrics.text())));
       }},
      {"bridge/tool",
       "name?",
       "one tool of the server, or the names of all",
       MayCall::anyone,
       {.is_handled_again = true},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         self.sources_.tools.answer(request, asker, std::move(reply));
       }},
      {"bridge/login",
       "mode?, callback?, waitMs?, cancel?",
       "log in at the server's authorization server",
       MayCall::owner,
       {.is_confidential = true},
       [](Self self, const Frame& request, Asker, Reply&& reply) {
         self.logins_.log_in(request, std::move(reply));
       }},
      {"bridge/logout",
       "",
       "forget the login and revoke it",
       MayCall::owner,
       {.is_confidential = true},
       [](Self self, const Frame& request, Asker, Reply&& reply) {
         self.logins_.log_out(request, std::move(reply));
       }},
      {"bridge/monitor",
       "",
       "every message, as it passes",
       MayCall::owner,
       {},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         reply(self.sources_.monitor.answer(request, asker));
       }},
      {"bridge/submit",
       "method, params?, key?, keepMs?",
       "make a request a job",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_job<&JobMethods::submit>},
      {"bridge/collect",
       "job, waitMs?, keep?, answer?",
       "the result of a job, as soon as it is there",
       MayCall::anyone,
       {.is_handled_again = true, .is_answered_in_order = true},
       [](Self self, const Frame& request, Asker asker, Reply&& reply) {
         self.job_methods_.collect(request, asker, std::move(reply));
       }},
      {"bridge/answer",
       "job, questionId?, result or error",
       "answer the question of a job",
       MayCall::anyone,
       {.is_confidential = true},
       &ControlMethods::answer_of_job<&JobMethods::answer_question>},
      {"bridge/jobs",
       "states?, limit?",
       "the jobs of this user",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_job<&JobMethods::list>},
      {"bridge/cancel",
       "job",
       "cancel a job",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_job<&JobMethods::cancel>},
      {"bridge/forget",
       "job",
       "forget a job that has ended",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_job<&JobMethods::forget>},
      {"bridge/grant",
       "name?, tools?, prompts?, resources?, methods?, ttlMs?, calls?",
       "issue a grant: a part of the caller's rights",
       MayCall::anyone,
       {.is_confidential = true},
       &ControlMethods::answer_of_grant<&GrantMethods::issue>},
      {"bridge/use",
       "grant",
       "use a grant for the rest of this connection",
       MayCall::anyone,
       {.is_confidential = true, .is_done_at_once = true, .is_answered_in_order = true},
       &ControlMethods::answer_of_grant<&GrantMethods::use>},
      {"bridge/grants",
       "",
       "the grants that the caller has issued",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_grant<&GrantMethods::list>},
      {"bridge/revoke",
       "id",
       "end a grant, and those issued under it",
       MayCall::anyone,
       {},
       &ControlMethods::answer_of_grant<&GrantMethods::revoke>},
  };
  return rows;
}

std::string ControlMethods::documented() {
  std::string table;
  for (const Method& method : methods()) {
    fmt::format_to(
        std::back_inserter(table), "| `{}` | {}{}{} | {} | {} |\n", method.name,
        method.params.empty() ? "" : "`{", method.params, method.params.empty() ? "" : "}`",
        method.caller == MayCall::owner ? "the daemon's user, root" : "anyone", method.help);
  }
  return table;
}

const ControlMethods::Method* ControlMethods::find(std::string_view name) {
  const auto all = methods();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const Method& method) { return method.name == name; });
  return found != all.end() ? &*found : nullptr;
}

ControlFacts ControlMethods::facts_of(std::string_view name) const {
  const Method* const method = find(name);
  return method != nullptr ? method->facts : ControlFacts{};
}

void ControlMethods::answer(const Frame& request, Client& asker, Reply reply) {
  const Method* const method = find(request.method);
  const ClientIdentity& identity = asker.channel.identity();
  const bool is_owner = (identity.kind == "unix" || identity.kind == "pipes") &&
                        (identity.uid == geteuid() || identity.uid == 0) && !asker.grant;
  if (method == nullptr) {
    reply(unknown_method(request));
  } else if (method->caller == MayCall::owner && !is_owner) {
    reply(error_reply(
        request.text(request.id), json_rpc::invalid_request,
        fmt::format("only the daemon's user and root may call {}, over the socket of --socket, "
                    "without a grant",
                    method->name)));
  } else {
    method->answer(*this, request, asker, std::move(reply));
  }
}

bool ControlMethods::list_tools(Reply done) {
  sources_.tools.fetch(std::move(done));
  return true;
}

std::string ControlMethods::unknown_method(const Frame& request) const {
  std::string names;
  for (const Method& method : methods())
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", method.name);
  return error_reply(request.text(request.id), json_rpc::method_not_found,
                     "Method not found: the bridge knows " + names);
}

JsonObject ControlMethods::status_for(const Client& asker) const {
  JsonObject all = status(asker.rule, asker.id());
  all.add("you", value_of(asker.id()));
  if (const auto grant = grants_.status_of(asker)) all.add("grant", *grant);
  if (asker.rule == nullptr || router_.permissions().policy() == nullptr) return all;
  JsonObject policy;
  policy.add("rule", asker.rule->number);
  if (!asker.grant && !asker.user.remote && asker.user.uid == geteuid()) {
    policy.add("file", router_.permissions().policy()->path);
    if (!asker.rule->is_none()) policy.add("line", asker.rule->line);
  }
  return all.add("policy", policy);
}

JsonObject ControlMethods::status_for(const ClientIdentity& caller) const {
  return status(router_.permissions().rule_for(caller.peer(), caller.grant), std::nullopt);
}

JsonObject ControlMethods::status(const PolicyRule* rule, std::optional<ClientId> asker) const {
  const Statistics& statistics = router_.statistics();
  std::optional<JsonObject> last_error;
  if (const auto& error = statistics.last_error) {
    last_error = JsonObject()
                     .add("atMs", unix_milliseconds(error->at))
                     .add("kind", bridge::name_of(error->kind))
                     .add("message", error->message);
  }
  JsonObject all;
  all.add("version", MCP_BRIDGE_VERSION)
      .add("pid", getpid())
      .add("instance", sources_.instance)
      .add("uptimeMs", milliseconds(loop_.now() - started_))
      .add("upstream", upstream_status())
      .add("ring", ring_status())
      .add("clients", RawJson{clients_status(rule, asker).text()})
      .add("requests", requests_status())
      .add("latencyUs", JsonObject()
                            .add("p50", statistics.total.percentile(0.5))
                            .add("p99", statistics.total.percentile(0.99))
                            .add("addedP50", statistics.added.percentile(0.5)))
      .add("jobs", jobs_status())
      .add("lastError", last_error);
  if (!sources_.http_urls.empty()) {
    JsonArray urls;
    for (const std::string& url : sources_.http_urls) urls.add(url);
    all.add("http", urls);
  }
  all.add_unless_empty("pipes", sources_.pipes);
  all.add_unless_empty("metrics", sources_.metrics_url);
  if (sources_.audit != nullptr)
    all.add("audit", sources_.audit->is_failing() ? "failing" : "written");
  if (const auto state = sources_.state_report()) {
    JsonObject object;
    object.add("durable", state->durable).add("bytes", state->bytes);
    if (!state->durable) object.add("error", state->error);
    all.add("state", object);
  }
  return all;
}

JsonObject ControlMethods::upstream_status() const {
  const ServerDescription* const server = session_.shown().server();
  const SessionRecord& record = session_.shown().record();
  const std::string_view eras = session_.eras().name();
  JsonObject object;
  object.add("kind", upstream_.kind())
      .add("target", upstream_.target())
      .add("state", bridge::name_of(session_.state()))
      .add("ready", is_ready(session_, upstream_));
  if (server != nullptr) {
    object.add("era", bridge::name_of(server->era()));
  } else {
    object.add("era", RawJson{"null"});
  }
  object.add("eras", eras.empty() ? std::nullopt : std::optional(eras))
      .add("protocolVersion",
           server != nullptr ? std::optional(server->protocol_version()) : std::nullopt)
      .add("serverInfo", RawJson{server != nullptr ? server->server_info() : "null"})
      .add("capabilities", RawJson{capabilities_of(server)})
      .add("declared", RawJson{declared_names(session_)})
      .add("sessionAgeMs", record.opened_at
                               ? std::optional(milliseconds(loop_.now() - *record.opened_at))
                               : std::nullopt)
      .add("reopened", session_.counts().reopened)
      .add("lastReopening", last_reopening(record))
      .add("reconnects", session_.counts().reconnects)
      .add("stream", name_of(record.server_stream));
  if (const auto login = logins_.status(session_)) object.add("login", *login);
  return object;
}

JsonObject ControlMethods::ring_status() const {
  feed_.acknowledge_read();
  Ring& ring = feed_.ring();
  ring.expire(loop_.wall_time());
  return JsonObject()
      .add("entries", ring.size())
      .add("untaken", ring.untaken())
      .add("bytes", ring.bytes())
      .add("capacity", ring.limits().entries)
      .add("capacityBytes", ring.limits().bytes)
      .add("oldest", value_of(ring.oldest()))
      .add("newest", value_of(ring.newest()))
      .add("dropped", ring.dropped())
      .add("coalesced", ring.coalesced());
}

/// A caller whose policy allows nothing sees only itself.
JsonArray ControlMethods::clients_status(const PolicyRule* rule,
                                         std::optional<ClientId> asker) const {
  JsonArray all;
  for (const auto& [id, client] : router_.clients()) {
    if (rule != nullptr && rule->is_none() && asker != id) continue;
    const auto& channel = client->channel;
    const ClientIdentity& identity = channel.identity();
    JsonObject object;
    object.add("id", value_of(id))
        .add("kind", identity.kind)
        .add("pid", identity.pid)
        .add("uid", identity.uid)
        .add("command", channel.command())
        .add("connectedMs", milliseconds(loop_.now() - identity.connected))
        .add("inFlight", client->in_flight.size())
        .add("queuedBytes", channel.queued_bytes() + router_.from_clients().waiting_bytes(id))
        .add("idle", channel.idle() && client->in_flight.empty() && client->waiting.empty())
        .add("era",
             client->has_shown_era() ? std::optional(bridge::name_of(client->era)) : std::nullopt)
        .add_unless_empty("grant", client->grant_id());
    all.add(object);
  }
  return all;
}

JsonObject ControlMethods::requests_status() const {
  const Statistics& statistics = router_.statistics();
  return JsonObject()
      .add("total", statistics.requests)
      .add("errors", statistics.errors)
      .add("inFlight", router_.in_flight())
      .add("queued", router_.queued())
      .add("parked", router_.parked());
}

JsonObject ControlMethods::jobs_status() const {
  const std::size_t working = jobs_.in_state(JobState::working);
  const std::size_t asking = jobs_.in_state(JobState::input_required);
  return JsonObject()
      .add("working", working)
      .add("inputRequired", asking)
      .add("ended", jobs_.size() - working - asking)
      .add("bytes", jobs_.bytes())
      .add("capacity", jobs_.limits().jobs)
      .add("capacityBytes", jobs_.limits().bytes)
      .add("pushedOut", jobs_.counts().pushed_out);
}

}  // namespace bridge
