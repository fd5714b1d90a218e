#pragma once

#include <cstdint>

namespace bridge {

struct Frame;

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
