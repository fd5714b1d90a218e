#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "json/json_edit.hpp"

namespace bridge {

// Edits of the members of a request's or notification's `params._meta`. Pure.

/// Whether its params are an object, null or absent: only then it can have a `_meta`.
bool has_place_for_meta(const Frame& frame);

/// Adds `members` (`"a":1,"b":2`, not empty) to the message's `_meta`, which is created if absent
/// and replaced if it is not an object. Does nothing unless has_place_for_meta().
void add_meta_members(Edits& edits, const Frame& frame, const std::string& members);

/// The parts to erase for without_meta_members().
template <class Drop>
Edits meta_removal(const Frame& frame, Drop&& drop) {
  Edits edits;
  if (frame.text(frame.meta).starts_with('{') &&
      !edit_members(edits, frame.bytes, frame.meta, drop)) {
    edits = {};
    edits.erase(member_around(frame.bytes, frame.meta));
  }
  return edits;
}

/// The message without the members of `_meta` for whose raw key `drop` returns true; a `_meta` that
/// is then empty is removed.
template <class Drop>
std::string without_meta_members(const Frame& frame, Drop&& drop) {
  return meta_removal(frame, drop).made_in(frame.bytes);
}

// What every request has in `params._meta` since MCP 2026-07-28 (basic, "`_meta`: Per-request
// protocol fields"): added for a modern upstream, removed for a legacy one. Pure; all else in the
// message stays byte for byte, and of its params only `_meta` is read.

/// The contents of `_meta` for one request; JSON texts, which must outlive the call.
struct RequestIdentity {
  std::string_view client_capabilities = "{}";  ///< an object
  std::string_view client_info;                 ///< an object; empty: not sent
  std::string_view log_level;                   ///< a string with its quotes; empty: no messages
};

struct MetaOptions {
  /// The identity's capabilities replace those of the message.
  bool override_capabilities = false;
  /// A string or number as JSON, for a message without a token of its own; empty: none.
  std::string_view progress_token;
};

/// The message with a revision (`newest_version`), capabilities and, if given, client and log
/// level in its `_meta`. Members of the message itself are kept; a protocolVersion that is not a
/// string, a `_meta` that is not an object and params that are null are replaced. Params that are
/// an array or a scalar cannot have a `_meta`: the message stays unchanged. REQUIRES: a request or
/// notification.
/// Additions are not recorded in the frame (edited() in json/json_edit.hpp).
Frame with_request_meta(Frame frame, const RequestIdentity& identity,
                        const MetaOptions& options = {});

/// The message without protocolVersion, clientCapabilities, clientInfo and logLevel. A `_meta` that
/// is then empty is removed; progressToken, traceparent and the like are kept.
Frame without_request_meta(Frame frame);

/// What a modern request lacks, as the message of a -32602 (MCP 2026-07-28, basic, "`_meta`"); null
/// if complete.
const char* missing_request_meta(const Frame& frame);

/// The reason to refuse a modern request that no server of its revision could serve, as a JSON-RPC
/// error object; empty: none.
std::string modern_request_error(const Frame& request);

/// `base` with those members of `add` whose names it lacks. Both are JSON objects; a `base` that is
/// not an object counts as an empty one.
std::string merge_capabilities(std::string_view base, std::string_view add);

enum class DigestOfNumbers {
  by_value,    ///< 1 equals 1.0
  as_written,  ///< 1 differs from 1.0
};

/// What a requestState is bound to (MCP 2026-07-28, "Multi Round-Trip Requests: Server
/// Requirements"), and the key of a job: 64 bits of a request's method and of all members of its
/// params but `_meta`, inputResponses and requestState, by value: white space, the order of members
/// and escapes make no difference. The same in every process of this version.
///
/// Not a cryptographic hash: it detects a state presented with another request by mistake.
/// Protection from others is that a state cannot be guessed and is bound to its user. Linear, pure.
std::uint64_t request_digest(const Frame& request,
                             DigestOfNumbers numbers = DigestOfNumbers::by_value);

}  // namespace bridge
