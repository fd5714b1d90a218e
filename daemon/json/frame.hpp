#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/received_text.hpp"

namespace bridge {

/// The names in `_meta` that MCP 2026-07-28 reserves (basic, "`_meta`"; schema, RequestMetaObject,
/// NotificationMetaObject, ResultMetaObject).
namespace meta_key {
constexpr std::string_view protocol_version = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view progress_token = "progressToken";

/// No spelling of one that a request or a notification may carry is shorter, but of progressToken.
constexpr std::size_t shortest_of_requests = log_level.size();
}  // namespace meta_key

/// What a JSON-RPC message is (JSON-RPC 2.0, sections 4 and 5).
enum class FrameKind {
  request,       ///< `method` and `id`
  notification,  ///< `method`, no `id`
  response,      ///< `id` and one of `result` and `error`, no `method`
};

/// Where the values stand that `params._meta` of a request has beside its revision under names that
/// MCP reserves (meta_key), whatever they are.
struct ReservedMeta {
  Slice client_capabilities;
  Slice client_info;
  Slice log_level;
};

/// One JSON-RPC message: its bytes as they came, and where in them the few members stand that the
/// bridge acts on. Everything else in it is checked for grammar only and never changed.
///
/// The slices are positions in `bytes` and end with the first change of it.
struct Frame {
  std::string bytes;
  FrameKind kind = FrameKind::notification;
  std::string method;  ///< unescaped; empty in a response

  Slice id;      ///< the whole value, a string with its quotes
  Slice params;  ///< of a request or notification
  Slice result;
  Slice error;

  /// The string or number at `params._meta.progressToken` of a request, or at
  /// `params.progressToken` of `notifications/progress`.
  Slice progress_token;
  /// The string or number at `params.requestId` of `notifications/cancelled`.
  Slice request_id;

  /// The value at `params._meta` of a request or notification: an object, unless the peer errs.
  Slice meta;
  ReservedMeta reserved;
  /// The string at `params._meta["io.modelcontextprotocol/protocolVersion"]` (MCP 2026-07-28,
  /// basic, "`_meta`"), with its quotes.
  Slice protocol_version;
  /// The string or number at `params._meta["io.modelcontextprotocol/subscriptionId"]` of a
  /// notification (MCP 2026-07-28, "Subscriptions: Receiving Notifications").
  Slice subscription_id;
  /// The value at `result.resultType` (MCP 2026-07-28, schema, Result): a string, unless the peer
  /// errs.
  Slice result_type;

  /// The values at `params.name` and `params.arguments` of a request, whatever they are; of several
  /// the last.
  Slice name;
  Slice arguments;

  /// Whether the params have `inputResponses` or `requestState` (MCP 2026-07-28, "Multi Round-Trip
  /// Requests").
  bool has_input_answers = false;
  /// Whether a member of the params stands twice that says what a request is about, in headers that
  /// mirror it or where it is bound to a `requestState`: name, uri, taskId, arguments, or one of
  /// those two. To be refused where it is mirrored or bound; nobody else has to mind.
  bool has_ambiguous_params = false;
  /// A response whose `id` is null: only an upstream may send one, with an error.
  bool id_is_null = false;

  bool is_request() const { return kind == FrameKind::request; }
  bool is_notification() const { return kind == FrameKind::notification; }
  bool is_response() const { return kind == FrameKind::response; }
  /// Whether it is a request that says its revision itself, as every one does since 2026-07-28
  /// (MCP 2026-07-28, "Versioning: Terminology").
  bool is_modern() const { return is_request() && protocol_version.present(); }
  std::string_view text(Slice slice) const { return slice.of(bytes); }
};

/// Why a text is no frame: the code and the message of the error to answer with.
struct FrameFault {
  int code;  ///< -32700 or -32600
  std::string_view reason;
};

/// A message, or why it is none.
using ParsedFrame = std::variant<Frame, FrameFault>;

/// Reads one message. Never throws; any bytes may be given.
///
/// A member that the bridge acts on and that stands twice in its object makes the frame invalid:
/// another parser could take the other one. So does a name in `_meta` that MCP reserves for
/// requests (meta_key). Names are compared unescaped.
ParsedFrame parse_frame(std::string bytes);
/// The same of a text of which something may be known.
ParsedFrame parse_received(ReceivedText text);

/// Whether the first byte that is no white space opens an array: a batch.
bool is_batch(std::string_view bytes);

/// The most messages in a batch: all of them are looked at in one turn of the loop.
constexpr std::size_t max_batch = 10'000;

/// Reads a batch in one pass: for each element what parse_frame() would say of its bytes. A text
/// that is no JSON, an empty batch and one of more than max_batch are faults of the whole.
std::variant<std::vector<ParsedFrame>, FrameFault> parse_batch(std::string_view bytes);

/// Reads one message or a batch, and gives each message, or what is wrong with it, to `take`, as a
/// ParsedFrame&&. Returns what is wrong with a batch as a whole; then nothing of it was given.
template <class Take>
std::optional<FrameFault> each_frame(ReceivedText text, Take&& take) {
  if (!is_batch(text.bytes)) {
    take(parse_received(std::move(text)));
    return std::nullopt;
  }
  auto batch = parse_batch(text.bytes);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) return *fault;
  for (ParsedFrame& parsed : std::get<0>(batch)) take(std::move(parsed));
  return std::nullopt;
}

/// One replacement in a frame's bytes.
struct Splice {
  Slice at;
  std::string_view with;
};

/// Carries out up to two replacements in place; they must not overlap, and `with` must not point
/// into `bytes`. Slices that are not present are skipped.
void splice(std::string& bytes, Splice first, Splice second = {});

}  // namespace bridge
