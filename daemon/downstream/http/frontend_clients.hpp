#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "downstream/http/downstream_session.hpp"
#include "downstream/http/frontend_context.hpp"
#include "downstream/http/lone_post.hpp"
#include "http/server/http_server.hpp"

namespace bridge {

/// The frontend's clients: its sessions, and the POSTs outside of them; when each ends, and which
/// gives way to others.
///
/// Owned by the frontend; the loop's thread only. Bounds: --http-max-sessions; with --max-buffered
/// used up, the client that holds most ends. One timer (sweep()) serves all deadlines.
class FrontendClients {
 public:
  using Sessions = std::map<std::string, std::unique_ptr<DownstreamSession>, std::less<>>;

  FrontendClients(FrontendContext& context, HttpServer& server);

  /// Without a kind: of any kind. Null also for a session of another user, or with another grant.
  DownstreamSession* find_session(const ClientIdentity& caller, const std::string& name,
                                  std::optional<DownstreamSession::Kind> kind = std::nullopt);
  /// Null at the limit of sessions.
  DownstreamSession* add_session(DownstreamSession::Kind kind, const ClientIdentity& caller,
                                 std::string agent);
  /// A session of the previous process.
  DownstreamSession& restore_session(DownstreamSession::Saved saved);
  LonePost& add_post(LonePost::Leaving leaving, const ClientIdentity& caller, std::string agent);
  const Sessions& sessions() const { return sessions_; }
  /// Ends each POST and each session's stream.
  void close_all(std::string_view last_comment);
  /// The same, but what can be resumed is kept, without its callers. Returns the POSTs that wait
  /// for a body, whose connections the next process gets.
  std::vector<const SessionPost*> close_for_upgrade(std::string_view last_comment);
  /// Streams that callers have opened, without the fan-out's.
  std::size_t open_streams() const;
  /// Bytes queued for sessions while no connection carries their streams.
  std::size_t unfetched_bytes() const;
  void ring_grew();
  void acknowledge_read();
  /// Called at the end of each turn that has written something.
  void note_budget();

  // Called by them.
  /// Requires a sweep at that time at the latest.
  void sweep_by(SteadyTime time) { sweep_timer_.set_at_latest(time); }
  /// It has ended, and is reaped.
  void session_over(const DownstreamSession& session);
  void post_over(const LonePost& post);

 private:
  std::vector<Post*> posts() const;
  void sweep();
  void end_in_time(DownstreamSession& session, SessionEnd why);
  void drop_kept_events();
  std::optional<SteadyTime> make_room(SteadyTime now);
  bool end_longest_unused();

  FrontendContext& context_;
  HttpServer& server_;
  DeadlineTimer sweep_timer_;
  std::optional<SteadyTime> budget_used_up_since_;  ///< none: it is not used up
  Sessions sessions_;
  std::map<ClientId, std::unique_ptr<LonePost>> lone_posts_;
};

}  // namespace bridge
