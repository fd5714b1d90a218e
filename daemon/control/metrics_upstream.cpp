// What is shown of the upstream: its connections, its session, the login at it.
#include <chrono>
#include <string>

#include "auth/login.hpp"
#include "control/exposition.hpp"
#include "control/metrics.hpp"
#include "control/readiness.hpp"

namespace bridge {

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
  const Login* const login = upstream_.login();
  if (login == nullptr) return;
  const LoginStatus status = login_status(session_, *login);
  const LoginCounts counts = login->login_counts();
  out.family(MetricKind::gauge, "mcp_bridge_login_state",
             "1 for the state the login of a person is in, 0 for the others.");
  for (const LoginState state :
       {LoginState::none, LoginState::needed, LoginState::pending, LoginState::ok})
    out.sample(status.state == state ? 1 : 0, {{"state", std::string(name_of(state))}});
  out.gauge("mcp_bridge_login_expires_seconds",
            "How long the login's token is still good; 0 if there is none or nothing is said.",
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
  const auto opened = session_.record().opened_at;
  out.gauge("mcp_bridge_session_age_seconds",
            "Time since the session was opened; 0: there was none yet.",
            opened ? std::chrono::duration<double>(loop_.now() - *opened).count() : 0);
  out.gauge("mcp_bridge_server_stream_open",
            "1 while the stream of the server's notifications is open.",
            session_.record().server_stream == ServerStream::open ? 1 : 0);
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

}  // namespace bridge
