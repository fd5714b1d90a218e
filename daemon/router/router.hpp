#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/deadline_timer.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client.hpp"
#include "router/client_channel.hpp"
#include "router/departed_notifications.hpp"
#include "router/pending_requests.hpp"
#include "router/request_onlookers.hpp"
#include "router/server_requests.hpp"
#include "router/statistics.hpp"
#include "router/subscriptions.hpp"
#include "session/session.hpp"

namespace bridge {

enum class Handshake { lazy, client, eager };
enum class Orphans { cancel, finish };

struct RouterOptions {
  Handshake handshake = Handshake::lazy;
  Orphans orphans = Orphans::finish;
  std::size_t client_inflight = 64;  ///< requests of one client at a time
  std::size_t max_inflight = 256;    ///< requests of all clients at a time
  std::size_t client_buffer = 16u << 20;
  std::size_t max_frame = 8u << 20;
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds park_requests{30000};
  bool sequential = false;      ///< --max-clients 1: one client after the other
  bool control = true;          ///< answer `bridge/*`
  bool own_initialize = false;  ///< --client-capabilities: the bridge opens the session itself
};

/// Whose frame is this, and what waits for whom (BEHAVIOUR, "Routing"). It knows no socket and no
/// HTTP.
///
/// Owned by the daemon; the loop's thread only. Memory: each client's waiting frames
/// (--client-buffer), the table of requests in flight (--max-inflight), and the upstream's own
/// requests (ServerRequests).
class Router final : public ClientEvents, public SessionEvents {
 public:
  Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
         ByteBudget& budget, Log& log, RouterOptions options);

  /// --handshake eager.
  void start();
  /// SIGHUP: takes the times and what becomes of orphans.
  void reconfigure(const RouterOptions& options);
  /// The daemon is ending: waiting frames are answered, requests in flight go on.
  void begin_shutdown();
  /// The grace is over: requests in flight are answered too.
  void end_shutdown();
  bool has_requests_in_flight() const { return pending_.size() > 0; }
  /// Called when the last request in flight has ended; used while shutting down.
  void on_idle(std::function<void()> idle) { on_idle_ = std::move(idle); }

  // Clients' side.
  void client_connected(ClientChannel& channel) override;
  void client_line(ClientId client, std::string line) override;
  void client_message(ClientId client, Frame message) override;
  void client_oversized_line(ClientId client) override;
  void client_half_closed(ClientId client) override;
  void client_left(ClientId client) override;
  void client_congestion(ClientId client, bool congested) override;
  void client_can_be_asked(ClientId client) override;
  std::size_t waiting_bytes(ClientId client) const override;

  // Upstream's side.
  void session_open() override;
  void session_closed() override;
  void session_away() override;
  void session_failed(const Failure& failure) override;
  void session_refused(const Failure& failure) override;
  std::optional<UpstreamId> session_message(std::optional<UpstreamId> origin, Frame frame) override;
  void session_malformed(std::optional<UpstreamId> origin, std::string_view reason) override;
  void session_ended(UpstreamId id, Ending ending) override;
  bool frames_wait() const override;
  bool wants_session() const override;
  std::vector<Restorable> state_to_restore() const override;
  void session_replaced(const std::vector<std::string>& list_changes) override;

  // For the control methods.
  const Statistics& statistics() const { return statistics_; }
  const std::map<ClientId, std::unique_ptr<Client>>& clients() const { return clients_; }
  std::size_t in_flight() const { return pending_.size(); }
  std::size_t parked() const { return server_requests_.parked(); }
  std::size_t queued() const;

  /// Answers the control methods; set once.
  class Control {
   public:
    /// The whole answer to a `bridge/…` request.
    virtual std::string answer(const Frame& request) = 0;

   protected:
    ~Control() = default;
  };
  void set_control(Control& control) { control_ = &control; }
  /// Who sees the upstream's requests as well; set once, may be left out.
  void set_onlookers(RequestOnlookers& onlookers) { onlookers_ = &onlookers; }

