// The verbs about the session and the server itself, and about their use.
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "render/server_page.hpp"
#include "schema/signature.hpp"
#include "text/decimal.hpp"
#include "text/visible_text.hpp"
#include "verbs/operands.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

/// Sends a request whose result only confirms that it was done.
ExitCode have_done(Dialogue& dialogue, std::string_view method, std::string_view params) {
  const Answer answer = dialogue.ask(method, params);
  return answer.ok() ? ExitCode::ok : dialogue.report(answer);
}

constexpr Milliseconds watch_interval{1000};

/// From the system's clock, as the daemon's times are.
std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Milliseconds>(now).count();
}

ExitCode show_metrics(Dialogue& dialogue, const Options& options) {
  const Answer answer = dialogue.ask("bridge/metrics", "");
  if (!answer.ok()) return dialogue.report(answer);
  const std::string text = json::string_member(answer.payload, "text");
  dialogue.console().print(options.json || text.empty() ? answer.payload + "\n" : text);
  return ExitCode::ok;
}

/// An unreadable status is shown as received.
std::vector<StyledLine> render(const std::string& payload, const Look& look,
                               const std::string& program) {
  if (const auto status = json::parse(payload))
    return render_status(*status, now_ms(), look, program);
  std::vector<StyledLine> lines;
  lines.emplace_back().add(payload);
  return lines;
}

/// Shows the last response until the next one is due (timed_out), or something ends that: `woken`
/// for a key.
Answer::Outcome pass_interval(Dialogue& dialogue, TerminalSignals& signals, FullScreen& screen,
                              const std::string& payload, const std::string& program) {
  const Deadline end = Deadline::after(watch_interval);
  const AnyReadable either({signals.descriptor(), screen.keys()});
  for (;;) {
    const Answer::Outcome outcome = dialogue.pass_time(end, either.descriptor());
    if (outcome != Answer::Outcome::woken || screen.has_quit_key()) return outcome;
    while (const int number = signals.next()) {
      if (number != SIGWINCH) {
        screen.leave();
        signals.follow(number);
        screen.enter();
      }
      if (!dialogue.console().output_is_terminal()) continue;
      const Look look = look_of(dialogue.console(), true);
      screen.show(render(payload, look, program), look);
    }
  }
}

/// ^C is the way to end it; the sender of a SIGTERM wants to know that it was obeyed.
ExitCode end_watching(Dialogue& dialogue) {
  const ExitCode code = dialogue.report({Answer::Outcome::interrupted, ""});
  return code == ExitCode::interrupted ? ExitCode::ok : code;
}

ExitCode watch(Dialogue& dialogue, const std::string& program) {
  using Outcome = Answer::Outcome;
  Console& console = dialogue.console();
  TerminalSignals signals;
  FullScreen screen(console);
  for (;;) {
    dialogue.restart_time_limit();
    const Answer answer = dialogue.ask("bridge/status", "");
    if (answer.outcome == Outcome::interrupted) return end_watching(dialogue);
    if (answer.outcome != Outcome::result) {
      screen.leave();
      return dialogue.report(answer);
    }
    const Look look = look_of(console, console.output_is_terminal());
    screen.show(render(answer.payload, look, program), look);
    if (console.output_state() != Sink::Result::ok) return ExitCode::ok;
    const Outcome outcome = pass_interval(dialogue, signals, screen, answer.payload, program);
    if (outcome == Outcome::timed_out) continue;
    if (outcome == Outcome::woken) return ExitCode::ok;
    if (outcome == Outcome::interrupted) return end_watching(dialogue);
    screen.leave();
    return dialogue.report({outcome, ""});
  }
}

/// Prints a line each time.
ExitCode watch_as_json(Dialogue& dialogue) {
  for (;;) {
    dialogue.restart_time_limit();
    const Answer answer = dialogue.ask("bridge/status", "");
    if (!answer.ok()) return dialogue.report(answer);
    dialogue.console().print_line(answer.payload);
    if (dialogue.console().output_state() != Sink::Result::ok) return ExitCode::ok;
    const Answer::Outcome outcome = dialogue.pass_time(Deadline::after(watch_interval));
    if (outcome != Answer::Outcome::timed_out) return dialogue.report({outcome, ""});
  }
}

