#include "daemon.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/inotify.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include "auth/login_desk.hpp"
#include "base/random.hpp"
#include "base/start_error.hpp"
#include "control/supervisor.hpp"
#include "make_upstream.hpp"
#include "options/options.hpp"
#include "router/permissions.hpp"
#include "text/shell_word.hpp"
#include "text/visible_text.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

ListeningSocket take_socket(const SocketOptions& options, const Beginning& beginning) {
  if (beginning.earlier) return ListeningSocket::restored(beginning.earlier->socket, options);
  if (beginning.passed.clients) return ListeningSocket::passed(*beginning.passed.clients);
  return ListeningSocket::open(options);
}

/// The HTTP frontend's, if it has one.
std::optional<ListeningSocket> take_http_socket(const FrontendOptions& options,
                                                const Beginning& beginning) {
  if (!options.socket) return std::nullopt;
  if (beginning.earlier)
    return ListeningSocket::restored(beginning.earlier->http_socket, *options.socket);
  if (beginning.passed.http) return ListeningSocket::passed(*beginning.passed.http);
  return ListeningSocket::open(*options.socket);
}

std::optional<PipesFolder::Saved> earlier_pipes(const Beginning& beginning) {
  if (!beginning.earlier) return std::nullopt;
  return beginning.earlier->pipes;
}

void warn_about_log(const LogOptions& options, Log& log) {
  if (!options.bodies) return;
  log.event(
      LogLevel::warning, "log bodies",
      "--log-bodies: messages of clients and the upstream are logged{}, including their secrets",
      options.level == LogLevel::debug ? "" : " at --log-level debug, which is not set");
}

Supervision supervision_of(const Beginning& beginning) {
  if (!beginning.earlier) return take_supervision();
  const ProcessSnapshot& start = beginning.earlier->process;
  Supervision supervision;
  supervision.notify_socket = start.notify_socket;
  if (start.watchdog > 0) supervision.watchdog = std::chrono::microseconds(start.watchdog);
  return supervision;
}

ClientIdSource client_ids_of(const Beginning& beginning) {
  return ClientIdSource(beginning.earlier ? beginning.earlier->process.last_client : ClientId{});
}

/// For --state-dir. An upgrade continues if it fails: then only the handed-over snapshot is used.
std::unique_ptr<DaemonState> state_of(const Beginning& beginning, const std::string& folder,
                                      Log& log,
                                      const std::function<std::unique_ptr<DaemonState>()>& make) {
  if (folder.empty()) return nullptr;
  try {
    return make();
  } catch (const StartError& error) {
    if (!beginning.earlier) throw;
    log.event(LogLevel::error, "state", "state no longer saved: {}", error.what());
    return nullptr;
  }
}

/// Names the socket in the command for a login, so that it can be copied where it is read.
Options with_login_command(Options options, const Beginning& beginning) {
  std::string name = beginning.earlier          ? beginning.earlier->socket.name
                     : beginning.passed.clients ? name_of_socket(*beginning.passed.clients)
                                                : options.socket.path;
  if (name.empty() || name == SocketOptions().path) return options;
  if (name.front() != '@') name = std::filesystem::absolute(name).lexically_normal().string();
  options.upstream.auth.oauth.login_command =
      fmt::format("mcp-nc -s {} login", printable(shell_word(name)));
  return options;
}

}  // namespace

