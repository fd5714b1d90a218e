#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit_log.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "jobs/job_store.hpp"
#include "router/router.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class Exposition;

/// Collects the counters of all parts into the Prometheus text (BEHAVIOUR, "Logs and metrics").
/// Keeps nothing, and costs nothing until it is asked.
///
/// Owned by the daemon, after the parts it reads; the loop's thread only. Every sample has the
/// label `socket`, so that the files of several daemons can stand side by side.
class Metrics {
 public:
  /// `state_report`: nullopt without a state. `audit`: null if there is none.
  Metrics(const EventLoop& loop, const Router& router, const Session& session,
          const Upstream& upstream, NotificationFeed& feed, const JobStore& jobs,
          const ByteBudget& budget, const Log& log, std::string socket,
          std::function<std::optional<StateReport>()> state_report, const AuditLog* audit);

  /// Adds another transport of clients; `kind` is that of its ClientIdentity. Both outlive the last
  /// text().
  void add_clients(std::string kind, const ClientCounts& counts) {
    transports_.emplace_back(std::move(kind), &counts);
  }

  std::string text() const;

 private:
  void add_process(Exposition& out) const;
  void add_upstream(Exposition& out) const;
  void add_login(Exposition& out) const;
  void add_session(Exposition& out) const;
  void add_clients_of_all(Exposition& out) const;
  void add_requests(Exposition& out) const;
  void add_latency(Exposition& out) const;
  void add_ring(Exposition& out) const;
  void add_state(Exposition& out) const;
  void add_jobs(Exposition& out) const;
  void add_anomalies(Exposition& out) const;

  const EventLoop& loop_;
  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  NotificationFeed& feed_;
  const JobStore& jobs_;
  const ByteBudget& budget_;
  const Log& log_;
  std::string socket_;
  WallTime started_;
  const std::function<std::optional<StateReport>()> state_report_;
  const AuditLog* const audit_;
  std::vector<std::pair<std::string, const ClientCounts*>> transports_;
};

/// Writes `text` to `path` atomically: to a file beside it, mode 0644, renamed onto it. Returns
/// what failed; empty: nothing.
std::string replace_file(const std::string& path, const std::string& text);

/// --metrics-file: writes the metrics for a textfile collector, at once and then every 15 s. At an
/// orderly end the file is removed, so that its last figures are not taken for current ones.
///
/// Owned by the daemon, only if the option is set; the loop's thread only. A failed write is logged
/// and retried with the next one.
class MetricsFile {
 public:
  static constexpr std::chrono::seconds interval{15};

  MetricsFile(EventLoop& loop, std::string path, std::function<std::string()> text, Log& log);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void start() { write(); }

 private:
  void write();

  std::string path_;
  std::function<std::string()> text_;
  Log& log_;
  DeadlineTimer timer_;
  bool written_ = false;
};

}  // namespace bridge
