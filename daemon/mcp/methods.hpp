#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

struct Frame;

/// Whether a log message of this level is sent to a client that has asked for `least` and above
/// (MCP 2026-07-28, "Logging"; RFC 5424). An empty or unknown `least` permits none; a level that is
/// not one of the eight counts as the highest. Pure.
bool reaches_level(std::string_view level, std::string_view least);

/// Classes of methods, for the metrics: a small fixed set, whatever clients send.
enum class MethodClass : std::uint8_t {
  call,       ///< tools/call
  list,       ///< any method ending in /list
  read,       ///< prompts/get, resources/read, completion/complete
  subscribe,  ///< resources/subscribe, resources/unsubscribe, subscriptions/listen
  session,    ///< initialize, ping, logging/setLevel, server/discover
  task,       ///< tasks/…
  other,
};
constexpr std::size_t method_classes = 7;

/// What the bridge knows about a request's method. An unknown method has the facts of its prefix or
/// suffix (`tasks/…`, `…/list`), or none.
struct MethodFacts {
  std::string_view name{};
  MethodClass kind = MethodClass::other;
  /// Sending it twice is harmless (BEHAVIOUR, "Session: retried requests").
  bool only_reads = false;
  /// Its result is a CacheableResult (MCP 2026-07-28, "Caching"; schema).
  bool is_cacheable = false;
  /// Its result may be `input_required` (MCP 2026-07-28, "Multi Round-Trip Requests: Supported
  /// Requests"), and Mcp-Name is required ("Transports: Standard Headers").
  bool may_require_input = false;
  /// Sent by a server to a client, as a request or within such a result.
  bool is_question = false;
  /// A client's method that MCP 2026-07-28 has removed.
  bool is_only_legacy = false;
  /// Its response is a stream that stays open (the events extension of MCP 2026-07-28).
  bool stays_open = false;
  /// The member of its params that Mcp-Name repeats; empty: none.
  std::string_view name_member{};
  /// Of a list of the server's items: the member of its result, and the member of each item that
  /// identifies it; empty: it lists none.
  std::string_view list{};
  std::string_view item_name{};
};

/// Pure; the result lives as long as the program.
const MethodFacts& facts_of_method(std::string_view method);

inline bool only_reads(std::string_view method) { return facts_of_method(method).only_reads; }
inline bool is_stream(std::string_view method) { return facts_of_method(method).stays_open; }
inline bool is_only_legacy(std::string_view method) {
  return facts_of_method(method).is_only_legacy;
}
inline bool is_question(std::string_view method) { return facts_of_method(method).is_question; }
inline bool is_cacheable(std::string_view method) { return facts_of_method(method).is_cacheable; }
inline bool may_require_input(std::string_view method) {
  return facts_of_method(method).may_require_input;
}
/// Whether a grant's `calls` count it (BEHAVIOUR, "Grants"): what may change something, but
/// for the session's own methods, subscriptions, and tasks, whose call was counted.
bool is_counted_call(std::string_view method);
inline MethodClass class_of(std::string_view method) { return facts_of_method(method).kind; }

/// Whether a notification belongs to the session, however it is received (BEHAVIOUR, "Routing:
/// notifications").
bool is_session_notification(std::string_view method);
/// Whether a notification is defined by MCP itself, not by an extension.
bool is_core_notification(std::string_view method);

/// Why a message with this method cannot be of its kind, as the message of an error; null if it
/// can. A request is never named `notifications/…`, and a request of the protocol is never sent as
/// a notification (MCP 2025-11-25, "Messages"): in the wrong form it would evade what the bridge
/// does by method.
const char* wrong_kind(const Frame& frame);

std::string_view name_of(MethodClass of);

/// Identifies older notifications that this one replaces; empty: none.
std::string coalesce_key(const Frame& notification);

struct Frame;

/// The bytes of the response to a list without the items for which `drop` returns true: called with
/// the position in the list and the item's JSON. The same bytes if none is dropped. Pure.
std::string without_items(const Frame& response, std::string_view list,
                          const std::function<bool(std::size_t, std::string_view)>& drop);

}  // namespace bridge
