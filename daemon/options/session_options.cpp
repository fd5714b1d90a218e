#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/start_error.hpp"
#include "json/json_text.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"

namespace bridge {
namespace {

void check_object(const std::string& option, const std::string& json) {
  if (!each_member(json, [](auto...) { return true; })) wrong_value(option, json, "a JSON object");
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
      "What opens the session: the first request; only a client; the daemon's start");
  table.choice(
      "--era", options.session.era,
      {{"auto", EraOption::automatic},
       {"legacy", EraOption::legacy},
       {"modern", EraOption::modern}},
      "Allowed with the upstream: both eras; only with initialize (up to 2025-11-25); only without "
      "(2026-07-28)");
  table.text(
      "--client-capabilities", raw.client_capabilities, "JSON",
      "Capabilities the bridge declares when it opens the session (default: elicitation); if "
      "given, it always opens the session");
  table.list(
      "--event", "NAME[=JSON]",
      "Stream, or else poll, these events of a server of 2026-07-28 into the ring",
      [&options](const std::string& given) { options.session.events.push_back(event_of(given)); });
  table.duration("--connect-wait", options.session.connect_wait,
                 "How long a message waits for the session");
  table.duration("--keepalive", options.session.keepalive,
                 "Ping the upstream after this long without a message; 0: never");
  table.duration("--grace", options.grace, "How long requests in flight may take at shutdown");
  table.duration("--idle-exit", options.idle.exit,
                 "End after this long without clients and work; 0: never");
  table.duration("--idle-keep", options.idle.keep,
                 "With it: how long undelivered notifications and uncollected jobs count as work");
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

void add_job_options(OptionTable& table, Options& options) {
  table.group("Jobs");
  table.count("--jobs", options.jobs.limits.jobs, "Jobs kept");
  table.size("--jobs-bytes", options.jobs.limits.bytes, "Bytes of jobs kept, answers included");
  table.duration("--job-ttl", options.jobs.limits.ttl,
                 "How long an ended job is kept, and how long its question waits");
  table.flag("jobs-shared", options.jobs.shared, "Every user sees all jobs, not only its own");
}

void resolve_job_options(Options& options) {
  options.jobs.request_max = options.upstream.http.request_max;
  // So that a response arrives within the caller's timeout.
  constexpr std::chrono::milliseconds before{5000};
  const std::chrono::milliseconds timeout = options.frontend.timeout;
  options.jobs.longest_http_wait = std::max(timeout - before, timeout / 2);
}

void add_running_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.group("Running");
  table.text("--options-file", raw.options_file, "FILE", "More options, one 'name = value' a line");
  table.choice("--log-level", options.log.level,
               {{"debug", LogLevel::debug},
                {"info", LogLevel::info},
                {"warning", LogLevel::warning},
                {"error", LogLevel::error},
                {"off", LogLevel::off}},
               "What is logged on stderr");
  table.choice("--log-format", options.log.format,
               {{"text", LogFormat::text}, {"json", LogFormat::json}},
               "Lines of text, or JSON objects");
  table.flag("log-bodies", options.log.bodies,
             "At debug level log messages too, including their secrets");
  table.flag(
      "debuggable", options.debuggable,
      "Let debuggers and other processes of the same user look into this one (core dumps too)");
  table.text("--state-dir", options.state.folder, "DIR",
             "Keep notifications and the session there, for the next daemon");
  table.choice("--sync", options.state.sync, {{"process", Sync::process}, {"power", Sync::power}},
               "What the state survives: the end of the process, or also a loss of power");
  table.choice("--at-end", options.state.keep_session, {{"keep", true}, {"end", false}},
               "With a state directory, at an orderly end: the session is left open at the server, "
               "or ended");
  table.text("--audit", options.audit.target, "FILE|journal|stdout|stderr",
             "Record each request of a client there, one JSON object a line");
  table.flag("audit-arguments", options.audit.arguments,
             "With --audit: record the arguments, too, without known secrets");
  table.flag("audit-required", options.audit.required,
             "With --audit: refuse requests that cannot be recorded");
  table.text("--metrics-file", options.metrics_file, "FILE",
             "Write the Prometheus metrics there every 15 s, for a textfile collector");
  table.parsed("--metrics-listen", "[HOST]:PORT", "off",
               "Serve /metrics, /healthz and /readyz here, over plain HTTP without a token",
               [&options](const std::string& given) {
                 auto& address = options.metrics_listener.address;
                 address = parse_listen_address(given);
                 if (!address)
                   wrong_value("--metrics-listen", given,
                               "an address (HOST:PORT, [IPV6]:PORT, :PORT)");
               });
}

void resolve_running_options(const Options& options) {
  const AuditOptions& audit = options.audit;
  if (audit.target.empty() && (audit.arguments || audit.required)) {
    throw StartError(exit_code::usage,
                     fmt::format("--audit-{}: there is no audit; name it with --audit",
                                 audit.required ? "required" : "arguments"));
  }
  const auto& metrics = options.metrics_listener.address;
  if (metrics && options.frontend.address && metrics->port != 0 &&
      *metrics == *options.frontend.address)
    throw StartError(exit_code::usage,
                     "--metrics-listen: the address of --http; give it a port of its own");
  if (options.metrics_file.empty()) return;
  const std::filesystem::path file(options.metrics_file);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw StartError(exit_code::configuration,
                     fmt::format("--metrics-file: cannot write in {}: {}", printable(folder),
                                 std::strerror(errno)));
  }
}

}  // namespace bridge
