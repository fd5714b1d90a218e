#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

struct Frame;

/// Whether a log message of this level is to be seen by who has asked for `least` and above (MCP
/// 2026-07-28, "Logging"; RFC 5424). An empty or unknown `least` lets nothing through; a level that
/// is none of the eight counts as the highest. Pure.
bool reaches_level(std::string_view level, std::string_view least);

/// Whether a request only reads, so that sending it twice does no harm (BEHAVIOUR, "Session: sent
/// again or not").
bool only_reads(std::string_view method);

/// Whether the answer to a request is a stream that stays open (the events extension of MCP
/// 2026-07-28).
inline bool is_stream(std::string_view method) { return method == "events/stream"; }

/// Whether a notification belongs to the session wherever it comes from (BEHAVIOUR, "Routing: whose
/// notification it is").
bool is_session_notification(std::string_view method);

/// Why a message with this method cannot be of its kind, as the message of an error; null if it
/// can. A request is never named `notifications/…`, and a request of the protocol is no
/// notification (MCP 2025-11-25, "Messages"): in the other form it would pass unseen what the
/// bridge does by its name.
const char* wrong_kind(const Frame& frame);

/// Methods of one kind, for the metrics: few, whatever clients send.
enum class MethodClass : std::uint8_t {
  call,       ///< tools/call
  list,       ///< whatever ends in /list
  read,       ///< resources/read, prompts/get, completion/complete
  subscribe,  ///< resources/subscribe, resources/unsubscribe, subscriptions/listen
  session,    ///< initialize, ping, logging/setLevel, server/discover
  task,       ///< tasks/…
  other,
};
constexpr std::size_t method_classes = 7;

MethodClass class_of(std::string_view method);
std::string_view name_of(MethodClass of);

/// What a newer notification of the same key makes superfluous; empty: nothing.
std::string coalesce_key(const Frame& notification);

}  // namespace bridge
