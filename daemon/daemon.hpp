#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_log.hpp"
#include "base/byte_budget.hpp"
#include "control/control_methods.hpp"
#include "control/metrics.hpp"
#include "control/metrics_listener.hpp"
#include "control/monitor.hpp"
#include "control/supervisor.hpp"
#include "control/tool_lookup.hpp"
#include "daemon_snapshot.hpp"
#include "daemon_state.hpp"
#include "downstream/http/http_frontend.hpp"
#include "downstream/unix/unix_clients.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "event/path_watch.hpp"
#include "jobs/job_runner.hpp"
#include "jobs/job_waiters.hpp"
#include "notifications/notification_feed.hpp"
#include "options/options.hpp"
#include "process/process_start.hpp"
#include "process/resources.hpp"
#include "router/audit_trail.hpp"
#include "router/router.hpp"
#include "router/router_upgrade.hpp"
#include "session/session.hpp"
#include "state/upgrade.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// How this process was started.
struct Beginning {
  const ProcessStart& process;              ///< outlives the daemon
  std::string program;                      ///< the path as given at the start
  std::optional<DaemonSnapshot> earlier{};  ///< from the previous process, in an upgrade
  PassedSockets passed{};                   ///< by the service manager
};

/// Owns all parts, in the order of their dependencies: a later part may refer to earlier ones, and
/// is destroyed before them. One thread runs everything.
class Daemon final : private Upgradable {
 public:
  /// Reads the options again as at the start; throws StartError.
  using ReadOptions = std::function<ParsedOptions()>;

  /// Binds the socket; throws StartError if that fails.
  Daemon(ParsedOptions parsed, ReadOptions read_again, Beginning beginning, Log& log);

  /// Serves until a signal ends it. Returns the exit code.
  int run();

 private:
  void signal_came(int signal);
  void reload();
  void take_options_again();
  void take_policy(std::shared_ptr<const PolicyFile> policy, bool tells);
  void show_policy_to_frontend();
  void watch_token_file();
  void token_folder_changed(std::string_view name);
  std::unique_ptr<HttpFrontend> make_frontend();
  std::unique_ptr<AuditLog> open_audit();
  void begin_audit();
  std::string instance_of_ring() const;
  std::optional<StateReport> state_report() const;
  void flush();
  std::vector<std::string> secrets() const;
  void end_turn();
  bool is_kept() const { return state_ && state_->report().durable; }
  void tell_state();
  Activity activity() const;
  void begin_shutdown(const std::string& why);
  void end_shutdown();
  void leave();
  void end_at_once(int signal);

  // An upgrade: daemon_upgrade.cpp.
  void restore();
  void restore_clients(DaemonSnapshot& snapshot);
  DaemonSnapshot snapshot();
  ProcessSnapshot process_snapshot() const;
  void save_session(DaemonSnapshot& snapshot);
  void save_messages(DaemonSnapshot& snapshot);
  void replace();
  UpgradeOrder order_upgrade() override;
  void pause() override;
  bool is_quiet() const override;
  void end_unfinished() override;
  void resume() override;
  void upgrade_failed(const std::string& why) override;
  void stop_for_upgrade() override { loop_.stop(); }
  std::chrono::milliseconds grace() const override { return options_.grace; }

  std::map<std::string, std::string> changeable_;  ///< values of options as now applied; secret
  Options options_;
  std::map<std::string, std::string> given_;
  ReadOptions read_again_;
  Beginning beginning_;
  const Supervision supervision_;
  Log& log_;
  EventLoop loop_;
  Deferred flush_;  ///< writes data queued for clients
  ByteBudget budget_;
  NotificationFeed feed_;
  UpstreamIdSource ids_;
  ClientIdSource client_ids_;
  std::unique_ptr<Upstream> upstream_;
  Session session_;
  Router router_;
  RouterUpgrade router_upgrade_;
  JobRunner jobs_;
  JobWaiters job_waiters_;
  ToolLookup tools_;
  Monitor monitor_;
  std::unique_ptr<DaemonState> state_;  ///< null without --state-dir
  SignalWatch signals_;  ///< before the socket appears: its users may send a signal at once
  UnixClients clients_;
  // After the socket: it shows that no other daemon writes these.
  std::vector<std::string> audit_unended_;  ///< found in the file of --audit
  std::unique_ptr<AuditLog> audit_log_;     ///< null without --audit
  std::unique_ptr<AuditTrail> audit_;       ///< likewise
  Metrics metrics_;
  std::unique_ptr<MetricsFile> metrics_file_;          ///< --metrics-file
  std::unique_ptr<MetricsListener> metrics_listener_;  ///< --metrics-listen
  std::unique_ptr<HttpFrontend> frontend_;             ///< null without --http
  ControlMethods control_;
  Supervisor supervisor_;
  HeapTrimmer heap_;
  Upgrade upgrade_;
  std::optional<Session::State> reported_state_;  ///< to the service manager
  DeadlineTimer grace_;
  DeadlineTimer last_moment_;
  IdleExit idle_exit_;
  PathWatch token_file_;                        ///< the folder of --token-file
  std::map<std::string, std::string> answers_;  ///< given on the terminal; secret
  bool ending_ = false;
  bool is_over_ = false;  ///< the loop is not to run again
  int exit_code_ = 0;
};

}  // namespace bridge