Daemon::Daemon(ParsedOptions parsed, ReadOptions read_again, Beginning beginning, Log& log)
    : changeable_(changeable_values(parsed)),
      options_(with_login_command(std::move(parsed.options), beginning)),
      given_(std::move(parsed.given)),
      read_again_(std::move(read_again)),
      beginning_(std::move(beginning)),
      supervision_(supervision_of(beginning_)),
      log_(log),
      flush_(
          loop_, [this] { flush(); }, Deferred::Until::end_of_round),
      budget_(options_.max_buffered),
      feed_(options_.ring, loop_.clock()),
      client_ids_(client_ids_of(beginning_)),
      upstream_(make_upstream(loop_, options_.upstream, budget_, log_)),
      session_(loop_, ids_, *upstream_, log_, options_.session),
      router_(loop_, ids_, session_, feed_, budget_, log_, options_.router),
      router_upgrade_(router_),
      jobs_(loop_, router_, log_, options_.jobs),
      job_waiters_(loop_, jobs_, router_.clients()),
      tools_(loop_, router_, session_),
      monitor_(loop_, router_.clients(), session_.tap(), [this] { return secrets(); }),
      state_(state_of(beginning_, options_.state.folder, log_,
                      [this] {
                        return std::make_unique<DaemonState>(
                            loop_, options_.state, hash_of_target(options_.upstream), feed_, ids_,
                            session_, router_, *upstream_, jobs_, log_);
                      })),
      signals_(loop_, {SIGTERM, SIGINT, SIGHUP, SIGUSR2},
               [this](int signal) { signal_came(signal); }),
      clients_(
          ConnectionContext{
              loop_, client_ids_, feed_, budget_, log_, options_.clients, flush_, {}, {}},
          router_.from_clients(), take_socket(options_.socket, beginning_), options_.peers,
          options_.max_connections(), options_.pipes, earlier_pipes(beginning_)),
      audit_log_(open_audit()),
      audit_(audit_log_ ? std::make_unique<AuditTrail>(loop_, *audit_log_, options_.audit,
                                                       [this] { return secrets(); })
                        : nullptr),
      metrics_(
          loop_, router_, session_, *upstream_, feed_, jobs_.store(), budget_, log_,
          clients_.socket_name(), [this] { return state_report(); }, audit_log_.get()),
      metrics_file_(options_.metrics_file.empty() ? nullptr
                                                  : std::make_unique<MetricsFile>(
                                                        loop_, options_.metrics_file,
                                                        [this] { return metrics_.text(); }, log_)),
      metrics_listener_(options_.metrics_listener.address
                            ? std::make_unique<MetricsListener>(
                                  loop_, budget_, options_.metrics_listener,
                                  MetricsListener::Reports{
                                      [this] { return metrics_.text(); },
                                      [this] { return bridge::is_ready(session_, *upstream_); }},
                                  log_)
                            : nullptr),
      frontend_(make_frontend()),
      control_(
          loop_, router_, session_, *upstream_, feed_, jobs_, job_waiters_,
          ControlSources{tools_, monitor_, metrics_,
                         metrics_listener_ ? metrics_listener_->url() : std::string(),
                         frontend_ ? frontend_->urls() : std::vector<std::string>(),
                         clients_.pipes_name(), upstream_->login(), why_no_login(options_.upstream),
                         [this] { return state_report(); }, audit_log_.get(), instance_of_ring()}),
      supervisor_(loop_, supervision_, log_),
      heap_(loop_, budget_),
      upgrade_(loop_, *this, log_),
      grace_(loop_, [this] { end_shutdown(); }),
      last_moment_(loop_,
                   [this] {
                     is_over_ = true;
                     loop_.stop();
                   }),
      idle_exit_(
          loop_, options_.idle, [this] { return activity(); },
          [this] { begin_shutdown("because it was unused (--idle-exit)"); }),
      token_file_(loop_, [this](std::string_view name) { token_folder_changed(name); }),
      answers_(std::move(parsed.answers)) {
  take_policy(options_.policy, false);
  if (audit_) begin_audit();
  router_.set_control(control_);
  if (LoginDesk* const login = upstream_->login())
    login->on_login([this] { session_.logged_in(); });
  watch_token_file();
  feed_.add_readers(clients_);
  if (frontend_) {
    feed_.add_readers(*frontend_);
    show_policy_to_frontend();
    router_.set_onlookers(frontend_->onlookers());
    metrics_.add_clients("http", frontend_->counts());
  }
  metrics_.add_clients("unix", clients_.counts());
  loop_.after_turn([this] {
    if (state_) state_->end_turn();
    end_turn();
  });
  budget_.on_relief([this] { flush_.schedule(); });
  budget_.on_used_up([this] { flush_.schedule(); });
  budget_.on_release([this] { flush_.schedule(); });
}

