#include "render/failure.hpp"

#include <fmt/format.h>

#include "base/contains.hpp"
#include "command_line/verb.hpp"
#include "elicitation/web_address.hpp"
#include "json/document.hpp"
#include "text/characters.hpp"
#include "text/trim.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

/// Typed text may be invalid UTF-8.
std::string of_any(const std::string& text) {
  return bridge::is_utf8(text) ? text : bridge::make_visible(text);
}

/// `data` is from an error of the bridge.
ExitCode exit_code_of(const json::Value& data) {
  const std::string_view kind = data.string("kind");
  if (kind == "timeout") return ExitCode::timed_out;
  if (kind == "shutdown") return ExitCode::unreachable;
  // While the session is being opened these mean that no server is usable; later, that the server's
  // response was bad.
  const bool is_upstream =
      bridge::has_word("dns connect tls closed session auth too_large", kind) ||
      (data.is_true("opening") && (kind == "http" || kind == "malformed"));
  return is_upstream ? ExitCode::upstream : ExitCode::answered_error;
}

/// The connection has ended, or the local server's process, before there was a session.
bool is_failed_start(const json::Value& data) {
  return data.is_true("opening") && data.string("kind") == "closed";
}

constexpr std::size_t longest_data = 500;

/// Whether the same request may succeed later, without a change by a person.
bool may_pass(const json::Value& data) {
  const std::string_view kind = data.string("kind");
  if (bridge::has_word("connect dns timeout closed session overloaded", kind)) return true;
  const auto status = data.count("status");
  return status == 408 || status == 425 || status == 429 ||
         (status >= 500 && status != 501 && status != 505);
}

/// Whether the request was delivered. With a status the server has received something: the request,
/// or only the bridge's own initialize before it.
std::string_view fate_of_request(const json::Value& data) {
  const std::string_view delivered = data.string("delivered");
  if (delivered == "unknown") return "; the server may have acted on the request";
  if (delivered != "no") return "";
  const bool was_sent =
      data.find("status", json::Value::Kind::number) != nullptr && !data.is_true("opening");
  const std::string_view kind = data.string("kind");
  // The message says when or whether a retry helps.
  if (bridge::has_word("shutdown denied rate_limited audit", kind) || is_failed_start(data) ||
      (kind == "auth" && !was_sent))
    return "; the request was not sent";
  if (kind == "auth" || !may_pass(data))
    return was_sent ? "; the server has not acted on the request"
                    : "; the server did not get the request";
  return was_sent ? "; the server has not acted on the request, it can be sent again"
                  : "; the server did not get the request, it can be sent again";
}

/// Strips the code name, which is for programs, from the bridge's JSON-RPC error message.
std::string_view without_code_name(std::string_view message) {
  for (const std::string_view name :
       {"Invalid params: ", "Invalid Request: ", "Method not found: ", "Internal error: "}) {
    if (message.starts_with(name)) return message.substr(name.size());
  }
  return message;
}

std::string describe_bridge_error(const json::Value& error, const json::Value& data) {
  const std::string_view kind = data.string("kind");
  std::string text(without_code_name(error.string("message")));
  text += fate_of_request(data);
  if (kind == "not_initialized") text += fmt::format("; {}", hint_for(kind));
  if (const json::Value* after = data.find("retryAfterMs", json::Value::Kind::number)) {
    const std::uint64_t ms = data.count("retryAfterMs");
    text += ms > 0 && ms % 1000 == 0 ? fmt::format("; try again in {} s", ms / 1000)
                                     : fmt::format("; try again in {} ms", after->text);
  }
  // The server's own message, which the bridge's error replaced.
  if (const auto said = data.object("upstream").string("message"); !said.empty())
    text += fmt::format("; the server said: {}", bridge::trimmed(said.substr(0, longest_data)));
  for (const auto& [member, header] : {std::pair("wwwAuthenticate", "WWW-Authenticate"),
                                       std::pair("mcpAuthServer", "Mcp-Auth-Server")}) {
    if (const std::string_view hint = data.string(member); !hint.empty())
      text += fmt::format("; {}: {}", header, hint);
  }
  if (const std::string_view login = data.string("login"); !login.empty()) {
    text += fmt::format("; log in with: {}", login);
  } else if (kind == "auth" && data.find("status") != nullptr &&
             text.find(token_advice) == text.npos) {
    // Also where none was sent: the daemon does not say so.
    text += fmt::format(
        "; if its token is missing or wrong, {}: start mcp-bridged with --token-file or {}",
        token_advice, token_advice_end);
  }
  return text;
}

/// Pages that must be opened before the server does what was requested (MCP 2025-11-25,
/// "Elicitation: URL Elicitation Required Error").
void add_pages(Failure& failure, const json::Value& error) {
  constexpr std::size_t most = 16;
  if (failure.error_code != "-32042") return;
  std::string addresses;
  std::size_t count = 0;
  for (const json::Value& page : error.object("data").array("elicitations")) {
    const std::string_view address = page.string("url");
    if (address.empty() || ++count > most) continue;
    failure.pages +=
        fmt::format("The server wants a page opened first: {}\n{}",
                    bridge::make_visible_line(page.string("message")), describe_address(address));
    addresses += (addresses.empty() ? "" : ", ") + bridge::make_visible_line(address);
  }
  if (addresses.empty()) return;
  failure.pages += "Nothing was opened. Open it yourself, then do this again.\n";
  failure.hint = fmt::format("open {} in a browser, then do this again", addresses);
}

}  // namespace