 private:
  // Frames from clients: router_clients.cpp.
  Client* find(ClientId id);
  /// Visits every client; the visit may end that one or others.
  template <class Visit>
  void each_client(Visit&& visit) {
    std::vector<ClientId> ids;
    ids.reserve(clients_.size());
    for (const auto& [id, client] : clients_) ids.push_back(id);
    for (const ClientId id : ids) {
      if (Client* client = find(id)) visit(*client);
    }
  }
  void client_text(Client& client, std::string bytes);
  void take_message(Client& client, Frame frame);
  void note_kind(Client& client, const Frame& frame);
  void client_request(Client& client, Frame frame);
  void client_notification(Client& client, Frame frame);
  void client_declares(Client& client, const Frame& frame);
  void client_answer(Client& client, Frame frame);
  void client_cancels(Client& client, Frame frame);
  void control_request(Client& client, Frame frame);
  void answer_control(Client& client, const Frame& frame);
  void answer_waiting_control(Client& client);
  void reply_invalid(Client& client, int code, std::string_view reason);
  void refuse_kind(Client& client, const Frame& frame, std::string_view reason);
  void enqueue(Client& client, Frame frame);
  void drop_client(Client& client);
  void finish_if_done(Client& client);

  // What may go upstream now: router_dispatch.cpp.
  void pump(Client& client);
  void pump_all();
  bool start_front(Client& client);
  bool start_initialize(Client& client);
  bool start_without_session(Client& client);
  bool start_request(Client& client);
  void start_notification(Client& client, WaitingFrame waiting);
  UpstreamId send_notification(std::string body);
  void keep_notifications_of(Client& client);
  void send_next_of(DepartedNotifications::OrphanedQueue& orphaned);
  void notification_ended(UpstreamId id);
  void stop_waiting_for_notifications();
  void pass_slots_on();
  bool has_turn(const Client& client) const;
  void give_turn();
  void expire_waiting();
  void fail_waiting(Client& client, const Failure& failure);
  static Failure shutdown_failure(Delivered delivered);
  void cancel_upstream(UpstreamId id, std::string_view reason);
  std::optional<PendingRequest> end_pending(UpstreamId id);
  void after_pending(const PendingRequest& ended);

  // How requests end, in the statistics and in the log: router_log.cpp.
  void note_trace(PendingRequest& request, const Frame& frame);
  static LogFields fields_of(UpstreamId id, const PendingRequest& request);
  void log_started(UpstreamId id, const PendingRequest& request);
  void note_end(UpstreamId id, const PendingRequest& request, Outcome outcome);
  void reply_failure(Client& client, std::string_view method, std::string_view raw_id,
                     const Failure& failure);

  // Frames from upstream: router_upstream.cpp.
  std::optional<UpstreamId> upstream_answer(std::optional<UpstreamId> origin, Frame frame);
  void upstream_notification(std::optional<UpstreamId> origin, Frame frame);
  void publish(std::string message, std::string_view method, std::string coalesce_key);
  void upstream_progress(Frame frame);
  void upstream_cancels(Frame frame);
  void remember_effect(const PendingRequest& request, const Frame& answer);

  // The upstream's requests: router_server_requests.cpp.
  void upstream_request(std::optional<UpstreamId> origin, Frame frame);
  bool can_answer(const Client& client, const ServerRequest& request) const;
  std::string_view id_at_owner(const ServerRequest& request) const;
  bool somebody_is_connected() const;
  Client* choose_client(const ServerRequest& request);
  void ask(Client& client, ServerRequest& request);
  bool pass_on(ServerRequest& request);
  void withdraw(ServerRequest& request, std::string_view reason);
  void park(ServerRequest& request);
  void offer_parked();
  void expire_parked();
  void refuse_upstream(std::string_view raw_id, int code, std::string_view message);
  void answer_upstream(std::string body);
  void release_server_requests(Client& client);
  void drop_server_requests_of(UpstreamId origin);
  void drop_server_requests_of_session();

  EventLoop& loop_;
  UpstreamIdSource& ids_;
  Session& session_;
  NotificationFeed& feed_;
  ByteBudget& budget_;
  Log& log_;
  RouterOptions options_;
  Control* control_ = nullptr;
  RequestOnlookers* onlookers_ = nullptr;

  std::map<ClientId, std::unique_ptr<Client>> clients_;  ///< in the order of connecting
  PendingRequests pending_;
  ServerRequests server_requests_;
  DepartedNotifications departed_;
  Subscriptions subscriptions_;
  std::string log_level_params_;    ///< of the last accepted logging/setLevel
  std::optional<ClientId> served_;  ///< --max-clients 1: whose it is
  std::deque<ClientId> slot_queue_;
  std::size_t slots_used_ = 0;
  Statistics statistics_;
  SteadyTime not_open_since_{};
  DeadlineTimer expiry_;
  DeadlineTimer parking_;
  DeadlineTimer handing_over_;  ///< set while a client's notification is under way
  std::function<void()> on_idle_;
  bool shutting_down_ = false;
};

}  // namespace bridge
