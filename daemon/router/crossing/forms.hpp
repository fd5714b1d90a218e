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

/// Sets of which era the call's client is, as its request says, and which session serves it, and
/// gives a call between the eras what it needs.
void set_sides(Call& call, const Frame& request, const Session& session);

/// Gives a call between the eras what it needs, or drops it if the call is within one. `request` as
/// its caller wrote it. REQUIRES: the call's era and side are set.
void set_crossing(Call& call, const Frame& request);

/// Whether the request is in the form of this session.
inline bool has_form_for(const EraSession& session, const Frame& request) {
  return request.is_modern() == session.is_modern();
}

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
/// The answer if the session that serves the request is of another era and has no such method;
/// nullopt: the server is asked.
std::optional<OwnAnswer> answer_across(const Frame& request, const EraSession& session);

/// Whether a repeated member of the request's params makes it mean two things: it, or the message
/// that this session sends, mirrors them in headers.
bool is_ambiguous(const Frame& request, EraSession& session);

/// Whether the notification is dropped because the server of this session does not know it.
bool is_unknown_to(const EraSession& session, const Frame& notification);

/// The capabilities to declare when a session is opened for what waits: those of the oldest waiting
/// modern request, as a JSON object; empty: no such request waits.
std::string capabilities_of_opener_among(const Clients& clients);

}  // namespace bridge