std::string_view hint_for(std::string_view kind) {
  if (kind == "usage") return "see: mcp-nc --help";
  if (kind == "daemon") return "start mcp-bridged, or name its socket with -s or MCP_SOCKET_PATH";
  if (kind == "timeout") return "raise -w of mcp-nc, or --request-timeout of mcp-bridged";
  if (bridge::has_word("dns connect closed session http", kind))
    return "the daemon retries automatically; see its state with: mcp-nc status";
  if (kind == "tls") return "see the daemon's log for what is wrong with the certificate";
  if (kind == "auth")
    return "check the daemon's credentials: they are missing, wrong, or may not do this";
  if (kind == "not_initialized") return "start mcp-bridged with --handshake lazy";
  if (kind == "too_large") return "raise --max-frame of mcp-bridged";
  if (kind == "overloaded") return "try again later";
  if (kind == "shutdown") return "try again when the daemon has restarted";
  return kind == "job" ? "list them with: mcp-nc jobs" : "";
}

json::JsonObject error_object(const Failure& error) {
  json::JsonObject about;
  about.add("kind", error.kind).add("code", json::RawJson{error.error_code});
  about.add("delivered", error.delivered).add("message", of_any(error.message));
  about.add("hint", of_any(error.hint)).add_unless_empty("result", json::RawJson{error.result});
  return json::JsonObject().add("error", about);
}

Failure read_error(std::string_view raw) {
  Failure error{.kind = "server",
                .message = std::string(raw),
                .delivered = "yes",
                .shown = fmt::format("the server answered with an error: {}", raw)};
  const auto value = json::parse(raw);
  if (!value || !value->is(json::Value::Kind::object)) return error;
  error.message = value->string("message");
  if (const json::Value* code = value->find("code", json::Value::Kind::number))
    error.error_code = code->text;
  const json::Value& data = value->object("data");
  if (data.string("source") == "bridge") {
    error.kind = data.string("kind");
    error.code = exit_code_of(data);
    error.delivered = data.string("delivered") == "unknown" ? "unknown" : "no";
    error.hint = hint_for(error.kind);
    error.shown = describe_bridge_error(*value, data);
    error.wants_login = !data.string("login").empty();
    if (const std::size_t advice = error.message.find(token_advice); advice != error.message.npos)
      error.hint = error.message.substr(advice);
    error.is_failed_start = is_failed_start(data);
    return error;
  }
  error.shown = fmt::format("the server answered: {}", bridge::trimmed(error.message));
  add_pages(error, *value);
  if (const auto more = json::find_member(raw, "data");
      more && *more != "null" && error.hint.empty())
    error.shown += " " + bridge::cut_off(*more, longest_data);
  if (const std::string hint = hint_for_capability(error.message); !hint.empty())
    error.shown += "; " + hint;
  return error;
}

Failure read_daemon_error(std::string_view raw) {
  Failure error = read_error(raw);
  if (error.kind != "server") return error;
  error.kind = "daemon";
  error.delivered = "no";
  error.hint = "see its state with: mcp-nc status";
  if (error.error_code == "-32601") {
    error.shown =
        "this daemon cannot do that: it is older than this mcp-nc (update it and start it "
        "again), or it runs with --no-control";
  } else if (!error.message.empty() && !json::find_member(raw, "data")) {
    error.shown = without_code_name(error.message);
  }
  return error;
}

std::string hint_for_capability(std::string_view message) {
  if (message.find("tasks are not translated") != message.npos)
    return "mcp-nc call --detach makes a job of a call, and a task where the server wants one";
  if (message.find("does not support") == message.npos) return {};
  for (const std::string_view capability : {"elicitation", "sampling", "roots"}) {
    if (message.find(capability) == message.npos) continue;
    return fmt::format(
        "the session was opened without {}: mcp-bridged --client-capabilities '{{\"{}\":{{}}}}' "
        "opens it with that",
        capability, capability);
  }
  return {};
}

std::string timed_out_after(const Options& options) {
  if (!options.timeout) return "timed out";
  return fmt::format("timed out after {} (-w)", format_duration(*options.timeout));
}

ExitCode tell_failure(Console& console, const Options& options, Failure failure) {
  if (failure.is_failed_start && !options.server.empty()) {
    failure.hint = fmt::format("see its log with: mcp-nc logs @{}", options.server);
    failure.shown += "; " + failure.hint;
  }
  if (failure.hint.empty()) failure.hint = hint_for_capability(failure.message);
  if (failure.hint.empty() && failure.kind == "usage" && options.verb != nullptr)
    failure.hint = fmt::format("see: mcp-nc help {}", options.verb->name());
  if (failure.hint.empty()) failure.hint = hint_for(failure.kind);
  for (std::string* const text : {&failure.message, &failure.shown, &failure.hint})
    *text = as_typed(std::move(*text), options);
  if (options.json) console.print(error_object(failure));
  // Interrupted by the user: only what became of the request.
  if (failure.kind == "interrupted" && failure.shown.empty()) return failure.code;
  console.note(failure.shown.empty() ? failure.message : failure.shown);
  console.prompt(failure.pages);
  return failure.code;
}

}  // namespace client
