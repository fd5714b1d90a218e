#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/frame.hpp"

namespace bridge {

struct Frame;

// What every request carries in `params._meta` since MCP 2026-07-28 (basic, "`_meta`: Per-request
// protocol fields"): put in for a modern upstream, taken out for a legacy one. Pure; everything
// else of the message stays byte for byte, and of its params only `_meta` is read.

/// What stands in `_meta` for one request; JSON texts, which must outlive the call.
struct RequestIdentity {
  std::string_view client_capabilities = "{}";  ///< an object
  std::string_view client_info;                 ///< an object; empty: none is said
  std::string_view log_level;                   ///< a string with its quotes; empty: no messages
};

struct MetaOptions {
  /// Whether the identity's capabilities replace those that the message has.
  bool override_capabilities = false;
  /// A string or number as JSON, for a message without one of its own; empty: none is asked for.
  std::string_view progress_token;
};

/// The message with a revision (`newest_version`), capabilities and, if there are, client and log
/// level in its `_meta`. What the message itself says there wins; a protocolVersion that is no
/// string, a `_meta` that is no object and params that are null are replaced. Params that are an
/// array or a scalar have no place for it: the message stays as it is. REQUIRES: a request or
/// notification.
/// What is added is not noted in the frame (frame_edit.hpp).
Frame with_request_meta(Frame frame, const RequestIdentity& identity,
                        const MetaOptions& options = {});

/// The message without protocolVersion, clientCapabilities, clientInfo and logLevel. A `_meta` with
/// nothing else in it goes as a whole; progressToken, traceparent and the like stay.
Frame without_request_meta(Frame frame);

/// What a modern request lacks, as the message of a -32602 (MCP 2026-07-28, basic, "`_meta`"); null
/// if nothing.
const char* missing_request_meta(const Frame& frame);

/// `base` with those members of `add` whose names it lacks. Both are JSON objects; a `base` that is
/// none counts as an empty one.
std::string merge_capabilities(std::string_view base, std::string_view add);

enum class DigestOfNumbers {
  by_value,    ///< 1 is 1.0
  as_written,  ///< 1 is not 1.0
};

/// What a requestState is bound to (MCP 2026-07-28, "Multi Round-Trip Requests: Server
/// Requirements"), and the key of a job: 64 bits of a request's method and of all members of its
/// params but `_meta`, inputResponses and requestState, by value: white space, the order of members
/// and escapes make no difference. The same in every process of this version.
///
/// No cryptographic hash: it keeps a state from being presented with another request by mistake.
/// What keeps it from others is that it cannot be guessed and is bound to its user. Linear, pure.
std::uint64_t request_digest(const Frame& request,
                             DigestOfNumbers numbers = DigestOfNumbers::by_value);

}  // namespace bridge
