#pragma once

#include "router/server_request_table.hpp"

namespace bridge {

class Clients;
class RequestsInFlight;

/// A request of the upstream was refused, since nobody has declared it. The client whose request it
/// surely is about, and that has never said what it answers, is told what its request may fail for:
/// `notifications/bridge/question_refused` (BEHAVIOUR, "Server requests"). The loop's thread only.
void tell_of_refusal(const ServerRequest& request, const RequestsInFlight& in_flight,
                     const Clients& clients);

}  // namespace bridge
