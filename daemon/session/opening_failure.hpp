#pragma once

#include <optional>
#include <string_view>

#include "json/failure.hpp"
#include "json/frame.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

// What is told of an opening that comes to nothing. Pure.

/// Of an upstream that sends back what it is sent.
constexpr const char* echo_text =
    "the upstream sends back what it is sent, as an echo does: it is not an MCP server";

/// What those are told who wait for a session that could not be opened: that it was the opening
/// (`data.opening`), and where the upstream answered `initialize` with an error, that error as
/// `data.upstream` of one of the bridge's own, whose message repeats nothing of it: the status
/// shows that, and the error may hold what was sent to the upstream. It is not the answer to what
/// they asked; only who sent the `initialize` gets it as it came.
Failure failure_of_opening(Failure failure);

/// `initialize` was answered with this error object. That of a server which knows only revisions
/// without `initialize` is told in the bridge's own words, with the server's beside them.
Failure failure_of_initialize_error(std::string_view error_object);

/// `initialize` ended without an answer. `malformed`: what is wrong with what came for one; empty:
/// nothing.
Failure failure_of_initialize_ending(Ending ending, std::string_view malformed);

/// Its answer has a `protocolVersion` that fits no header.
Failure failure_of_version(std::string_view version);

/// The upstream's JSON-RPC error in a failure, as a message that can be judged; nothing if it has
/// none.
std::optional<Frame> error_of(const Failure& failure);

/// Whether another try would end the same way.
bool is_definitive(const Failure& failure);

/// Whether it is the answer to a client's `initialize`, as it came.
inline bool is_clients_answer(const Failure& failure) { return !failure.error_object.empty(); }

}  // namespace bridge
