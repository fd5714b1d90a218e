// The verbs about the session and the server itself.
#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "json/text.hpp"
#include "json/value.hpp"
#include "render/server_page.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

/// Asks for something whose result says no more than that it was done.
ExitCode have_done(Dialogue& dialogue, std::string_view method, std::string_view params) {
  const Answer answer = dialogue.ask(method, params);
  return answer.outcome == Answer::Outcome::result ? ExitCode::ok : dialogue.report(answer);
}

ExitCode for_each_uri(Dialogue& dialogue, const Options& options, std::string_view method) {
  ExitCode worst = ExitCode::ok;
  std::string done;
  for (const std::string& uri : options.operands) {
    const ExitCode code =
        have_done(dialogue, method, fmt::format(R"({{"uri":{}}})", json::quote(uri)));
    if (code == ExitCode::ok) done += (done.empty() ? "" : ",") + json::quote(uri);
    if (code != ExitCode::ok && code != ExitCode::answered_error) return code;
    if (code != ExitCode::ok) worst = code;
  }
  if (options.json && worst == ExitCode::ok)
    dialogue.console().print(fmt::format("{{\"uris\":[{}]}}\n", done));
  return worst;
}

}  // namespace

ExitCode subscribe(Dialogue& dialogue, const Options& options) {
  return for_each_uri(dialogue, options, "resources/subscribe");
}

ExitCode unsubscribe(Dialogue& dialogue, const Options& options) {
  return for_each_uri(dialogue, options, "resources/unsubscribe");
}

ExitCode ping(Dialogue& dialogue, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = have_done(dialogue, "ping", "");
  if (code != ExitCode::ok) return code;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  dialogue.console().print(options.json ? fmt::format("{{\"ms\":{:.3f}}}\n", took.count())
                                        : fmt::format("{:.1f} ms\n", took.count()));
  return ExitCode::ok;
}

ExitCode show_server(Dialogue& dialogue, const Options& options) {
  // Answered from the session, which is opened for it; never forwarded.
  const Answer described = dialogue.ask("server/discover", "");
  if (described.outcome != Answer::Outcome::result) return dialogue.report(described);
  const Answer status = dialogue.ask("bridge/status", "");
  if (status.outcome != Answer::Outcome::result && status.outcome != Answer::Outcome::error)
    return dialogue.report(status);
  Console& console = dialogue.console();
  const ServerPage page = read_server(
      described.payload, status.outcome == Answer::Outcome::result ? status.payload : "{}");
  console.print(options.json ? server_json(page) : render_server(page, console.output_width()));
  return ExitCode::ok;
}

ExitCode print_level(Dialogue& dialogue, const Options& options, const std::string&) {
  const std::string level = json::quote(options.operands.front());
  if (options.json) dialogue.console().print(fmt::format("{{\"level\":{}}}\n", level));
  return ExitCode::ok;
}

ExitCode print_completion(Dialogue& dialogue, const Options& options, const std::string& result) {
  Console& console = dialogue.console();
  if (options.json) {
    console.print(result + "\n");
    return ExitCode::ok;
  }
  const auto parsed = json::parse(result);
  const json::Value* const completion =
      parsed ? parsed->find("completion", json::Value::Kind::object) : nullptr;
  const json::Value* const values =
      completion == nullptr ? nullptr : completion->find("values", json::Value::Kind::array);
  if (values == nullptr) {
    console.note("the server's answer has no values (--json shows it)");
    return ExitCode::answered_error;
  }
  std::string text;
  for (const json::Value& value : values->items) text += value.text + "\n";
  console.print(text);
  if (text.empty()) console.remark("the server proposes nothing");
  const json::Value* const more = completion->find("hasMore", json::Value::Kind::boolean);
  if (more != nullptr && more->truth) {
    const auto total = completion->count("total");
    console.note(total == 0 ? "the server has more"
                            : fmt::format("{} of {}", values->items.size(), total));
  }
  return ExitCode::ok;
}

ExitCode print_caller(Dialogue& dialogue, const Options& options, const std::string& result) {
  const auto status = json::parse(result);
  const json::Value* const clients =
      status ? status->find("clients", json::Value::Kind::array) : nullptr;
  const json::Value* const you = status ? status->find("you") : nullptr;
  for (std::size_t at = 0; clients != nullptr && you != nullptr && at < clients->items.size();
       ++at) {
    const json::Value& client = clients->items[at];
    if (client.count("id") != status->count("you")) continue;
    const auto uid = client.count("uid");
    const auto pid = client.count("pid");
    dialogue.console().print(
        options.json ? fmt::format("{{\"uid\":{},\"pid\":{},\"client\":{}}}\n", uid, pid, you->text)
                     : fmt::format("uid     {}\npid     {}\nclient  {}\n", uid, pid, you->text));
    return ExitCode::ok;
  }
  return dialogue.report({Answer::Outcome::result, result});
}

}  // namespace client
