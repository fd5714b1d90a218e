#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/session_post.hpp"
#include "downstream/http/session_stream.hpp"

namespace bridge {

class HttpServer;

/// A session id that cannot be guessed: 128 bits from the kernel, 32 hexadecimal digits (MCP,
/// "Session Management": visible ASCII, cryptographically secure).
std::string make_session_name();

/// What the end of a downstream session is decided by.
struct SessionUse {
  bool has_stream = false;  ///< a connection carries its stream
  bool is_asked = false;    ///< it has unanswered requests
  bool over_limit = false;  ///< unread responses exceed --client-buffer: its requests are paused
  SteadyTime last_used{};   ///< its client was connected, or one of its requests was answered
  /// When the client last took bytes of the unread responses, or had a connection open for them.
  SteadyTime last_taken{};
};

struct SessionTimeouts {
  std::chrono::milliseconds idle;   ///< --http-session-idle
  std::chrono::milliseconds stall;  ///< --client-stall
};

enum class SessionEnd {
  idle,     ///< unused for --http-session-idle
  stalled,  ///< over --client-buffer, and nothing is taken for --client-stall, as for any client
};

struct SessionDue {
  SteadyTime time;
  SessionEnd why;
};

/// When the session ends if nothing happens. Pure. nullopt: another part's deadline applies. An
/// open stream belongs to its connection, which takes what is unsent within --client-stall or ends;
/// an unanswered request has its own deadline, which no pause suspends (MessageClock).
inline std::optional<SessionDue> end_of_session(const SessionUse& use,
                                                const SessionTimeouts& timeouts) {
  if (use.over_limit) return SessionDue{use.last_taken + timeouts.stall, SessionEnd::stalled};
  if (use.has_stream || use.is_asked) return std::nullopt;
  return SessionDue{use.last_used + timeouts.idle, SessionEnd::idle};
}

/// One downstream session of the frontend; a client like any other to the router. Each message goes
/// to exactly one place: a response to the POST that asked, or to the session's stream if that POST
/// was answered 202 or its connection broke; a message about a request takes the same way, but is
/// dropped if the caller takes no stream; everything else goes to the session's stream.
///
/// Owned by the frontend, known to the router until its end. Owns its POSTs. The loop's
/// thread only. Memory: the queue of its stream (over --client-buffer the router pauses), and
/// --http-stream-buffer for resumption.
class DownstreamSession final : public ClientChannel {
 public:
  enum class Kind {
    streamable,  ///< Streamable HTTP
    old_sse,     ///< HTTP+SSE of 2024-11-05: everything on one stream; the session ends with it
  };

  /// `agent` is the client's User-Agent, printable. The frontend announces it to the router.
  DownstreamSession(FrontendContext& context, Kind kind, std::string name, std::string agent,
                    ClientIdentity identity);

  /// For an upgrade.
  struct Saved {
    std::string name;
    std::string agent;
    ClientId client{};
    SteadyTime connected{};
    SteadyTime last_used{};
    EventStore::Saved store;
    SessionStream::Saved stream;
    IdSet later;  ///< ids whose responses go to the session's stream
    std::vector<SessionPost::Saved> posts;
    std::string remote;
    std::string kind = "http";
    pid_t pid = 0;
    Peer peer;  ///< of a caller of the Unix socket
    std::optional<GrantHold> grant;
    bool is_anonymous = false;

    ClientIdentity identity() const;

    template <class A>
    void each_field(A& archive) {
      archive(name, agent, client, connected, last_used, store, stream, later, posts, remote, kind,
              pid, peer, grant, is_anonymous);
    }
  };
  /// A session of the previous process, known to the router. REQUIRES: its kind was streamable.
  DownstreamSession(FrontendContext& context, Saved saved, HttpServer& server);
  Saved save() const;
  /// Whether the new process resumes the session, or this request of it.
  bool survives_upgrade(std::string_view request_id) const;

