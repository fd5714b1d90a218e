#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "grant/grant.hpp"
#include "json/frame.hpp"
#include "mcp/tool_headers.hpp"
#include "notifications/ring.hpp"
#include "policy/peer.hpp"

namespace bridge {

/// The peer of a connection, as far as the transport knows it.
struct ClientIdentity {
  ClientId id{};
  std::string kind;  ///< "unix" or "http"
  pid_t pid = 0;     ///< 0: in another pid namespace, or unknown
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};  ///< the supplementary ones, if a policy needs them
  std::string remote{};         ///< address of a caller of the HTTP frontend; empty: unknown
  std::chrono::steady_clock::time_point connected;
  bool is_anonymous = false;         ///< neither the kernel nor a token nor a grant says who it is
  std::optional<GrantHold> grant{};  ///< with which it came, over HTTP

  bool is_http() const { return kind.starts_with("http"); }
  User user() const { return kind == "http" ? User{true, 0} : User{false, uid}; }

  template <class A>
  void each_field(A& archive) {
    archive(id, kind, pid, uid, archive.not_saved(gid), archive.not_saved(groups), remote,
            connected, archive.not_saved(is_anonymous), archive.not_saved(grant));
  }

  Peer peer() const { return {kind == "http", uid, gid, groups}; }
};

/// Counters of a transport's clients for the metrics, since the daemon's start.
struct ClientCounts : ByteCounts {
  std::uint64_t connected = 0;
  std::uint64_t refused = 0;             ///< not allowed to connect
  std::uint64_t stalled = 0;             ///< disconnected because they read nothing
  std::uint64_t lost_notifications = 0;  ///< pushed out of the ring before the client read them
};

/// How the ring feeds a client (BEHAVIOUR, "Ring: what takes nothing").
enum class RingFeed {
  takes,  ///< fed; what it has read counts as taken
  reads,  ///< fed, but takes nothing
  none,   ///< not fed
};
constexpr RingFeed last_of(RingFeed) { return RingFeed::none; }

enum class AnswerOrder {
  in_order,  ///< after everything that arrived before
  ahead,     ///< before everything that is not being written yet
};

/// A frame for a client.
struct Delivery {
  enum class Kind : std::uint8_t {
    message,   ///< unrelated to the client's requests
    about,     ///< about a request, before its response: progress, a question of the upstream
    entry,     ///< a ring entry for its `subscriptions/listen`; taken once the client has read it
    response,  ///< the end of a request
  };
  Kind kind;
  std::string frame{};            ///< without a newline
  std::string_view request_id{};  ///< raw JSON, as the client wrote it; empty for a `message`
  AnswerOrder order = AnswerOrder::in_order;  ///< for a `response`
  Sequence entry{};                           ///< for an `entry`
};

/// Properties of one request of a client, or with an empty id of its connection.
struct ChannelReach {
  bool can_be_asked = true;       ///< a question of the upstream would reach the client now
  bool survives_upgrade = false;  ///< the new process resumes it
};

/// The state of a client's channel.
struct ChannelState {
  std::size_t queued_bytes = 0;
  bool is_idle = false;          ///< no connection is open, and nothing is pending
  bool answers_unasked = false;  ///< may answer a question shown to all clients (--http-fanout all)
};

/// The router's interface to one client, implemented by each client transport.
///
/// Owned by the transport; valid from ClientEvents::client_connected until client_left or finish().
/// No call fails, writes at once (queued frames go out at the end of the round), or calls
/// client_left(), which would end the client within the router's call.
class ClientChannel {
 public:
  /// Queues a frame behind everything that arrived before it, ring entries included, or, with
  /// AnswerOrder::ahead, before everything that is not being written. A transport that answers each
  /// request where it was sent uses the request's id.
  virtual void send(Delivery delivery) = 0;
  /// The client has cancelled the request: no response follows.
  virtual void no_answer(std::string_view request_id) { static_cast<void>(request_id); }
  virtual ChannelReach reach(std::string_view request_id) const = 0;

