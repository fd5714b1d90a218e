#pragma once

#include <optional>
#include <string>

#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "router/call.hpp"
#include "router/client.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

// Messages between clients and a server of different eras (BEHAVIOUR, "Eras"). The translations are
// functions of mcp/; these decide which one applies. Between peers of one era nothing here is
// called, and the bytes stay as they came.

/// Gives a call between the eras what it needs, or drops it if the call is within one. `request` as
/// its caller wrote it. REQUIRES: the call's era and side are set.
void set_crossing(Call& call, const Frame& request);

/// The request in the form of the other era. `caller`: the owner; null: it has left.
Frame in_other_form(Frame request, const Caller* caller, const RouterContext& context,
                    const RestorableState& restorable);

/// The response in the form for its client, except for its id, which stays in place or, in a newly
/// made frame, is in `response.id`. REQUIRES: the call is between the eras.
Frame for_client_of(const Call& call, Frame response);

/// An answer of the bridge itself: a result or an error, as JSON.
struct OwnAnswer {
  std::string result;
  std::string error;
};
/// The answer if a server of another era than the request has no such method; nullopt: the server
/// is asked. `server`: as shown to the client.
std::optional<OwnAnswer> answer_across(const Frame& request, Era side,
                                       const ServerDescription& server);

/// Whether the notification is dropped because a server of this side does not know it.
bool is_unknown_to(Era side, const Frame& notification);

}  // namespace bridge
