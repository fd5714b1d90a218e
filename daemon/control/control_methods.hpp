#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "audit/audit_log.hpp"
#include "auth/login_desk.hpp"
#include "control/grant_methods.hpp"
#include "control/metrics.hpp"
#include "control/monitor.hpp"
#include "control/ring_methods.hpp"
#include "control/tool_lookup.hpp"
#include "jobs/job_methods.hpp"
#include "json/json_object.hpp"
#include "policy/policy.hpp"
#include "router/control.hpp"
#include "router/router.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Answers `bridge/login` and `bridge/logout` (BEHAVIOUR, "Control methods: bridge/login,
/// bridge/logout").
///
/// The loop's thread only; owned by ControlMethods.
class LoginMethods {
 public:
  /// `login` is null if a login is impossible; `why_not` says why.
  LoginMethods(LoginDesk* login, std::string why_not)
      : login_(login), why_not_(std::move(why_not)) {}

  void log_in(const Frame& request, Control::Reply reply);
  void log_out(const Frame& request, Control::Reply reply);
  /// nullopt if a login is impossible.
  std::optional<JsonObject> status(const Session& session) const;

 private:
  /// Whether a login is possible; if not, `reply` says why.
  bool can_log_in(const Frame& request, const Control::Reply& reply) const;

  LoginDesk* const login_;
  const std::string why_not_;
};

/// What ControlMethods shows or asks besides the router and the session.
struct ControlSources {
  ToolLookup& tools;
  Monitor& monitor;
  const Metrics& metrics;
  std::string metrics_url;             ///< where they are served without a token; empty: not served
  std::vector<std::string> http_urls;  ///< of the HTTP frontend
  std::string pipes;                   ///< their folder; empty: there is none
  LoginDesk* login;                    ///< null: a login is impossible...
  std::string why_no_login;            ///< ...for this reason
  std::function<std::optional<StateReport>()> state_report;  ///< nullopt: without a state
  const AuditLog* audit;                                     ///< null: there is none
  std::string instance;  ///< the name under which the ring continues after a restart, if it does
};

/// Answers `bridge/…` requests (BEHAVIOUR, "Control methods"). Owned by the daemon, after the parts
/// that it reads; the loop's thread only.
class ControlMethods final : public Control {
 public:
  ControlMethods(EventLoop& loop, const Router& router, const Session& session,
                 const Upstream& upstream, NotificationFeed& feed, JobRunner& jobs,
                 JobWaiters& collectors, ControlSources sources);

  const std::string& instance() const { return sources_.instance; }

  ControlFacts facts_of(std::string_view method) const override;
  void answer(const Frame& request, Client& asker, Reply reply) override;
  std::string keep_for_later(const Frame& request, Client& asker, const Reply& reply) override {
    return job_methods_.keep_for_later(request, asker, reply);
  }
  bool list_tools(Reply done) override;
  bool cancel(const Client& asker, std::string_view raw_id) override {
    return job_waiters_.cancel(asker, raw_id) || ring_methods_.cancel(asker, raw_id);
  }
  void client_can_be_asked(const Client& client) override {
    job_waiters_.client_can_be_asked(client);
  }
  void client_half_closed(const Client& client) override {
    job_waiters_.client_half_closed(client);
  }
  void client_drained(Client& client) override {
    job_waiters_.client_drained(client);
    ring_methods_.client_drained(client);
  }
  void client_left(const Client& client) override {
    job_waiters_.client_left(client);
    ring_methods_.client_left(client);
  }
  /// The daemon ends or is upgraded: answers all requests that wait.
  void answer_waiting() {
    job_waiters_.tell_all();
    ring_methods_.answer_waiting();
  }
  /// Clients may be shown other notifications.
  void policy_changed() { ring_methods_.policy_changed(); }
  /// The rows of the table in BEHAVIOUR, "Control methods".
  static std::string documented();
  /// The part of the status that this caller of the HTTP frontend gets.
  JsonObject status_for(const ClientIdentity& caller) const;

 private:
  struct Method;

  /// The handler of a jobs method that is answered at once.
  template <auto method>
  static void answer_of_job(ControlMethods& self, const Frame& request, Client& asker,
                            Reply&& reply) {
    reply((self.job_methods_.*method)(request, asker));
  }

  /// The same of a method of grants.
  template <auto method>
  static void answer_of_grant(ControlMethods& self, const Frame& request, Client& asker,
                              Reply&& reply) {
    reply((self.grants_.*method)(request, asker));
  }

  static std::span<const Method> methods();
  static const Method* find(std::string_view name);
  std::string unknown_method(const Frame& request) const;
  JsonObject status_for(const Client& asker) const;
  JsonObject status(const PolicyRule* rule, std::optional<ClientId> asker) const;
  JsonObject upstream_status() const;
  JsonObject ring_status() const;
  JsonArray clients_status(const PolicyRule* rule, std::optional<ClientId> asker) const;
  JsonObject requests_status() const;
  JsonObject jobs_status() const;

  const EventLoop& loop_;
  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  NotificationFeed& feed_;
  const JobStore& jobs_;
  JobWaiters& job_waiters_;
  JobMethods job_methods_;
  GrantMethods grants_;
  const ControlSources sources_;
  LoginMethods logins_;
  RingMethods ring_methods_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace bridge
