#include "options/option_groups.hpp"

#include "json/json_text.hpp"
#include "options/option_table.hpp"

namespace bridge {
namespace {

void check_object(const std::string& option, const std::string& json) {
  if (!is_json(json) || !each_member(json, [](auto...) { return true; }))
    wrong_value(option, json, "a JSON object");
}

/// `NAME` or `NAME={…}`.
EventOption event_of(const std::string& given) {
  const auto equals = given.find('=');
  EventOption event{given.substr(0, equals), {}};
  if (event.name.empty() || event.name.size() > 256)
    wrong_value("--event", given, "NAME or NAME=JSON");
  if (equals == given.npos) return event;
  event.arguments = given.substr(equals + 1);
  check_object("--event", event.arguments);
  return event;
}

}  // namespace

void add_session_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.group("Session");
  table.choice(
      "--handshake", options.router.handshake,
      {{"lazy", Handshake::lazy}, {"client", Handshake::client}, {"eager", Handshake::eager}},
      "Who initializes: the first client or else the bridge; only a client; the bridge, at start");
  table.choice(
      "--era", options.session.era,
      {{"auto", EraOption::automatic},
       {"legacy", EraOption::legacy},
       {"modern", EraOption::modern}},
      "The eras that may be spoken with the upstream: with initialize (up to 2025-11-25), without "
      "(2026-07-28), or both");
  table.text("--client-capabilities", raw.client_capabilities, "JSON",
             "Capabilities the bridge opens the session with (elicitation, if none are given); if "
             "given, it always opens it itself");
  table.list(
      "--event", "NAME[=JSON]",
      "Keep a stream of these events open at a server of 2026-07-28; they go into the ring",
      [&options](const std::string& given) { options.session.events.push_back(event_of(given)); });
  table.duration("--connect-wait", options.session.connect_wait,
                 "How long a frame waits for the session");
  table.duration("--keepalive", options.session.keepalive,
                 "Ping the upstream after so long without a message; 0: never");
  table.duration("--grace", options.grace, "For requests in flight when the daemon is told to end");
  table.duration("--idle-exit", options.idle.exit,
                 "End once for so long no client was connected and nothing under way; 0: never");
  table.duration(
      "--idle-keep", options.idle.keep,
      "With it: how long notifications that nobody has taken, and ended jobs that nobody "
      "has collected, count as under way");
}

void resolve_session_options(Options& options, const RawOptions& raw) {
  if (!raw.client_capabilities.empty()) {
    check_object("--client-capabilities", raw.client_capabilities);
    options.session.client_capabilities = raw.client_capabilities;
    options.router.own_initialize = true;
    options.router.client_capabilities = raw.client_capabilities;
  }
  options.router.connect_wait = options.session.connect_wait;
}

}  // namespace bridge
