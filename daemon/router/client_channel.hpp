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
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "json/frame.hpp"
#include "mcp/tool_headers.hpp"
#include "notifications/ring.hpp"
#include "policy/peer.hpp"

namespace bridge {

/// Whose process a client is. All callers of the HTTP face are one user of their own: what uid a
/// remote caller has is not known.
struct User {
  bool remote = false;
  uid_t uid = 0;

  template <class A>
  void each_field(A& archive) {
    archive(remote, uid);
  }
  friend bool operator==(const User&, const User&) = default;
  friend bool operator<(const User& left, const User& right) {
    return left.remote != right.remote ? right.remote : left.uid < right.uid;
  }
};

/// Who is at the other end, as far as the transport can tell.
struct ClientIdentity {
  ClientId id{};
  std::string kind;  ///< "unix", "http", "bridge": the bridge itself
  pid_t pid = 0;     ///< 0: in another pid namespace, or not known
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};  ///< the supplementary ones, if a policy may ask
  std::string remote{};         ///< of the HTTP face: the caller's address; empty: not known
  std::chrono::steady_clock::time_point connected;

  User user() const { return kind == "http" ? User{true, 0} : User{false, uid}; }

  template <class A>
  void each_field(A& archive) {
    archive(id, kind, pid, uid, archive.not_saved(gid), archive.not_saved(groups), remote,
            connected);
  }

  Peer peer() const { return {kind == "http", uid, gid, groups}; }
};

/// What a transport counts of its clients, for the metrics; all since the daemon's start.
struct ClientCounts : ByteCounts {
  std::uint64_t connected = 0;
  std::uint64_t refused = 0;             ///< not allowed to connect
  std::uint64_t stalled = 0;             ///< disconnected because they read nothing
  std::uint64_t lost_notifications = 0;  ///< pushed out of the ring before a client came to them
};

/// How a client stands to the ring (BEHAVIOUR, "Ring: what takes nothing").
enum class RingFeed {
  takes,  ///< is fed, and what it has read counts as taken
  reads,  ///< is fed, but takes nothing
  none,   ///< is not fed
};
constexpr RingFeed last_of(RingFeed) { return RingFeed::none; }

enum class AnswerOrder {
  in_order,  ///< behind everything that arrived before it
  ahead,     ///< ahead of everything that is not on its way yet
};

/// A frame for a client.
struct Delivery {
  enum class Kind : std::uint8_t {
    message,   ///< about none of the client's requests
    about,     ///< about a request, ahead of its response: progress, a question of the upstream
    entry,     ///< a ring entry for its `subscriptions/listen`; taken once the client has read it
    response,  ///< the end of a request
  };
  Kind kind;
  std::string frame{};            ///< without a newline
  std::string_view request_id{};  ///< raw, as the client wrote it; empty for a `message`
  AnswerOrder order = AnswerOrder::in_order;  ///< for a `response`
  Sequence entry{};                           ///< for an `entry`
};

/// What can be said about one request of a client, or, with an empty id, about its connection.
struct ChannelReach {
  bool can_be_asked = true;       ///< a question of the upstream would reach the client now
  bool survives_upgrade = false;  ///< the new process resumes it
};

/// The state of a client's channel.
struct ChannelState {
  std::size_t queued_bytes = 0;
  bool is_idle = false;  ///< no connection is open, and nothing is pending
  bool answers_unasked =
      false;  ///< may answer a question that was shown to all (--http-fanout all)
};

/// The router's side of one client: implemented by each transport on the clients' side.
///
/// Owned by the transport; valid from ClientEvents::client_connected until client_left or finish().
/// Nothing here fails, writes at once (queued frames go out at the end of the loop's turn), or
/// calls client_left(), which would end the client within the router's call.
class ClientChannel {
 public:
  /// Queues a frame behind everything that arrived before it, ring entries included, or, as its
  /// order says, ahead of everything that is not being sent. A transport that answers each request
  /// where it was asked uses the request's id.
  virtual void send(Delivery delivery) = 0;
  /// The client has cancelled its request: no response follows.
  virtual void no_answer(std::string_view request_id) { static_cast<void>(request_id); }
  virtual ChannelReach reach(std::string_view request_id) const = 0;

  /// Stops taking frames from the client, except for those already read, or resumes it. False if
  /// the transport cannot.
  virtual bool pause_input(bool paused) {
    static_cast<void>(paused);
    return false;
  }

  virtual void set_feed(RingFeed feed) = 0;
  /// Which entries of the ring are for the client; null: all.
  virtual void show_only(std::shared_ptr<const RingFilter> filter) { filter.reset(); }
  /// Stops feeding it; what it was fed counts as not taken.
  virtual void give_back_feed() { set_feed(RingFeed::none); }
  /// No more answers will come: closes as soon as all that is queued was written. The channel must
  /// not be used after this.
  virtual void finish() = 0;

  /// Whether more than --client-buffer is queued.
  virtual bool congested() const = 0;
  virtual ChannelState state() const = 0;
  virtual const ClientIdentity& identity() const = 0;
  /// What the process calls itself; informative only, read when asked for.
  virtual std::string command() const = 0;

 protected:
  ~ClientChannel() = default;
};

/// What happens at the clients' side: implemented by the router, called by the transports, on the
/// loop's thread and inside a Turn.
class ClientEvents {
 public:
  virtual void client_connected(ClientChannel& channel) = 0;
  /// One complete line, not empty, of at most --max-frame bytes.
  virtual void client_line(ClientId client, ReceivedText line) = 0;
  /// One message that the transport has parsed already. Its id is not null.
  virtual void client_message(ClientId client, Frame message) = 0;
  /// A request whose client does not wait at the moment: the result is kept too, if possible.
  /// Returns the name under which it is kept; empty: it is an ordinary request.
  virtual std::string client_request_for_later(ClientId client, Frame request) {
    client_message(client, std::move(request));
    return {};
  }
  /// A line over --max-frame was discarded.
  virtual void client_oversized_line(ClientId client) = 0;
  /// It will send nothing more, but still reads.
  virtual void client_half_closed(ClientId client) = 0;
  /// It is gone. The channel is dead after this call.
  virtual void client_left(ClientId client) = 0;
  /// Its queue went over --client-buffer, or has drained again.
  virtual void client_congestion(ClientId client, bool congested) = 0;
  /// It can be asked now, and could not before (ClientChannel::can_be_asked).
  virtual void client_can_be_asked(ClientId client) = 0;
  /// Bytes of its frames that wait to be started.
  virtual std::size_t waiting_bytes(ClientId client) const = 0;
  /// Which parameters of the server's tools its clients mirror into headers, as far as is known.
  virtual const HeadersOfTools& headers_of_tools() const = 0;

 protected:
  ~ClientEvents() = default;
};

/// Sees the upstream's requests beside the client that is asked, and may answer those that no
/// client was asked (ChannelState::answers_unasked). Called by the router, on the loop's thread.
class RequestOnlookers {
 public:
  /// Whether a request shown now would be seen.
  virtual bool has_onlooker() const = 0;
  /// `line` has the id under which an answer is taken.
  virtual void show_request(const std::string& line) = 0;

 protected:
  ~RequestOnlookers() = default;
};

}  // namespace bridge
