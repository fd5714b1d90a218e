#pragma once

#include <string_view>
#include <vector>

#include "router/client.hpp"
#include "router/router_context.hpp"
#include "router/server_request_table.hpp"
#include "router/who_is_asked.hpp"

namespace bridge {

class RequestsInFlight;

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

}  // namespace bridge
