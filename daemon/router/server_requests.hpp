#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/asked_for.hpp"
#include "router/client.hpp"
#include "router/client_channel.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

class Clients;
class RequestsInFlight;
struct Client;
struct ServerRequest;

/// Whose request a question of the upstream may be about that says of none that it is: whoever had
/// requests in flight when it came about which something may be asked.
struct LikelyCaller {
  enum class Kind { nobody, one, several };
  friend constexpr Kind last_of(Kind) { return Kind::several; }

  Kind kind = Kind::nobody;
  std::optional<ClientId> client;  ///< of one; none: it has left

  template <class A>
  void each_field(A& archive) {
    archive(kind, client);
  }
};

LikelyCaller likely_caller(const RequestsInFlight& in_flight);

/// The notification that tells a client whose call it is asked about; empty if it is its own, or
/// nobody's in particular, or if it has not named such requests by `bridge/answers`.
std::string notice_of_caller(const ServerRequest& request, const Client& asked);

/// A request of the upstream that is not answered yet, or a question in a result of it.
struct ServerRequest {
  /// After so many clients have declined it, the last one's answer counts.
  static constexpr std::size_t max_declined = 64;

  std::uint64_t id = 0;             ///< what the client sees
  std::string upstream_request_id;  ///< raw JSON, as the upstream wrote it; empty: a question
  std::size_t place = 0;            ///< of a question, among those of its result
  std::string method;
  AskedFor asked_for = AskedFor::anything;
  std::string line;                  ///< with the client's id in it
  std::optional<UpstreamId> origin;  ///< the client request it belongs to; none: the session
  std::optional<ClientId> owner;  ///< whose request that is; none: of the session, or it has left
  LikelyCaller caller;            ///< of one of the session
  std::optional<User> user;       ///< of one that belongs to a request: only this user is asked
  std::optional<ClientId> asked;  ///< none: parked
  SteadyTime asked_since{};
  SteadyTime parked_until{};
  std::vector<ClientId> declined;  ///< have answered that they do not know such requests
  bool shown = false;              ///< to onlookers, who may answer while nobody is asked

  bool is_question() const { return upstream_request_id.empty(); }

  template <class A>
  void each_field(A& archive) {
    archive(id, upstream_request_id, place, method, asked_for, line, origin, owner, caller, user,
            asked, asked_since, parked_until, declined, shown);
  }
};

/// The requests of the upstream that are not answered yet. Pure. Bounded: `max_parked` requests and
/// `max_parked_bytes` may be parked, and `max_requests` and `max_bytes` are kept in all.
class ServerRequestTable {
 public:
  static constexpr std::size_t max_parked = 64;
  static constexpr std::size_t max_parked_bytes = 1u << 20;
  static constexpr std::size_t max_requests = 1024;
  static constexpr std::size_t max_bytes = 16u << 20;

  std::uint64_t next_id() { return ++last_id_; }
  std::uint64_t last_id() const { return last_id_; }
  void count_from(std::uint64_t id) { last_id_ = id; }

  bool has_room_for(std::size_t bytes) const {
    return requests_.size() < max_requests && bytes_ + bytes <= max_bytes;
  }
  bool can_park(std::size_t bytes) const;

  ServerRequest& add(ServerRequest request);
  void remove(const ServerRequest& request);

  ServerRequest* find(std::uint64_t id);
  /// By the id as whoever was asked was told it, raw JSON.
  ServerRequest* find_told(std::string_view raw_id);
  ServerRequest* find_by_upstream_id(std::string_view raw_id);

  /// Whether this client has had one of them, unanswered, since `then` or before.
  bool has_left_open(ClientId client, SteadyTime then) const;

  template <class Visit>
  void each(Visit&& visit) {
    for (auto at = requests_.begin(); at != requests_.end();) visit(*at++);
  }

  std::size_t parked() const;

 private:
  std::list<ServerRequest> requests_;
  std::size_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
};

/// One client that declared that it answers a request of the upstream, and can be reached.
struct Askable {
  ClientId client{};
  bool is_own = false;     ///< the upstream asks about a request of this client
  bool is_busy = false;    ///< it has requests in flight
  bool is_silent = false;  ///< it has left an earlier question open for too long
  bool is_job = false;     ///< nobody is connected: it answers when somebody collects
};

/// Who is asked, of those who can be, in the order of their connecting: whose request it is about;
/// else the only one with requests in flight; else the one connected longest. A job only while
/// nobody connected has requests in flight, unless it is about one of its own. Somebody silent only
/// if all are. Nobody if there are none. Pure.
std::optional<ClientId> who_is_asked(const std::vector<Askable>& able);

/// Which of the connected clients can be asked a request of the upstream now: who has declared it,
/// can be reached and has not declined it (BEHAVIOUR, "Server requests"). Which of those is asked
/// says who_is_asked().
///
/// Keeps nothing of its own. Owned by ServerRequests; the loop's thread only.
class AskableClients {
 public:
  AskableClients(const RouterContext& context, const RequestsInFlight& in_flight,
                 const ServerRequestTable& table);