/// Null without --http.
std::unique_ptr<HttpFrontend> Daemon::make_frontend() {
  if (!options_.frontend.is_on()) return nullptr;
  FrontendReports reports;
  reports.status = [this](const ClientIdentity& caller) {
    return control_.status_for(caller).text();
  };
  reports.metrics = [this] { return metrics_.text(); };
  reports.is_ready = [this] { return bridge::is_ready(session_, *upstream_); };
  return std::make_unique<HttpFrontend>(
      loop_, flush_, client_ids_, feed_, budget_, router_.from_clients(), log_, options_.frontend,
      std::move(reports), take_http_socket(options_.frontend, beginning_));
}

void Daemon::take_policy(std::shared_ptr<const PolicyFile> policy, bool tells) {
  if (policy == nullptr) return;
  options_.policy = std::move(policy);
  router_.take_policy(options_.policy, tells);
  control_.policy_changed();
  show_policy_to_frontend();
}

/// If it cannot be watched, a refused session is tried a minute later.
void Daemon::watch_token_file() {
  const std::filesystem::path file = options_.upstream.auth.token_file;
  if (file.empty() || !token_file_.begin()) return;
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  token_file_.add(folder, IN_CLOSE_WRITE | IN_MOVED_TO);
}

/// A volume of Kubernetes replaces all of its files by one link.
void Daemon::token_folder_changed(std::string_view name) {
  const std::filesystem::path file = options_.upstream.auth.token_file;
  if (name == file.filename().string() || name == "..data") session_.retry_refused();
}

/// Throws StartError (73) if it cannot be written, but not in an upgrade, which goes on without.
/// Null without --audit.
std::unique_ptr<AuditLog> Daemon::open_audit() {
  using Kind = AuditOptions::Kind;
  const AuditStart start = beginning_.earlier ? AuditStart::may_be_shut : AuditStart::must_open;
  std::unique_ptr<AuditOutput> output;
  switch (options_.audit.kind()) {
    case Kind::none: return nullptr;
    case Kind::journal: output = std::make_unique<AuditJournal>(start); break;
    case Kind::output: output = std::make_unique<AuditStream>(STDOUT_FILENO, start); break;
    case Kind::error: output = std::make_unique<AuditStream>(STDERR_FILENO, start); break;
    case Kind::file: {
      auto file = std::make_unique<AuditFile>(options_.audit.target, start);
      if (!beginning_.earlier) audit_unended_ = file->unended();
      output = std::move(file);
    }
  }
  return std::make_unique<AuditLog>(loop_, std::move(output), log_);
}

void Daemon::begin_audit() {
  audit_->found_begun(std::move(audit_unended_));
  audit_log_->on_another_file([this] { audit_->begin_again(); });
  router_.set_audit(*audit_);
}

/// The subscribers of /mcp/stream are not clients of the router.
void Daemon::show_policy_to_frontend() {
  const PolicyRule* const rule = router_.permissions().rule_for_http();
  if (frontend_ && rule != nullptr) frontend_->show_only(ring_filter_of(*rule));
}

/// All known values that must not be shown.
std::vector<std::string> Daemon::secrets() const {
  std::vector<std::string> secrets = upstream_->secrets();
  secrets.insert(secrets.end(), options_.secrets.begin(), options_.secrets.end());
  secrets.push_back(options_.upstream.auth.static_token);
  return secrets;
}

std::string Daemon::instance_of_ring() const {
  if (beginning_.earlier) return beginning_.earlier->process.instance;
  return state_ ? state_->instance() : random_hex(8);
}

std::optional<StateReport> Daemon::state_report() const {
  return state_ ? std::optional(state_->report()) : std::nullopt;
}

void Daemon::end_turn() {
  if (audit_log_) audit_log_->write();
  tell_state();
  if (!ending_) idle_exit_.look();
  heap_.look();
  upgrade_.look();
}