ExitCode say_whether_ready(Console& console, const std::string& payload, const Options& options) {
  const auto status = json::parse(payload);
  const bool ready = status && is_ready(*status);
  const std::string text = status ? render_ready(*status, typed_program(options))
                                  : "not ready: the status is unreadable";
  if (!options.json && ready) console.print_line(text);
  if (!options.json && !ready) console.note(text);
  return ready ? ExitCode::ok : ExitCode::upstream;
}

/// What the server has in the lists that it declares, and what to type next.
void add_offers(ServerPage& page, Dialogue& dialogue, const Options& options) {
  constexpr std::size_t most_names = 12;
  std::string next = fmt::format("{} help", typed_program(options));
  for (const auto& [capability, list] :
       {std::pair("tools", tool_list), std::pair("resources", resource_list),
        std::pair("prompts", prompt_list)}) {
    if (!json::find_member(page.capabilities, capability)) continue;
    const FetchedList fetched = fetch_list(dialogue, list);
    if (fetched.failed) continue;
    const auto elements = fetched.elements();
    std::string text = fmt::format("{}", elements.size());
    for (std::size_t at = 0; at < std::min(elements.size(), most_names); ++at)
      text += (at == 0 ? ": " : ", ") + bridge::make_visible_line(name_of(elements[at], list));
    page.offers.emplace_back(capability, text + (elements.size() > most_names ? ", ..." : ""));
    if (list.member == tool_list.member && !elements.empty())
      next = fmt::format("{0} tools {1}, {0} call {1}, {0} help", typed_program(options),
                         tool_operand(name_of(elements.front(), list)));
  }
  page.offers.emplace_back("next", next);
}

ExitCode install(const AgentSkill& skill, const Options& options, Console& console) {
  const std::string folder = options.save + "/" + skill.name;
  const std::string file = folder + "/SKILL.md";
  int error = make_folders(folder, 0777);
  if (error == 0) error = replace_file(file, skill.text);
  if (error != 0) {
    return tell_failure(console, options,
                        {"file", fmt::format("cannot write {}: {}", file, std::strerror(error))});
  }
  const json::JsonObject object = json::JsonObject().add("name", skill.name).add("file", file);
  console.print_line(options.json ? object.text() : file);
  return ExitCode::ok;
}

}  // namespace

ExitCode change_subscriptions(Dialogue& dialogue, const Options& options) {
  const std::string method = fmt::format("resources/{}", options.verb->name());
  ExitCode worst = ExitCode::ok;
  json::JsonArray done;
  for (const std::string& uri : options.operands) {
    const ExitCode code = have_done(dialogue, method, json::JsonObject().add("uri", uri).text());
    if (code != ExitCode::ok && code != ExitCode::answered_error) return code;
    if (code != ExitCode::ok) worst = code;
    done.add(uri);
  }
  if (options.json && worst == ExitCode::ok)
    dialogue.console().print(json::JsonObject().add("uris", done));
  return worst;
}

ExitCode ping(Dialogue& dialogue, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = have_done(dialogue, "ping", "");
  if (code != ExitCode::ok) return code;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const std::string exact = bridge::fixed_text(took.count(), 3);
  const std::string json = json::JsonObject().add("ms", json::RawJson{exact}).text() + "\n";
  dialogue.console().print(options.json ? json : bridge::fixed_text(took.count(), 1) + " ms\n");
  return ExitCode::ok;
}

ExitCode show_server(Dialogue& dialogue, const Options& options) {
  // Answered from the session, which is opened for it; never forwarded.
  const Answer described = dialogue.ask("server/discover", "");
  if (!described.ok()) return dialogue.report(described);
  const Answer status = dialogue.ask("bridge/status", "");
  if (!status.ok() && status.outcome != Answer::Outcome::error) return dialogue.report(status);
  Console& console = dialogue.console();
  ServerPage page = read_server(described.payload, status.ok() ? status.payload : "{}");
  if (!options.json) add_offers(page, dialogue, options);
  console.print(options.json ? server_json(page) : render_server(page, console.output_width()));
  return ExitCode::ok;
}

