#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/received_text.hpp"

namespace bridge {

// A Frame records members of MCP too, and member_names.hpp lists its methods, so that a message is
// read in one pass. They are judged and edited in `mcp/`.

/// The names in `_meta` reserved by MCP 2026-07-28 (basic, "`_meta`"; schema, RequestMetaObject,
/// NotificationMetaObject, ResultMetaObject).
namespace meta_key {
constexpr std::string_view protocol_version = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view progress_token = "progressToken";

/// The size of the shortest name that a request or notification may carry, but for progressToken.
constexpr std::size_t shortest_of_requests = log_level.size();
}  // namespace meta_key

/// The kind of a JSON-RPC message (JSON-RPC 2.0, sections 4 and 5).
enum class FrameKind {
  request,       ///< `method` and `id`
  notification,  ///< `method`, no `id`
  response,      ///< `id` and one of `result` and `error`, no `method`
};

/// The values of a request's `params._meta` under reserved names (meta_key), except for the
/// revision; of any type.
struct ReservedMeta {
  Slice client_capabilities;
  Slice client_info;
  Slice log_level;
};

/// One JSON-RPC message: its bytes as received, and the positions of the few members that the
/// bridge acts on. All else is checked for grammar only and never changed.
///
/// The slices are positions in `bytes` and become invalid with its first change.
struct Frame {
  std::string bytes;
  FrameKind kind = FrameKind::notification;
  std::string method;  ///< unescaped; empty in a response

  Slice id;      ///< the whole value; a string with its quotes
  Slice params;  ///< of a request or notification
  Slice result;
  Slice error;

  /// The string or number at `params._meta.progressToken` of a request, or at
  /// `params.progressToken` of `notifications/progress`.
  Slice progress_token;
  /// The string or number at `params.requestId` of `notifications/cancelled`.
  Slice request_id;

  /// The value at `params._meta` of a request or notification: an object, unless the peer is wrong.
  Slice meta;
  ReservedMeta reserved;
  /// The string at `params._meta["io.modelcontextprotocol/protocolVersion"]` (MCP 2026-07-28,
  /// basic, "`_meta`"), with its quotes.
  Slice protocol_version;
  /// The string or number at `params._meta["io.modelcontextprotocol/subscriptionId"]` of a
  /// notification (MCP 2026-07-28, "Subscriptions: Receiving Notifications").
  Slice subscription_id;
  /// The value at `result.resultType` (MCP 2026-07-28, schema, Result): a string, unless the peer
  /// is wrong.
  Slice result_type;

  /// The values at `params.name` and `params.arguments` of a request, of any type; the last one if
  /// repeated.
  Slice name;
  Slice arguments;

  /// Whether the params have `inputResponses` or `requestState` (MCP 2026-07-28, "Multi Round-Trip
  /// Requests").
  bool has_input_answers = false;
  /// Whether a member of the params is repeated that identifies the request, in mirrored headers or
  /// in what a `requestState` is bound to: name, uri, taskId, arguments, or one of those two. To be
  /// rejected where it is mirrored or bound; harmless elsewhere.
  bool has_ambiguous_params = false;
  /// A response whose `id` is null: allowed only from an upstream, with an error.
  bool id_is_null = false;

  bool is_request() const { return kind == FrameKind::request; }
  bool is_notification() const { return kind == FrameKind::notification; }
  bool is_response() const { return kind == FrameKind::response; }
  /// Whether it is a request that names its revision itself, as all do since 2026-07-28 (MCP
  /// 2026-07-28, "Versioning: Terminology").
  bool is_modern() const { return is_request() && protocol_version.present(); }
  std::string_view text(Slice slice) const { return slice.of(bytes); }
};

/// The longest method, and the longest id and progress token of a request, in bytes of JSON: they
/// are kept while it is in flight.
constexpr std::size_t longest_name = 4096;

/// Why a text is not a frame: the code and the message of the error response.
struct FrameFault {
  int code;  ///< -32700 or -32600
  std::string_view reason;
  /// The request that it would answer, if it is a response whose id can be read.
  std::optional<std::uint64_t> answers{};
};

/// A message, or why the text is not one.
using ParsedFrame = std::variant<Frame, FrameFault>;

/// Reads one message. Accepts any bytes; never throws.
///
/// A member that the bridge acts on and that is repeated in its object makes the frame invalid:
/// another parser could use the other one. The same holds for a name in `_meta` that MCP reserves
/// for requests (meta_key). Names are compared unescaped.
ParsedFrame parse_frame(std::string bytes);
/// The same for a text about which facts may be known.
ParsedFrame parse_received(ReceivedText text);

/// Whether the first byte that is not white space opens an array: a batch.
bool is_batch(std::string_view bytes);

/// The most messages in a batch: all of them are handled in one turn of the loop.
constexpr std::size_t max_batch = 10'000;

/// Reads a batch in one pass: for each element the result of parse_frame(). A text that is not
/// JSON, an empty batch and one of more than max_batch are faults of the whole.
std::variant<std::vector<ParsedFrame>, FrameFault> parse_batch(std::string_view bytes);

/// One replacement in a frame's bytes.
struct Splice {
  Slice at;
  std::string_view with;
};

/// Makes up to two replacements in place; they must not overlap, and `with` must not point into
/// `bytes`. Slices that are not present are skipped.
void splice(std::string& bytes, Splice first, Splice second = {});

}  // namespace bridge