int Daemon::run() {
  const bool continues = beginning_.earlier.has_value();
  if (continues) {
    restore();
  } else {
    if (ChildUpstream* const child = local_server_of(*upstream_)) child->start();
  }
  signals_.begin();
  clients_.start();
  if (frontend_) frontend_->start();
  if (metrics_listener_) metrics_listener_->start();
  log_.event(LogLevel::info, continues ? "upgraded" : "started", "mcp-bridged {} {} {} on {}; {}",
             MCP_BRIDGE_VERSION, continues ? "continues serving" : "serves", upstream_->target(),
             clients_.socket_name(), guards_of(options_));
  if (const std::string pipes = clients_.pipes_name(); !pipes.empty())
    log_.event(LogLevel::info, "pipes", "pipes in {}", printable(pipes));
  for (const std::string& warning : options_.warnings)
    log_.event(LogLevel::warning, "options", "{}", warning);
  // With --state-dir the state tells what became of the previous daemon's jobs and notifications.
  if (!state_ && clients_.replaces_stale_socket()) {
    log_.event(LogLevel::warning, "previous daemon killed",
               "the previous daemon on {} ended without shutting down (killed, out of memory, or a "
               "crash); its jobs and notifications are lost (--state-dir keeps them)",
               clients_.socket_name());
  }
  warn_about_upstream(options_.upstream, log_);
  if (!options_.unused_upstream.empty())
    log_.event(LogLevel::warning, "unused upstream", "{}", options_.unused_upstream);
  warn_about_log(options_.log, log_);
  {
    const EventLoop::Turn turn(loop_);
    if (state_ && !continues) state_->take_up_session();
    if (audit_) audit_->end_begun();
    router_.start();
    if (metrics_file_) metrics_file_->start();
    supervisor_.ready();
  }
  if (continues) signals_.let_others_come();
  for (loop_.run(); upgrade_.is_ready() && !is_over_; loop_.run()) {
    replace();
    if (is_over_) break;
  }
  return exit_code_;
}

void Daemon::flush() {
  if (state_) state_->write();  // saved before any client is told
  clients_.flush();
  if (frontend_) frontend_->flush();
}

void Daemon::signal_came(int signal) {
  if (signal == SIGHUP) {
    if (!ending_) reload();
  } else if (signal == SIGUSR2) {
    if (ending_) return;
    supervisor_.status("Upgrading");
    upgrade_.begin();
  } else if (ending_) {
    end_at_once(signal);
  } else {
    begin_shutdown(fmt::format("after signal {}", signal));
  }
}

void Daemon::reload() {
  supervisor_.reloading();
  take_options_again();
  supervisor_.reloaded();
}

// Session and clients stay. If anything in the new options is wrong, none of them is applied.
void Daemon::take_options_again() {
  ParsedOptions parsed;
  try {
    parsed = read_again_();
  } catch (const StartError& error) {
    log_.event(LogLevel::error, "reload", "SIGHUP: nothing was changed: {}", error.what());
    return;
  }
  for (const std::string& name : unchangeable_changes(given_, parsed.given))
    log_.event(LogLevel::warning, "reload", "SIGHUP: {} changes only with a restart", name);
  const auto& policy = parsed.options.policy;
  if (options_.policy && policy && policy->path == options_.policy->path)
    take_policy(policy, policy->text != options_.policy->text);
  upstream_->reconfigure(parsed.options.upstream);
  session_.reconfigure(parsed.options.session);
  router_.reconfigure(parsed.options.router);
  jobs_.reconfigure(parsed.options.jobs);
  if (frontend_) frontend_->reload();
  if (audit_log_ && audit_log_->reopen()) audit_->begin_again();
  log_.reconfigure(parsed.options.log);
  warn_about_log(parsed.options.log, log_);
  options_.grace = parsed.options.grace;
  parsed.options.policy = options_.policy;  // another file is for the next start
  auto values = changeable_values(parsed);
  const std::string changed =
      fmt::format("{}", fmt::join(changed_names(changeable_, values), ", "));
  changeable_ = std::move(values);
  log_.event(LogLevel::info, "reload",
             "SIGHUP: token, headers and options were read again; changed: {}; {}",
             changed.empty() ? "nothing" : changed, guards_of(options_));
}