  /// In the order of their connecting.
  std::vector<Askable> able(const ServerRequest& request) const;
  /// Who is asked; null: nobody can be.
  Client* choose(const ServerRequest& request) const;
  /// Who only looks on, or cannot be reached, is nobody to the upstream.
  bool somebody_is_connected() const;
  /// The id under which this client knows the request of its own that it is about; empty if there
  /// is none, or it has ended.
  std::string_view subject(const ServerRequest& request, const Client& client) const;

 private:
  bool can_answer(const Client& client, const ServerRequest& request) const;

  const RouterContext context_;
  const RequestsInFlight& in_flight_;
  const ServerRequestTable& table_;
};

/// Whether this client has answered that it does not know such requests.
bool has_declined(const ServerRequest& request, ClientId client);

/// Gets the answers to the questions that were in a result, and is told what was asked in vain.
struct QuestionEvents {
  /// `response` is the client's; null: nobody answers it. It may only take note.
  std::function<void(UpstreamId request, std::size_t place, const Frame* response)> answered;
  /// The upstream has asked this about a request, and was refused: nobody has declared it.
  std::function<void(std::optional<UpstreamId> request, std::string_view method, AskedFor asked)>
      nobody_declares;
};

/// The upstream's requests (sampling, elicitation, roots, any other): which client is asked, to
/// whom one is passed on, and how long one is parked when nobody can be asked (BEHAVIOUR, "Server
/// requests").
///
/// Owned by the router; the loop's thread only. Bounds: those of ServerRequestTable; a request over
/// them is answered with an error. One that is parked is answered so after --park-requests.
class ServerRequests {
 public:
  ServerRequests(const RouterContext& context, const RequestsInFlight& in_flight,
                 QuestionEvents questions);
  void set_onlookers(RequestOnlookers& onlookers) { onlookers_ = &onlookers; }

  // From the upstream.
  void add(std::optional<UpstreamId> origin, Frame request);
  /// The same of a question in the result that answered a client's request: its answer goes to
  /// QuestionEvents.
  void add(UpstreamId origin, std::size_t place, const InputRequest& question);
  /// It is answered so, and asked of nobody.
  void refuse(std::string_view raw_id, int code, std::string_view message);
  void cancel(Frame notification);
  /// The client request that some belong to is in flight no more.
  void request_ending(UpstreamId origin);
  /// The session was lost. The next one counts its ids anew.
  void session_replaced();

  // From the clients.
  void answer(Client& client, Frame response);
  /// Somebody can be asked now, or has declared more: the parked ones are offered again.
  void offer_parked();
  /// It has half-closed, and will answer nothing more.
  void client_half_closed(const Client& client) { ask_others(client, false); }
  /// REQUIRES: it was taken out of Clients.
  void client_left(const Client& client) { ask_others(client, true); }

  // From a client that is no connection, of what it was asked and asks others in its turn; by the
  // id that it was told.
  /// This one has answered that it does not know such requests.
  void note_declined(std::string_view raw_id, ClientId by);
  bool was_declined(std::string_view raw_id, ClientId by);
  /// It has nobody more to ask, and waits for no answer.
  void give_back(std::string_view raw_id, ClientId asked);

  /// No id that the previous process has given to a question is given again.
  std::uint64_t last_id() const { return table_.last_id(); }
  void count_from(std::uint64_t id) { table_.count_from(id); }

  /// Those of the session, and those about requests that go along.
  std::vector<ServerRequest> save();
  /// REQUIRES: the clients are there, and the requests.
  void restore(std::vector<ServerRequest> saved);

  std::size_t parked() const { return table_.parked(); }
  /// Who could be asked this now, in the order of their connecting, if it is about no request.
  std::vector<Askable> askable(std::string_view method, std::string_view params) const;

 private:
  ServerRequest made(std::optional<UpstreamId> origin, std::string_view method,
                     std::string_view params);
  void take_in(ServerRequest request);
  void refuse(const ServerRequest& request, int code, std::string_view message);
  void ask(Client& client, ServerRequest& request);
  bool pass_on(ServerRequest& request);
  void ask_another(ServerRequest& request, bool may_be_asked, bool may_wait);
  void ask_others(const Client& client, bool has_left);
  void park(ServerRequest& request);
  void expire_parked();
  Client* keeper_of(const ServerRequest& request, const Client& client) const;
  void withdraw(ServerRequest& request, std::string_view reason);
  static void tell_withdrawn(Client& client, const ServerRequest& request, std::string_view reason);

  const RouterContext context_;
  const RequestsInFlight& in_flight_;
  const QuestionEvents questions_;
  RequestOnlookers* onlookers_ = nullptr;
  ServerRequestTable table_;
  const AskableClients askable_;
  DeadlineTimer parking_;
};

/// A request of the upstream was refused, since nobody has declared it. The client whose request it
/// surely is about, and that has never said what it answers, is told what its request may fail for:
/// `notifications/bridge/question_refused` (BEHAVIOUR, "Server requests"). The loop's thread only.
void tell_of_refusal(const ServerRequest& request, const RequestsInFlight& in_flight,
                     const Clients& clients);

}  // namespace bridge