  /// Stops or resumes reading from the client; frames already read are still delivered. False if
  /// the transport cannot.
  virtual bool pause_input(bool paused) {
    static_cast<void>(paused);
    return false;
  }

  virtual void set_feed(RingFeed feed) = 0;
  /// Limits the ring entries that the client gets; null: all.
  virtual void show_only(std::shared_ptr<const RingFilter> filter) { filter.reset(); }
  /// Stops feeding; entries given to the client count as not taken.
  virtual void give_back_feed() { set_feed(RingFeed::none); }
  /// So many ring entries were pushed out before a `subscriptions/listen` of the client came to
  /// them: counts and logs it.
  virtual void note_lost(std::uint64_t entries) = 0;
  /// The client's grant has ended: what is in flight is still answered, nothing else is allowed.
  virtual void grant_ended() {}
  /// No more answers follow: closes once the queue is written. The channel must not be used
  /// afterwards.
  virtual void finish() = 0;

  /// Whether more than --client-buffer is queued.
  virtual bool congested() const = 0;
  virtual ChannelState state() const = 0;
  virtual const ClientIdentity& identity() const = 0;
  /// The process's command name; informative only, read on demand.
  virtual std::string command() const = 0;

 protected:
  ~ClientChannel() = default;
};

/// Events of the client transports, implemented by the router. Called on the loop's thread, inside
/// a Turn.
class ClientEvents {
 public:
  virtual void client_connected(ClientChannel& channel) = 0;
  /// One complete line, not empty, at most --max-frame bytes.
  virtual void client_line(ClientId client, ReceivedText line) = 0;
  /// A message that the transport has already parsed. Its id is not null.
  virtual void client_message(ClientId client, Frame message) = 0;
  /// A request whose client does not wait now: if possible the result is kept as a job. Returns the
  /// job's id; empty: it is an ordinary request.
  virtual std::string client_request_for_later(ClientId client, Frame request) {
    client_message(client, std::move(request));
    return {};
  }
  /// A line over --max-frame was discarded.
  virtual void client_oversized_line(ClientId client) = 0;
  /// The client sends nothing more, but still reads.
  virtual void client_half_closed(ClientId client) = 0;
  /// The client is gone. The channel is invalid after this call.
  virtual void client_left(ClientId client) = 0;
  /// The client's queue rose above --client-buffer, or has drained.
  virtual void client_congestion(ClientId client, bool congested) = 0;
  /// The client can be asked now (ChannelReach::can_be_asked).
  virtual void client_can_be_asked(ClientId client) = 0;
  /// Bytes of the client's frames that wait to be started.
  virtual std::size_t waiting_bytes(ClientId client) const = 0;
  /// The tool parameters that clients mirror into headers, as far as known.
  virtual const HeadersOfTools& headers_of_tools() const = 0;
  /// Whether the policy has a rule for callers of the HTTP frontend. Without one they see neither
  /// its streams for all subscribers nor its metrics.
  virtual bool http_callers_may_look() const { return true; }
  /// Whether the policy has a rule for this caller, or its grant allows something.
  virtual bool may_look(const ClientIdentity& caller) const {
    static_cast<void>(caller);
    return true;
  }
  virtual bool has_policy() const { return false; }
  /// Whether a string is a grant that may be used; one that may not is counted.
  virtual std::variant<GrantHold, GrantEnd> verify_grant(std::string_view string) {
    static_cast<void>(string);
    return GrantEnd::invalid;
  }

 protected:
  ~ClientEvents() = default;
};

/// Sees the upstream's requests in addition to the client that is asked, and may answer those that
/// no client was asked (ChannelState::answers_unasked). Called by the router, on the loop's thread.
class RequestOnlookers {
 public:
  /// Whether a request shown now has a reader.
  virtual bool has_onlooker() const = 0;
  /// `line` contains the id for the answer.
  virtual void show_request(const std::string& line) = 0;

 protected:
  ~RequestOnlookers() = default;
};

}  // namespace bridge