Activity Daemon::activity() const {
  const Clients& clients = router_.clients();
  const JobStore& jobs = jobs_.store();
  Activity now;
  const LoginDesk* const login = upstream_->login();
  now.is_busy = ending_ || (login != nullptr && login->is_login_pending()) ||
                router_.in_flight() > 0 || router_.queued() > 0 || router_.parked() > 0 ||
                jobs.unfinished() > 0 ||
                std::any_of(clients.begin(), clients.end(), [](const auto& entry) {
                  const Client& client = *entry.second;
                  return !client.channel.idle();
                });
  if (now.is_busy) return now;
  // A refused login can still be made, by a browser.
  const std::optional<Failure>& failure = session_.last_failure();
  now.is_of_no_use =
      !session_.shown().record().opened_at && failure && failure->kind != ErrorKind::auth;
  now.has_untaken = !is_kept() && (feed_.ring().untaken() > 0 || jobs.uncollected() > 0);
  return now;
}

/// After each turn: reports the upstream's state if it changed, except during an upgrade.
void Daemon::tell_state() {
  if (ending_ || upgrade_.has_begun() || reported_state_ == session_.state()) return;
  reported_state_ = session_.state();
  supervisor_.status(
      describe_state(*reported_state_, upstream_->target(), session_.last_failure()));
}

// Shutdown.

namespace {

/// Ending the session may take this long after the grace; then the daemon exits anyway.
constexpr std::chrono::milliseconds delete_time{2500};
/// The time beyond the grace that the service manager is asked to allow.
constexpr std::chrono::milliseconds end_timeout = 2 * delete_time;

}  // namespace

// In this order: no new clients; waiting clients are told; requests in flight get their grace
// period; the session is ended, and all clients are disconnected.
void Daemon::begin_shutdown(const std::string& why) {
  ending_ = true;
  upgrade_.cancel();
  log_.event(LogLevel::info, "ending", "ending {}: {} requests in flight have {} ms", why,
             router_.in_flight(), options_.grace.count());
  supervisor_.stopping(options_.grace + end_timeout);
  supervisor_.status(fmt::format("Ending, {} requests are in flight", router_.in_flight()));
  clients_.stop_accepting();
  if (frontend_) frontend_->stop_accepting();
  if (metrics_listener_) metrics_listener_->stop_accepting();
  if (is_kept()) jobs_.leave_unfinished();
  router_.begin_shutdown();
  if (!router_.has_requests_in_flight()) {
    end_shutdown();
    return;
  }
  router_.on_idle([this] { grace_.set(loop_.now()); });
  grace_.set_after(options_.grace);
}

void Daemon::end_shutdown() {
  if (state_) state_->begin_end();
  router_.end_shutdown(is_kept());
  jobs_.settle();
  control_.answer_waiting();
  tools_.settle();
  last_moment_.set_after(delete_time);
  if (state_ && state_->keeps_session()) upstream_->keep_session();
  session_.end([this] { leave(); });
}

void Daemon::leave() {
  clients_.flush();
  clients_.close_all();
  if (frontend_) frontend_->close_all();
  if (metrics_listener_) metrics_listener_->close_all();
  if (const std::size_t untaken = feed_.ring().untaken(); untaken > 0 && is_kept()) {
    log_.event(LogLevel::info, "notifications kept",
               "{} notifications were not taken by any client and are kept in {}", untaken,
               options_.state.folder);
  } else if (untaken > 0 && !router_.from_clients().served_only_modern()) {
    log_.event(LogLevel::warning, "notifications lost",
               "{} notifications were not taken by any client and are lost", untaken);
  }
  if (const std::size_t lost = jobs_.store().uncollected(); lost > 0 && !is_kept()) {
    log_.event(LogLevel::warning, "jobs lost", "{} ended jobs were not collected and are lost",
               lost);
  }
  if (audit_) audit_->end_all(is_kept());
  if (state_) state_->end();
  log_.event(LogLevel::info, "ended", "ended");
  is_over_ = true;
  loop_.stop();
}

void Daemon::end_at_once(int signal) {
  exit_code_ = 128 + signal;
  if (audit_) audit_->end_all(is_kept());
  is_over_ = true;
  loop_.stop();
}

}  // namespace bridge
