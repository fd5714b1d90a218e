#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/askable_clients.hpp"
#include "router/request_onlookers.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"
#include "router/server_request_table.hpp"

namespace bridge {

/// Who gets the answers to the questions that were in a result, and is told what was asked in vain.
/// Implemented by the router.
class QuestionEvents {
 public:
  /// `response` is the client's; null: nobody answers it. It may only take note.
  virtual void question_answered(UpstreamId request, std::size_t place, const Frame* response) = 0;
  /// The upstream has asked this about a request, and was refused: nobody has declared it.
  virtual void nobody_declares(std::optional<UpstreamId> request, std::string_view method,
                               AskedFor asked) = 0;

 protected:
  ~QuestionEvents() = default;
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
                 QuestionEvents& questions);
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
  QuestionEvents& questions_;
  RequestOnlookers* onlookers_ = nullptr;
  ServerRequestTable table_;
  const AskableClients askable_;
  DeadlineTimer parking_;
};

}  // namespace bridge
