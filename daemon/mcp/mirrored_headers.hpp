#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool_headers.hpp"

namespace bridge {

struct Frame;

// The encoding of a body value in a header (MCP 2026-07-28, Streamable HTTP, "Value Encoding").
// Pure.

/// The value unchanged if it is visible ASCII with blanks only inside and does not look like an
/// encoded one; else, or if it is empty, its bytes in the Base64 form `=?base64?…?=`. Never
/// contains control characters, whatever the text.
std::string encode_header_value(std::string_view text);

/// The decoded value of a header; nullopt if it has characters other than visible ASCII, blanks and
/// tabs, or has the Base64 form without valid Base64 (RFC 4648, section 4, padded) in it.
std::optional<std::string> decode_header_value(std::string_view value);

/// A JSON number that is an integer within JavaScript's exact range (-2^53+1 to 2^53-1), as decimal
/// digits: `42`, `42.0` and `4.2e1` are equal. nullopt for any other text.
std::optional<std::string> integer_text(std::string_view number);

// The headers that repeat values from the body of a modern request (MCP 2026-07-28, Streamable
// HTTP, "Request Metadata"). The transport adds MCP-Protocol-Version. Pure.

namespace mirrored_limit {
constexpr std::size_t value = 8u << 10;  ///< bytes of one encoded value
constexpr std::size_t all = 64u << 10;   ///< bytes of all lines of a request
}  // namespace mirrored_limit

struct MirroredHeaders {
  /// `Name: value`, without line ends; visible ASCII and blanks only.
  std::vector<std::string> lines;
  /// If not empty: the header that cannot be sent, since its value (or all of them together)
  /// exceeds mirrored_limit, the method does not fit in a header, or the parameter is repeated in
  /// the arguments. The request must then not be sent: a server would have to reject it.
  std::string unsendable;
};

/// `Mcp-Method`; `Mcp-Name` of tools/call and prompts/get (params.name), resources/read
/// (params.uri), tasks/get, tasks/update and tasks/cancel (params.taskId; the tasks extension); and
/// `Mcp-Param-*` of a call of a tool in `known`. Values that are null, absent or not scalar are
/// left out. Reads only the needed part of the params: up to the name if the tool has no headers.
MirroredHeaders mirrored_headers(const Frame& request, const HeadersOfTools& known);

/// A header of a request that a client sent.
struct HeaderField {
  std::string_view name;
  std::string_view value;
};

/// Compares the headers of a client's modern request with its body ("Server Validation"): nullopt,
/// or the message of the -32020 that rejects it. Names in any case; Base64 forms are decoded first,
/// integers compared by value. MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get
/// and resources/read, Mcp-Name are required; of the `Mcp-Param-*` those in `known` are checked. A
/// repeated header is malformed, and so is a repeated mirrored member.
std::optional<std::string> check_mirrored(std::span<const HeaderField> headers,
                                          const Frame& request, const HeadersOfTools& known);

}  // namespace bridge