ExitCode print_level(Dialogue& dialogue, const Options& options, const std::string&) {
  if (options.json)
    dialogue.console().print(json::JsonObject().add("level", options.operands.front()));
  return ExitCode::ok;
}

ExitCode print_completion(Dialogue& dialogue, const Options& options, const std::string& result) {
  Console& console = dialogue.console();
  if (options.json) {
    console.print_line(result);
    return ExitCode::ok;
  }
  const json::Value parsed = json::parse_or_null(result);
  const json::Value& completion = parsed.object("completion");
  const json::Value* const values = completion.find("values", json::Value::Kind::array);
  if (values == nullptr) {
    console.note("the server's answer has no values (--json shows it)");
    return ExitCode::answered_error;
  }
  std::string text;
  for (const json::Value& value : values->items) text += value.text + "\n";
  console.print(text);
  if (text.empty()) console.remark("the server proposes nothing");
  if (completion.is_true("hasMore")) {
    const auto total = completion.count("total");
    console.note(total == 0 ? "the server has more"
                            : fmt::format("{} of {}", values->items.size(), total));
  }
  return ExitCode::ok;
}

[[gnu::cold]] Params grant_params(const Operands& operands) {
  return json::JsonObject().add("id", operands[0]).text();
}

// Cold: they are compiled for size, which the static program has little of.