  /// Ends the session with this turn: the router and its callers are told, and it is reaped.
  void end();
  bool is_over() const { return life_ != Life::open; }

  const std::string& name() const { return name_; }
  Kind kind() const { return kind_; }
  SessionStream& stream() { return stream_; }
  EventStore& store() { return store_; }

  /// Begins a POST whose responses a caller waits for.
  void begin_post(HttpConnection& connection, Post::Asked asked);
  const std::vector<std::unique_ptr<SessionPost>>& posts() const { return posts_; }
  /// The POST whose stream has that number; null if there is none.
  SessionPost* post_of_stream(std::uint64_t number);
  /// Whether a request with that id is being answered.
  bool awaits(std::string_view raw_id) const;
  /// The id of the `initialize` that opens the session: an error as its response ends the session.
  void opens_with(std::string raw_id) { opening_id_ = std::move(raw_id); }
  /// The response to this request goes to the session's stream.
  void expect_later(std::string raw_id) { later_.insert(std::move(raw_id)); }
  /// Bytes queued for its stream and its POSTs.
  std::size_t queued_bytes() const;

  /// A stream on which the client can be asked was opened.
  void can_be_asked_now();
  void used() { last_used_ = context_.loop.now(); }
  SteadyTime last_used() const { return last_used_; }
  /// Ends its stream if that is quiet (--sse-idle), unless responses can only be sent on it.
  /// Returns when to check again.
  std::optional<SteadyTime> end_quiet_stream(SteadyTime now);
  /// Whether nothing of it is open or under way.
  bool is_unused() const;
  /// When and why it ends if nothing happens; nullopt while another part's deadline applies.
  std::optional<SessionDue> due() const;

  // Called by its POSTs and its stream.
  /// The number of undelivered bytes has changed.
  void load_changed();
  /// Cancels a request whose caller was answered with an error.
  void cancel(const std::string& raw_id);
  /// The POST was answered, or given up: to be reaped.
  void post_over(SessionPost& post);
  /// A connection carries its stream now, or no longer.
  void stream_changed(bool is_open);

  void send(Delivery delivery) override;
  void no_answer(std::string_view request_id) override;
  ChannelReach reach(std::string_view request_id) const override {
    return {can_be_asked(request_id), survives_upgrade(request_id)};
  }
  void set_feed(RingFeed feed) override { stream_.set_feed(feed); }
  void show_only(std::shared_ptr<const RingFilter> filter) override {
    stream_.show_only(std::move(filter));
  }
  void note_lost(std::uint64_t entries) override;
  void grant_ended() override;
  void finish() override;
  bool congested() const override { return congested_; }
  ChannelState state() const override;
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override {
    return FrontendContext::command_of_caller(identity_, agent_);
  }

 private:
  enum class Life {
    open,
    ended,     ///< ends with this turn
    finished,  ///< the router no longer knows it
  };

  SessionPost* post_for(std::string_view raw_id) const;
  void send_message(std::string frame);
  void send_about(std::string_view request_id, std::string frame);
  void answer(Delivery response);
  bool can_be_asked(std::string_view request_id) const;
  bool take_expected_later(std::string_view request_id);
  void sweep_when_due();
  void leave();

  FrontendContext& context_;
  Kind kind_;
  std::string name_;
  std::string agent_;
  std::string opening_id_;  ///< until it is answered
  ClientIdentity identity_;
  EventStore store_;
  ByteBudget::Share share_;
  std::vector<std::unique_ptr<SessionPost>> posts_;  ///< under way
  IdSet later_;
  SteadyTime last_used_;
  SteadyTime last_taken_{};  ///< see SessionUse; the connections of its streams count too
  Life life_ = Life::open;
  bool congested_ = false;
  bool grant_ended_ = false;  ///< ends once nothing is under way
  Deferred leaving_;
  SessionStream stream_;
};

}  // namespace bridge
