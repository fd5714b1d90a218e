// mcp-nc login and logout: show the steps for the person, and wait for the end.
#include <fmt/format.h>

#include "servers/daemon_program.hpp"
#include "verbs/verbs.hpp"

namespace client {

ExitCode log_in(Dialogue& dialogue, const Options& options);

namespace {

/// The daemon ends a login after 10 minutes, so this wait is answered before its timeout.
constexpr std::string_view wait_params = R"({"waitMs":900000})";
constexpr std::size_t longest_line = 16384;

void open_in_browser(Console& console, const std::string& url) {
  const std::string program = find_program("xdg-open");
  if (program.empty()) return console.note("cannot open a browser: xdg-open not found");
  if (!run_detached(program, url))
    console.note(fmt::format("cannot open a browser: {} cannot be run", program));
}

void show(Dialogue& dialogue, const Options& options, const std::string& offer) {
  Console& console = dialogue.console();
  if (options.json) return console.print_line(offer);
  const auto said = json::parse(offer);
  if (!said) return;
  const std::string url(said->string("url"));
  if (!url.empty() && options.device) {
    console.note(fmt::format(
        "a login in a browser is pending; to use a code instead, type: {0} login --cancel, then: "
        "{0} login --device",
        typed_program(options)));
  }
  if (!url.empty()) {
    console.note("open this address in a browser:");
    console.print_line(url);
    console.note(
        "if the browser runs elsewhere and cannot show its last page, paste that page's address "
        "here");
    if (options.open) open_in_browser(console, url);
  } else {
    console.note(fmt::format("open {} and type this code:", said->string("verificationUri")));
    console.print_line(said->string("userCode"));
  }
}

ExitCode report_end(Dialogue& dialogue, const Options& options, const Answer& answer) {
  const bool has_no_login =
      answer.outcome == Answer::Outcome::error &&
      answer.payload.find("cannot find the authorization server") != std::string::npos;
  // A server that serves without a login does not require one.
  if (has_no_login && dialogue.ask("server/discover", "").ok()) {
    Failure failure = dialogue.failure_of(answer);
    failure.shown = "the server does not ask for a login";
    failure.code = ExitCode::answered_error;
    failure.hint = failure.shown;
    return tell_failure(dialogue.console(), options, failure);
  }
  const ExitCode code = dialogue.report(answer);
  if (answer.was_given_up())
    dialogue.console().note(fmt::format(
        "the login continues; wait for it with: {0} login; end it with: {0} login --cancel",
        typed_program(options)));
  // Whatever the cause, there is no login.
  const bool is_upstreams = answer.outcome == Answer::Outcome::error && code == ExitCode::upstream;
  return is_upstreams ? ExitCode::answered_error : code;
}

ExitCode wait_for_end(Dialogue& dialogue, const Options& options) {
  InputLines pasted;
  int input = STDIN_FILENO;
  const std::string wait = dialogue.send("bridge/login", wait_params);
  std::vector<std::string> ids = {wait};
  for (;;) {
    const Answer answer = dialogue.await(ids, dialogue.deadline(), input);
    if (answer.outcome == Answer::Outcome::woken) {
      if (!pasted.read()) input = -1;  // the end of the input cancels nothing
      while (const auto line = pasted.next()) {
        if (line->find_first_not_of(" \t\r") == line->npos) continue;
        const std::string callback = json::JsonObject().add("callback", *line).text();
        ids.push_back(dialogue.send("bridge/login", callback));
      }
      if (pasted.begun().size() > longest_line) pasted.take_begun();
      continue;
    }
    const bool is_of_paste = !answer.id.empty() && answer.id != wait;
    if (is_of_paste) {
      std::erase(ids, answer.id);
      if (answer.outcome == Answer::Outcome::error &&
          answer.payload.find("is still pending") != std::string::npos)
        dialogue.console().note(json::string_member(answer.payload, "message"));
      continue;  // the end of the login is the response to `wait`
    }
    if (!answer.ok()) return report_end(dialogue, options, answer);
    const bool is_ok = json::string_member(answer.payload, "state") == "ok";
    if (options.json) dialogue.console().print_line(answer.payload);
    dialogue.console().note(is_ok ? "logged in" : "not logged in");
    return is_ok ? ExitCode::ok : ExitCode::answered_error;
  }
}

/// nullopt if no line arrives in time.
std::optional<std::string> typed_line(Dialogue& dialogue) {
  InputLines typed;
  do {
    if (auto line = typed.next()) return line;
    if (dialogue.await({}, dialogue.deadline(), STDIN_FILENO).outcome != Answer::Outcome::woken)
      return std::nullopt;
  } while (typed.read());
  return std::nullopt;
}

}  // namespace

ExitCode log_in(Dialogue& dialogue, const Options& options) {
  if (options.cancel) {
    const Answer answer = dialogue.ask("bridge/login", R"({"cancel":true})");
    if (!answer.ok()) return report_end(dialogue, options, answer);
    if (options.json) dialogue.console().print_line(answer.payload);
    return ExitCode::ok;
  }
  const Answer offer = dialogue.ask("bridge/login", options.device ? R"({"mode":"device"})" : "{}");
  if (!offer.ok()) return report_end(dialogue, options, offer);
  show(dialogue, options, offer.payload);
  return wait_for_end(dialogue, options);
}

bool log_in_if_wanted(Dialogue& dialogue, const Options& options) {
  dialogue.console().prompt("Log in now? [Y/n] ");
  const auto line = typed_line(dialogue);
  const bool is_wanted = line && (line->empty() || *line == "y" || *line == "Y" || *line == "yes");
  Options own = options;
  own.cancel = false;  // an option of another verb
  return is_wanted && log_in(dialogue, own) == ExitCode::ok;
}

ExitCode print_logout(Dialogue& dialogue, const Options& options, const std::string& payload) {
  Console& console = dialogue.console();
  if (options.json) console.print_line(payload);
  const auto result = json::parse(payload);
  if (!result) return ExitCode::answered_error;
  const std::string_view fault = result->string("fault");
  if (!result->is_true("loggedIn")) {
    console.note("not logged in");
  } else if (result->is_true("revoked")) {
    console.note("logged out; the server has revoked the login");
  } else if (fault.empty()) {
    console.note("logged out here; the server does not support revocation");
  } else {
    console.note(
        fmt::format("logged out here, but the server did not revoke the login: {}", fault));
    return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

}  // namespace client
