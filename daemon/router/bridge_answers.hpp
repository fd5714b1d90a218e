#pragma once

#include <set>
#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "router/client.hpp"
#include "router/listens.hpp"
#include "router/request_checks.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Answers the requests of clients that the upstream is not asked: the handshakes, subscriptions
/// that it need not be told of, and what a server of another era does not have (BEHAVIOUR,
/// "Session" and "Eras").
///
/// A part of ClientFrames; the loop's thread only. Memory: 64 names of capabilities.
class BridgeAnswers {
 public:
  BridgeAnswers(const RouterContext& context, RestorableState& restorable, RequestChecks& checks,
                RequestsInFlight& in_flight, Listens& listens)
      : context_(context),
        restorable_(restorable),
        checks_(checks),
        in_flight_(in_flight),
        listens_(listens) {}

  /// Answers the client's first frame, a request. False: the upstream is asked. REQUIRES: its
  /// session is open.
  bool answer_front(Client& client);
  /// The same of an `initialize`. False: the server is not known yet.
  bool answer_initialize(Client& client);

 private:
  void log_undeclared(const Client& client, std::string_view capabilities);
  bool takes_id_of_listen(const Client& client, const Frame& request) const;
  bool start_listen(Client& client);
  bool answer_unsubscribe(Client& client);
  bool answer_for_upstream(Client& client);

  const RouterContext context_;
  RestorableState& restorable_;
  RequestChecks& checks_;
  RequestsInFlight& in_flight_;
  Listens& listens_;
  std::set<std::string> logged_undeclared_;  ///< capabilities, at most 64
  std::string undeclared_ = "{}";            ///< those of all logged clients
};

}  // namespace bridge