/// A list of globs and one of what only reads are two grants, the second under the first.
[[gnu::cold]] ExitCode issue_grant(Dialogue& dialogue, const Options& options) {
  json::JsonObject params;
  params.add("ttlMs", options.listen_for.value_or(Milliseconds(600'000)).count());
  if (!options.prefix.empty()) params.add("name", options.prefix);
  if (options.count) params.add("calls", *options.count);
  json::JsonArray globs;
  for (const std::string& glob : options.methods) globs.add(glob);
  std::string issued;
  for (bool reading = options.read_only;; reading = false) {
    json::JsonObject all = params;
    if (reading) {
      all.add("tools", "read-only");
    } else if (!globs.is_empty()) {
      all.add("tools", globs);
    }
    const Answer answer = dialogue.ask("bridge/grant", all.text());
    if (!answer.ok()) return dialogue.report(answer);
    issued = answer.payload;
    if (!reading || globs.is_empty()) break;
    const std::string_view string = json::find_member(issued, "grant").value_or("null");
    const Answer used =
        dialogue.ask("bridge/use", json::JsonObject().add("grant", json::RawJson{string}).text());
    if (!used.ok()) return dialogue.report(used);
  }
  dialogue.console().print_line(options.json ? issued : json::string_member(issued, "grant"));
  return ExitCode::ok;
}

[[gnu::cold]] ExitCode list_grants(Dialogue& dialogue, const Options& options) {
  json::JsonArray all;
  std::string params;
  for (;;) {
    const Answer answer = dialogue.ask("bridge/grants", params);
    if (!answer.ok()) return dialogue.report(answer);
    const json::Value parsed = json::parse_or_null(answer.payload);
    for (const json::Value& grant : parsed.array("grants")) {
      if (options.json) {
        all.add(json::RawJson{json::to_json(grant)});
        continue;
      }
      dialogue.console().print_line(bridge::make_visible_line(fmt::format(
          "{}  {}  {}  {}", grant.string("id"), grant.string("expires"),
          grant.find("callsLeft") != nullptr ? std::to_string(grant.count("callsLeft")) : "-",
          grant.string("name"))));
    }
    const std::string cursor(parsed.string("cursor"));
    if (cursor.empty()) break;
    params = json::JsonObject().add("cursor", cursor).text();
  }
  if (options.json) dialogue.console().print_line(json::JsonObject().add("grants", all).text());
  return ExitCode::ok;
}

[[gnu::cold]] std::string issuer_text(const json::Value& grant) {
  return grant.find("issuer") != nullptr && grant.string("issuer").empty()
             ? fmt::format("uid {}", grant.count("issuer"))
             : "a caller of the HTTP port";
}

/// What holds for a caller with this grant, in lines.
[[gnu::cold]] std::string grant_text(const json::Value& grant) {
  const std::string name(grant.string("name"));
  const bool is_limited = grant.find("callsLeft") != nullptr;
  std::string text = bridge::make_visible_line(fmt::format(
      "grant   {}{}, issued by {}, until {}, {}", grant.string("id"),
      name.empty() ? "" : " (" + name + ")", issuer_text(grant), grant.string("expires"),
      is_limited ? fmt::format("calls left: {}", grant.count("callsLeft")) : "calls not limited"));
  for (const json::Value& one : grant.array("path")) {
    std::string lists;
    for (const std::string_view kind : {"tools", "prompts", "resources", "methods"}) {
      if (const json::Value* const list = one.find(kind))
        lists += fmt::format("; {} {}", kind, json::to_json(*list));
    }
    text += "\n        " +
            bridge::make_visible_line(fmt::format("{}: what {} may do{}", one.string("id"),
                                                  issuer_text(one), lists.empty() ? "" : lists));
  }
  return text + "\n";
}

[[gnu::cold]] ExitCode print_caller(Dialogue& dialogue, const Options& options,
                                    const std::string& result) {
  const json::Value status = json::parse_or_null(result);
  const auto you = status.count("you");
  for (const json::Value& client : status.array("clients")) {
    if (you == 0 || client.count("id") != you) continue;
    const auto uid = client.count("uid");
    const auto pid = client.count("pid");
    const json::Value& policy = status.object("policy");
    const std::string rule = policy_text(policy);
    json::JsonObject object;
    object.add("uid", uid).add("pid", pid).add("client", you);
    if (!rule.empty()) object.add("policy", json::RawJson{json::to_json(policy)});
    const std::string held =
        bridge::make_visible_line(json::find_member(result, "grant").value_or(""));
    object.add_unless_empty("grant", json::RawJson{held});
    dialogue.console().print(
        options.json ? object.text() + "\n"
                     : fmt::format("uid     {}\npid     {}\nclient  {}\n{}{}", uid, pid, you,
                                   rule.empty() ? "" : fmt::format("policy  {}\n", rule),
                                   held.empty() ? "" : grant_text(status.object("grant"))));
    return ExitCode::ok;
  }
  return dialogue.report({Answer::Outcome::result, result});
}

ExitCode show_status(Dialogue& dialogue, const Options& options) {
  if (options.metrics) return show_metrics(dialogue, options);
  if (options.watch)
    return options.json ? watch_as_json(dialogue) : watch(dialogue, typed_program(options));
  const Answer answer = dialogue.ask("bridge/status", "");
  if (!answer.ok()) return dialogue.report(answer);
  Console& console = dialogue.console();
  if (options.json) console.print_line(answer.payload);
  if (options.ready) return say_whether_ready(console, answer.payload, options);
  if (!options.json) {
    const Look look = look_of(console);
    console.print_raw(draw_lines(render(answer.payload, look, typed_program(options)), look));
  }
  return ExitCode::ok;
}

ExitCode show_agent_help(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  AgentHelp about;
  about.program = typed_program(options);
  const Answer described =
      prepared.described ? *prepared.described : dialogue.ask("server/discover", "");
  if (described.outcome == Answer::Outcome::error) {
    about.trouble = read_error(described.payload).shown;
  } else if (!described.ok()) {
    return dialogue.report(described);
  } else {
    const Answer status = dialogue.ask("bridge/status", "");
    about.server = read_server(described.payload, status.ok() ? status.payload : "{}");
    const FetchedList fetched = fetch_list(dialogue, tool_list);
    for (const std::string_view tool : fetched.elements())
      about.tools.push_back(name_of(tool, tool_list));
  }
  const std::string text = agent_help(about);
  dialogue.console().print(options.json ? json::JsonObject().add("text", text).text() + "\n"
                                        : text);
  return ExitCode::ok;
}

ExitCode print_skill(const Options& options, Console& console) {
  const AgentSkill skill = agent_skill(typed_program(options), options.server);
  if (!options.save.empty()) return install(skill, options, console);
  const json::JsonObject object =
      json::JsonObject().add("name", skill.name).add("text", skill.text);
  console.print(options.json ? object.text() + "\n" : skill.text);
  return ExitCode::ok;
}

}  // namespace client
