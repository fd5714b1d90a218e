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

// How a value of a message's body stands in a header (MCP 2026-07-28, Streamable HTTP, "Value
// Encoding"). Pure.

/// The value as it is if it is visible ASCII with blanks only inside and does not look like an
/// encoded one; else, and if it is empty, its bytes in the Base64 form `=?base64?…?=`. Never a
/// control character, whatever the text.
std::string encode_header_value(std::string_view text);

/// What a header's value stands for; nothing if it has other characters than visible ASCII, blanks
/// and tabs, or is no Base64 (RFC 4648, section 4, padded) though it begins and ends so.
std::optional<std::string> decode_header_value(std::string_view value);

/// A JSON number that is an integer within what JavaScript counts exactly (-2^53+1 to 2^53-1), as
/// decimal digits: `42`, `42.0` and `4.2e1` are one. Nothing for any other text.
std::optional<std::string> integer_text(std::string_view number);

// The headers that repeat what stands in the body of a modern request (MCP 2026-07-28, Streamable
// HTTP, "Request Metadata"). MCP-Protocol-Version is the transport's to add. Pure.

namespace mirrored_limit {
constexpr std::size_t value = 8u << 10;  ///< bytes of one value as it is sent
constexpr std::size_t all = 64u << 10;   ///< bytes of all lines of a request
}  // namespace mirrored_limit

struct MirroredHeaders {
  /// `Name: value`, without line ends; visible ASCII and blanks only.
  std::vector<std::string> lines;
  /// If not empty: the header that cannot be said, since its value (or all of them together) is
  /// beyond mirrored_limit, since the method is not fit for a header, or since the parameter stands
  /// twice in the arguments. The request must then not be sent: a server would have to refuse it.
  std::string unsendable;
};

/// `Mcp-Method`; `Mcp-Name` of tools/call and prompts/get (params.name), resources/read
/// (params.uri), tasks/get, tasks/update and tasks/cancel (params.taskId; the tasks extension); and
/// `Mcp-Param-*` of a call of a tool that `known` has. What is null, absent or no scalar is left
/// out. Reads of the params only what is needed: up to the name if the tool has no headers.
MirroredHeaders mirrored_headers(const Frame& request, const HeadersOfTools& known);

/// A header of a request that a client sent.
struct HeaderField {
  std::string_view name;
  std::string_view value;
};

/// Compares the headers of a client's modern request with its body ("Server Validation"): nothing,
/// or the message of the -32020 that refuses it. Names in any case; Base64 forms are decoded first,
/// integers compared by value. MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get
/// and resources/read, Mcp-Name must be there; of the `Mcp-Param-*` those of `known` are looked at.
/// Given twice, a header is malformed, and so is a mirrored member that stands twice.
std::optional<std::string> check_mirrored(std::span<const HeaderField> headers,
                                          const Frame& request, const HeadersOfTools& known);

}  // namespace bridge
