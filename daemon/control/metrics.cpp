#include "control/metrics.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "auth/login_desk.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "control/exposition.hpp"
#include "control/supervisor.hpp"
#include "process/resources.hpp"

namespace bridge {
namespace {

double seconds_since_epoch(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

template <const auto& upper_bounds>
void add_histogram(Exposition& out, const Histogram<upper_bounds>& histogram,
                   const Labels& labels = {}) {
  std::vector<std::pair<double, std::uint64_t>> cumulative;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < histogram.buckets; ++at) {
    count += histogram.count(at);
    cumulative.emplace_back(static_cast<double>(upper_bounds[at]) / 1e6, count);
  }
  count += histogram.count(histogram.buckets);
  out.histogram(cumulative, count, static_cast<double>(histogram.sum_in_microseconds()) / 1e6,
                labels);
}

}  // namespace

Metrics::Metrics(const EventLoop& loop, const Router& router, const Session& session,
                 const Upstream& upstream, NotificationFeed& feed, const JobStore& jobs,
                 const ByteBudget& budget, const Log& log, std::string socket,
                 std::function<std::optional<StateReport>()> state_report, const AuditLog* audit)
    : loop_(loop),
      router_(router),
      session_(session),
      upstream_(upstream),
      feed_(feed),
      jobs_(jobs),
      budget_(budget),
      log_(log),
      socket_(std::move(socket)),
      started_(loop.wall_time()),
      state_report_(std::move(state_report)),
      audit_(audit) {}

std::string Metrics::text() const {
  Exposition out({{"socket", socket_}});
  add_process(out);
  add_upstream(out);
  add_session(out);
  add_clients_of_all(out);
  add_requests(out);
  add_latency(out);
  add_ring(out);
  add_state(out);
  add_jobs(out);
  add_anomalies(out);
  return out.text();
}

void Metrics::add_process(Exposition& out) const {
  const ProcessUsage usage = process_usage();
  out.family(MetricKind::gauge, "mcp_bridge_build_info", "Always 1; the version is the label.");
  out.sample(1, {{"version", MCP_BRIDGE_VERSION}});
  out.gauge("mcp_bridge_start_time_seconds", "When the daemon started, since the epoch.",
            seconds_since_epoch(started_));
  out.gauge("mcp_bridge_metrics_time_seconds",
            "When these metrics were read, since the epoch: a killed daemon leaves --metrics-file.",
            seconds_since_epoch(loop_.wall_time()));
  out.family(MetricKind::counter, "mcp_bridge_cpu_seconds_total",
             "CPU time of the daemon, user and system.");
  out.sample(usage.cpu_seconds);
  out.gauge("mcp_bridge_resident_memory_bytes", "Memory of the daemon that is in RAM.",
            static_cast<double>(usage.resident_bytes));
  out.gauge("mcp_bridge_open_fds", "Open file descriptors.",
            static_cast<double>(usage.open_descriptors));
  out.gauge("mcp_bridge_max_fds", "The bound on open file descriptors.",
            static_cast<double>(usage.max_descriptors));
  out.gauge("mcp_bridge_buffered_bytes", "Bytes in all queues and accumulating frames.",
            static_cast<double>(budget_.used()));
  out.gauge("mcp_bridge_buffered_limit_bytes", "The bound on them (--max-buffered).",
            static_cast<double>(budget_.limit()));
}

void Metrics::add_clients_of_all(Exposition& out) const {
  std::map<std::string, std::size_t> connected;
  for (const auto& [id, client] : router_.clients()) ++connected[client->channel.identity().kind];
  out.family(MetricKind::gauge, "mcp_bridge_clients", "Clients connected now.");
  for (const auto& [kind, counts] : transports_)
    out.sample(static_cast<double>(connected[kind]), {{"kind", kind}});

  out.family(MetricKind::gauge, "mcp_bridge_clients_of_era",
             "Those of them that have shown which era of the protocol they speak.");
  for (const Era era : {Era::legacy, Era::modern}) {
    const auto count =
        std::count_if(router_.clients().begin(), router_.clients().end(), [era](const auto& entry) {
          const Client& client = *entry.second;
          return client.era == era && client.has_shown_era();
        });
    out.sample(static_cast<double>(count), {{"era", std::string(name_of(era))}});
  }

  const auto each = [&](const char* name, const char* help, std::uint64_t ClientCounts::*count) {
    out.family(MetricKind::counter, name, help);
    for (const auto& [kind, counts] : transports_)
      out.sample(static_cast<double>(counts->*count), {{"kind", kind}});
  };
  each("mcp_bridge_clients_connected_total", "Clients that have connected.",
       &ClientCounts::connected);
  each("mcp_bridge_clients_refused_total", "Clients that were not allowed to connect.",
       &ClientCounts::refused);
  each("mcp_bridge_clients_stalled_total", "Clients disconnected because they read nothing.",
       &ClientCounts::stalled);
  each("mcp_bridge_client_received_bytes_total", "Bytes received from clients.",
       &ClientCounts::received_bytes);
  each("mcp_bridge_client_sent_bytes_total", "Bytes sent to clients.", &ClientCounts::sent_bytes);
  each("mcp_bridge_client_lost_notifications_total",
       "Notifications pushed out of the ring before a client came to them.",
       &ClientCounts::lost_notifications);
}

void Metrics::add_requests(Exposition& out) const {
  const Statistics& statistics = router_.statistics();
  out.family(MetricKind::counter, "mcp_bridge_requests_total",
             "Requests of clients that have ended, by the method's class and the outcome.");
  for (std::size_t of = 0; of < method_classes; ++of) {
    for (std::size_t outcome = 0; outcome < outcomes; ++outcome) {
      out.sample(static_cast<double>(statistics.ended[of][outcome]),
                 {{"class", std::string(name_of(static_cast<MethodClass>(of)))},
                  {"outcome", std::string(name_of(static_cast<Outcome>(outcome)))}});
    }
  }
  out.family(MetricKind::counter, "mcp_bridge_request_errors_total",
             "Errors the bridge itself answered with, by kind.");
  for (std::size_t kind = 0; kind < error_kinds; ++kind) {
    out.sample(static_cast<double>(statistics.bridge_errors[kind]),
               {{"kind", std::string(name_of(static_cast<ErrorKind>(kind)))}});
  }
  if (const Permissions& permissions = router_.permissions(); permissions.is_on()) {
    const PermissionCounts& counts = permissions.counts();
    out.family(MetricKind::counter, "mcp_bridge_policy_denied_total",
               "Requests that the policy (--policy) does not allow, by what they are about.");
    for (const auto& [reason, count] :
         {std::pair("no_rule", counts.no_rule), std::pair("tool", counts.tool),
          std::pair("prompt", counts.prompt), std::pair("resource", counts.resource),
          std::pair("method", counts.method)})
      out.sample(static_cast<double>(count), {{"reason", reason}});
    out.counter("mcp_bridge_policy_rate_limited_total",
                "Requests beyond the rate that the policy gives their user.", counts.rate);
  }
  const Grants& grants = router_.permissions().grants();
  out.gauge("mcp_bridge_grants", "Grants that have not ended.", static_cast<double>(grants.size()));
  out.counter("mcp_bridge_grants_issued_total", "Grants issued.", grants.counts.issued);
  out.counter("mcp_bridge_grants_accepted_total",
              "Connections, HTTP sessions and lone POSTs that have used a grant.",
              grants.counts.used);
  out.family(MetricKind::counter, "mcp_bridge_grants_refused_total",
             "Uses of grants, and requests with them, that were refused because of the grant, by "
             "reason.");
  for (std::size_t end = 0; end < grant_ends; ++end) {
    out.sample(static_cast<double>(grants.counts.refused[end]),
               {{"reason", std::string(name_of(static_cast<GrantEnd>(end)))}});
  }
  if (audit_ != nullptr) {
    out.counter("mcp_bridge_audit_lines_written_total", "Lines of the audit (--audit).",
                audit_->counts().written);
    out.counter("mcp_bridge_audit_lines_lost_total",
                "Lines of the audit for which there was no room while it could not be written.",
                audit_->counts().lost);
    out.gauge("mcp_bridge_audit_failing", "1 while the audit cannot be written, else 0.",
              audit_->is_failing() ? 1 : 0);
  }
  out.gauge("mcp_bridge_requests_in_flight", "Requests of clients that the upstream is working on.",
            static_cast<double>(router_.in_flight()));
  out.gauge("mcp_bridge_requests_queued", "Frames of clients that wait to be sent.",
            static_cast<double>(router_.queued()));
  out.gauge("mcp_bridge_server_requests_parked", "Requests of the upstream that wait for a client.",
            static_cast<double>(router_.parked()));
  out.counter("mcp_bridge_control_requests_total", "Requests for the bridge itself (bridge/*).",
              statistics.control_requests);
}

void Metrics::add_latency(Exposition& out) const {
  const Statistics& statistics = router_.statistics();
  out.family(MetricKind::histogram, "mcp_bridge_request_duration_seconds",
             "From a request's arrival to its answer, of those the upstream has answered, by the "
             "method's class.");
  for (std::size_t of = 0; of < method_classes; ++of) {
    add_histogram(out, statistics.total_by_class[of],
                  {{"class", std::string(name_of(static_cast<MethodClass>(of)))}});
  }
  out.family(MetricKind::histogram, "mcp_bridge_added_latency_seconds",
             "The bridge's own part of that: waiting for the session or a slot, and handling.");
  add_histogram(out, statistics.added_in_all);
}

void Metrics::add_ring(Exposition& out) const {
  feed_.acknowledge_read();
  Ring& ring = feed_.ring();
  ring.expire(loop_.wall_time());
  out.gauge("mcp_bridge_ring_notifications", "Notifications in the ring.",
            static_cast<double>(ring.size()));
  out.gauge("mcp_bridge_ring_untaken", "Those of them that no client has read.",
            static_cast<double>(ring.untaken()));
  out.gauge("mcp_bridge_ring_bytes", "Bytes of them.", static_cast<double>(ring.bytes()));
  out.gauge("mcp_bridge_ring_capacity", "How many notifications it holds (--ring).",
            static_cast<double>(ring.limits().entries));
  out.gauge("mcp_bridge_ring_capacity_bytes", "How many bytes (--ring-bytes).",
            static_cast<double>(ring.limits().bytes));
  out.counter("mcp_bridge_ring_published_total", "Notifications that came into the ring.",
              value_of(ring.newest()));
  out.counter("mcp_bridge_ring_taken_total", "Those that a client has read.", ring.taken());
  out.counter("mcp_bridge_ring_dropped_total",
              "Those that were lost before any client had read them.", ring.dropped());
  out.counter("mcp_bridge_ring_coalesced_total",
              "Those that a newer one made superfluous (--ring-coalesce).", ring.coalesced());
}

void Metrics::add_state(Exposition& out) const {
  const auto state = state_report_();
  if (!state) return;
  out.gauge("mcp_bridge_state_durable",
            "1 while changes are saved in the state (--state-dir), 0 while they cannot be.",
            state->durable ? 1 : 0);
  out.gauge("mcp_bridge_state_bytes", "Bytes of the state's log.",
            static_cast<double>(state->bytes));
  out.counter("mcp_bridge_state_failures_total", "How often writing the state failed.",
              state->failures);
  out.counter("mcp_bridge_state_rewrites_total", "How often its log was rewritten.",
              state->rewrites);
}

void Metrics::add_jobs(Exposition& out) const {
  const JobStore::Counts& counts = jobs_.counts();
  out.family(MetricKind::gauge, "mcp_bridge_jobs", "Jobs that are kept, by their state.");
  for (std::size_t state = 0; state < job_states; ++state) {
    out.sample(static_cast<double>(jobs_.in_state(static_cast<JobState>(state))),
               {{"state", std::string(job_state_names[state])}});
  }
  out.gauge("mcp_bridge_jobs_bytes", "Bytes of them, answers included.",
            static_cast<double>(jobs_.bytes()));
  out.gauge("mcp_bridge_jobs_capacity", "How many jobs are kept (--jobs).",
            static_cast<double>(jobs_.limits().jobs));
  out.gauge("mcp_bridge_jobs_capacity_bytes", "How many bytes (--jobs-bytes).",
            static_cast<double>(jobs_.limits().bytes));
  out.counter("mcp_bridge_jobs_submitted_total", "Jobs that were accepted.", counts.submitted);
  out.counter("mcp_bridge_jobs_refused_total", "Jobs for which there was no room.", counts.refused);
  out.family(MetricKind::counter, "mcp_bridge_jobs_ended_total",
             "Jobs that have ended, by the state of the end.");
  for (const JobState state : {JobState::completed, JobState::failed, JobState::cancelled}) {
    out.sample(static_cast<double>(counts.ended[static_cast<std::size_t>(state)]),
               {{"state", std::string(name_of(state))}});
  }
  out.counter("mcp_bridge_jobs_pushed_out_total",
              "Ended jobs that gave way to others before their time.", counts.pushed_out);
  out.counter("mcp_bridge_jobs_expired_total", "Ended jobs that were kept for their time.",
              counts.expired);
}

void Metrics::add_anomalies(Exposition& out) const {
  const Statistics& statistics = router_.statistics();
  out.counter("mcp_bridge_invalid_frames_total",
              "Lines of clients that are not a JSON-RPC message.", statistics.invalid_frames);
  out.counter("mcp_bridge_malformed_messages_total",
              "Messages of the upstream that are not JSON-RPC.", statistics.malformed_messages);
  out.counter("mcp_bridge_unknown_answers_total", "Answers, of either side, to unknown requests.",
              statistics.unknown_answers);
  out.counter("mcp_bridge_discarded_notifications_total",
              "Notifications, of either side, without a receiver that are not for the ring.",
              statistics.dropped_notifications);
  out.counter("mcp_bridge_log_lines_suppressed_total", "Log lines that were only counted.",
              log_.suppressed());
}

// Metrics of the upstream: its connections, its session, its login.

void Metrics::add_upstream(Exposition& out) const {
  const UpstreamCounts counts = upstream_.counts();
  out.counter("mcp_bridge_upstream_sent_bytes_total",
              "Bytes of messages sent to the upstream, headers not counted.", counts.sent_bytes);
  out.counter("mcp_bridge_upstream_received_bytes_total",
              "Bytes of messages received from it, headers not counted.", counts.received_bytes);
  out.counter("mcp_bridge_upstream_connections_total",
              "Connections to the upstream that were opened.", counts.connections);
  out.counter("mcp_bridge_server_stream_openings_total",
              "Times the stream of the server's notifications was opened.",
              counts.server_stream_openings);
  out.counter("mcp_bridge_token_refreshes_total", "Times another bearer token came into use.",
              counts.token_refreshes);
  out.counter("mcp_bridge_token_failures_total",
              "Times there was no bearer token that the upstream accepts.", counts.token_failures);
  add_login(out);
  out.counter("mcp_bridge_child_restarts_total", "Times the upstream's process was started again.",
              counts.child_restarts);
}

void Metrics::add_login(Exposition& out) const {
  const LoginDesk* const login = upstream_.login();
  if (login == nullptr) return;
  const LoginStatus status = login_status(session_, *login);
  const LoginCounts counts = login->login_counts();
  out.family(MetricKind::gauge, "mcp_bridge_login_state",
             "1 for the state the login of a person is in, 0 for the others.");
  for (const LoginState state :
       {LoginState::none, LoginState::needed, LoginState::pending, LoginState::ok})
    out.sample(status.state == state ? 1 : 0, {{"state", std::string(name_of(state))}});
  out.gauge("mcp_bridge_login_expires_seconds",
            "Remaining life of the login's token; 0 if there is none or it is not known.",
            status.expires_in ? std::chrono::duration<double>(*status.expires_in).count() : 0);
  out.family(MetricKind::counter, "mcp_bridge_logins_total", "Logins that have ended.");
  out.sample(static_cast<double>(counts.logins), {{"outcome", "ok"}});
  out.sample(static_cast<double>(counts.failed_logins), {{"outcome", "failed"}});
  out.family(MetricKind::counter, "mcp_bridge_login_refreshes_total",
             "Refreshes of a login's token that have ended.");
  out.sample(static_cast<double>(counts.refreshes), {{"outcome", "ok"}});
  out.sample(static_cast<double>(counts.failed_refreshes), {{"outcome", "failed"}});
}

void Metrics::add_session(Exposition& out) const {
  out.gauge("mcp_bridge_upstream_ready", "1 unless the last try to reach the upstream has failed.",
            is_ready(session_, upstream_) ? 1 : 0);
  out.family(MetricKind::gauge, "mcp_bridge_session_state",
             "1 for the state the session is in, 0 for the others.");
  using State = Session::State;
  for (const State state : {State::idle, State::opening, State::open, State::reopening,
                            State::waiting, State::refused}) {
    out.sample(session_.state() == state ? 1 : 0, {{"state", std::string(name_of(state))}});
  }
  out.family(MetricKind::gauge, "mcp_bridge_upstream_era",
             "1 for each era of the protocol that the upstream is known to speak.");
  for (const Era era : {Era::legacy, Era::modern}) {
    const bool is_it = session_.eras().of(era) == Speaks::yes;
    out.sample(is_it ? 1 : 0, {{"era", std::string(name_of(era))}});
  }
  const auto opened = session_.shown().record().opened_at;
  out.gauge("mcp_bridge_session_age_seconds",
            "Time since the session was opened; 0: there was none yet.",
            opened ? std::chrono::duration<double>(loop_.now() - *opened).count() : 0);
  out.gauge("mcp_bridge_server_stream_open",
            "1 while the stream of the server's notifications is open.",
            session_.shown().record().server_stream == ServerStream::open ? 1 : 0);
  const SessionCounts& counts = session_.counts();
  out.counter("mcp_bridge_sessions_opened_total",
              "Sessions opened, those that replaced a lost one included.", counts.opened);
  out.counter("mcp_bridge_session_reopenings_total", "Sessions that replaced a lost one.",
              counts.reopened);
  out.counter("mcp_bridge_session_failed_tries_total", "Tries to open a session that failed.",
              counts.failed_tries);
  out.counter("mcp_bridge_upstream_reconnects_total",
              "Times the upstream could be reached again, with its session.", counts.reconnects);
}

namespace {

/// Creates a file that did not exist, so that nothing put there by others is written to or waited
/// for. A leftover of an earlier process with this number is removed.
int make_file(const std::string& path) {
  const auto make = [&path] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  };
  const int descriptor = make();
  if (descriptor >= 0 || errno != EEXIST || unlink(path.c_str()) != 0) return descriptor;
  return make();
}

}  // namespace

// The collector reads files that end in `.prom`, so the temporary name must not.
std::string replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  const int descriptor = make_file(temporary);
  if (descriptor < 0) return std::strerror(errno);
  // fchmod: independent of the umask. No fsync: after a crash of the machine the figures are
  // worthless.
  bool well = fchmod(descriptor, 0644) == 0 && write_all(descriptor, text);
  int error = errno;
  if (close(descriptor) != 0 && well) {
    well = false;
    error = errno;
  }
  if (well && rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (well) error = errno;
  unlink(temporary.c_str());
  return std::strerror(error);
}

MetricsFile::MetricsFile(EventLoop& loop, std::string path, std::function<std::string()> text,
                         Log& log)
    : path_(std::move(path)),
      text_(std::move(text)),
      log_(log),
      timer_(loop, [this] { write(); }) {}

MetricsFile::~MetricsFile() {
  if (written_) unlink(path_.c_str());
}

void MetricsFile::write() {
  const std::string fault = replace_file(path_, text_());
  written_ = written_ || fault.empty();
  if (!fault.empty()) {
    log_.peer(LogLevel::error, "metrics file", "--metrics-file {} cannot be written: {}", path_,
              fault);
  }
  timer_.set_after(interval);
}

}  // namespace bridge
