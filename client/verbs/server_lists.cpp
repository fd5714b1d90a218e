#include "verbs/server_lists.hpp"

#include <fmt/format.h>

#include <set>

#include "base/contains.hpp"
#include "command_line/verb.hpp"
#include "render/content.hpp"
#include "render/lists.hpp"
#include "render/table.hpp"
#include "schema/signature.hpp"
#include "text/similar.hpp"
#include "text/visible_text.hpp"
#include "verbs/operands.hpp"

namespace client {
namespace {

using Elements = std::vector<std::string_view>;

constexpr int most_pages = 1000;

bool has_element(const std::string& page, const ServerList& list, std::string_view name) {
  const FetchedList one{list, {page}};
  const Elements all = one.elements();
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view element) { return name_of(element, list) == name; });
}

/// The element of that name as it is listed. `noun`: what the list has.
std::variant<std::string, Unknown, Answer> find_in_list(Dialogue& dialogue, const ServerList& list,
                                                        std::string_view noun,
                                                        std::string_view wanted) {
  FetchedList fetched = fetch_list(dialogue, list, wanted);
  if (fetched.failed) return std::move(*fetched.failed);
  if (!json::find_member(fetched.pages.front(), list.member))
    return Answer{Answer::Outcome::result, fetched.pages.front()};
  std::vector<std::string> names;
  for (const std::string_view element : fetched.elements()) {
    names.push_back(name_of(element, list));
    if (names.back() == wanted) return std::string(element);
  }
  const std::vector<std::string_view> all(names.begin(), names.end());
  return Unknown{fmt::format("no {} '{}'{}", noun, wanted, bridge::did_you_mean(wanted, all)),
                 bridge::most_similar(wanted, all), list.member};
}

/// One per line, for other programs and the shells' completions. `names` are JSON.
std::string names_of(const Elements& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (json::is_string(name)) text += bridge::make_visible_line(json::decode_string(name)) + "\n";
  }
  return text;
}

constexpr std::size_t most_in_full = 20;

std::string types_of(const Elements& tools, const Options& options) {
  const std::string text = render_typescript(tools);
  return options.json ? json::JsonObject().add("types", text).text() + "\n" : text;
}

/// Shows the list as the options require, or by `print` if it is not empty.
ExitCode show(Dialogue& dialogue, const Options& options, const ServerList& list,
              const std::function<void(const Elements&, Console&)>& print) {
  const FetchedList fetched = fetch_list(dialogue, list);
  if (fetched.failed) return dialogue.report(*fetched.failed);
  Console& console = dialogue.console();
  const Elements elements = fetched.elements();
  if (options.types) {
    console.print(types_of(elements, options));
  } else if (options.json) {
    // A single page byte for byte; of several pages the elements byte for byte.
    json::JsonArray all;
    for (const std::string_view element : elements) all.add(json::RawJson{element});
    console.print_line(fetched.pages.size() == 1 ? fetched.pages.front()
                                                 : json::JsonObject().add(list.member, all).text());
  } else if (options.names) {
    Elements names;
    for (const std::string_view element : elements)
      names.push_back(json::find_member(element, list.name).value_or(""));
    console.print(names_of(names));
  } else if (elements.empty()) {
    console.note(
        fmt::format("the server has no {}", list.empty.empty() ? list.member : list.empty));
  } else {
    print(elements, console);
  }
  return ExitCode::ok;
}

/// A printer for a list by one of the functions of render/lists.hpp.
auto as_text(std::string (*render)(const Elements&, std::size_t)) {
  return [render](const Elements& elements, Console& console) {
    console.print(render(elements, console.output_width()));
  };
}

ExitCode show_tool(Dialogue& dialogue, const Options& options) {
  const auto found = find_tool(dialogue, options.operands.front());
  if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
  Console& console = dialogue.console();
  if (const auto* unknown = std::get_if<Unknown>(&found))
    return report_unknown(*unknown, options, console);
  const auto* const known = std::get_if<KnownTool>(&found);
  const auto tool = known == nullptr ? std::nullopt : known->raw();
  if (!tool) return report_unknown({"the server has no list of tools"}, options, console);
  if (options.types) {
    console.print(types_of({*tool}, options));
  } else if (options.json) {
    console.print_line(*tool);
  } else {
    console.print(options.names
                      ? argument_words(*tool)
                      : render_tool(*tool, console.output_width(), typed_program(options)));
  }
  return ExitCode::ok;
}

}  // namespace

FetchedList fetch_list(Dialogue& dialogue, const ServerList& list, std::string_view wanted) {
  FetchedList fetched{list};
  std::set<std::string> cursors;
  std::string params;
  while (fetched.pages.size() < most_pages) {
    Answer answer = dialogue.ask(list.method, params);
    if (!answer.ok()) return {list, {}, std::move(answer)};
    const auto cursor = json::find_member(answer.payload, "nextCursor");
    const bool has_more = cursor && json::is_string(*cursor);
    const bool is_repeated = has_more && !cursors.insert(json::decode_string(*cursor)).second;
    if (has_more) params = json::JsonObject().add("cursor", json::RawJson{*cursor}).text();
    fetched.pages.push_back(std::move(answer.payload));
    if (!has_more || (!wanted.empty() && has_element(fetched.pages.back(), list, wanted)))
      return fetched;
    if (is_repeated) {
      dialogue.console().note(
          fmt::format("the server repeats a cursor of {}; the list ends there", list.method));
      std::set<std::string_view> names;  // it may have sent its first page again
      json::JsonArray all;
      for (const std::string_view element : fetched.elements()) {
        const auto name = json::find_member(element, list.name);
        if (!name || names.insert(*name).second) all.add(json::RawJson{element});
      }
      fetched.pages = {json::JsonObject().add(list.member, all).text()};
      return fetched;
    }
  }
  dialogue.console().note(fmt::format("stopped after {} pages, there are more", most_pages));
  return fetched;
}

std::vector<std::string_view> FetchedList::elements() const {
  std::vector<std::string_view> all;
  for (const std::string& page : pages) {
    const auto elements = json::elements(json::find_member(page, list.member).value_or(""));
    if (elements) all.insert(all.end(), elements->begin(), elements->end());
  }
  return all;
}

std::string name_of(std::string_view element, const ServerList& list) {
  return json::string_member(element, list.name);
}

ExitCode report_unknown(const Unknown& unknown, const Options& options, Console& console) {
  const std::string list = fmt::format("{} {}", typed_program(options), unknown.verb);
  const bool is_near = !unknown.meant.empty();
  return tell_failure(
      console, options,
      {.kind = "server",
       .message = unknown.message,
       .hint = is_near ? list + " " + tool_operand(unknown.meant) : "list them with: " + list,
       .error_code = "-32602",  // invalid params
       .shown = is_near ? "" : fmt::format("{}; list them with: {}", unknown.message, list)});
}

std::variant<KnownTool, Unknown, NoToolList, Answer> find_tool(Dialogue& dialogue,
                                                               std::string_view name) {
  Answer answer = dialogue.ask("bridge/tool", json::JsonObject().add("name", name).text());
  if (answer.ok()) return KnownTool{std::move(answer.payload)};
  if (answer.outcome != Answer::Outcome::error) return answer;
  const auto data = json::find_member(answer.payload, "data").value_or("{}");
  const bool is_bridges = json::string_member(data, "source") == "bridge";
  // The daemon keeps no list: it is an older one, does not support bridge/ methods, or the list is
  // too long for it. The server may have none, too.
  if (is_bridges && !bridge::has_word("tool too_large", json::string_member(data, "kind")))
    return answer;
  auto found = find_in_list(dialogue, tool_list, "tool", name);
  if (const auto* tool = std::get_if<std::string>(&found))
    return KnownTool{json::JsonObject().add("tool", json::RawJson{*tool}).text()};
  if (auto* unknown = std::get_if<Unknown>(&found)) return std::move(*unknown);
  Answer& failed = std::get<Answer>(found);
  if (failed.ok() || failed.outcome == Answer::Outcome::error) return NoToolList{};
  return std::move(failed);
}

ExitCode list_tools(Dialogue& dialogue, const Options& options) {
  if (!options.operands.empty()) return show_tool(dialogue, options);
  if (options.names) {
    // As kept by the daemon, if it keeps them.
    const Answer kept = dialogue.ask("bridge/tool", "");
    const auto names = json::elements(json::find_member(kept.payload, "names").value_or(""));
    if (kept.ok() && names) {
      dialogue.console().print(names_of(*names));
      return ExitCode::ok;
    }
  }
  return show(dialogue, options, tool_list, [&options](const Elements& tools, Console& console) {
    const bool is_brief = options.brief || (tools.size() > most_in_full && !options.full);
    if (is_brief && console.output_is_terminal()) {
      const Look look = look_of(console);
      return console.print_raw(
          draw_lines(render_tool_table(tools, look, typed_program(options)), look));
    }
    as_text(is_brief ? render_signatures : render_tools)(tools, console);
  });
}

/// Required arguments are checked first, unless the server does not list the prompt.
ExitCode get_prompt(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  const auto found = find_in_list(dialogue, prompt_list, "prompt", options.operands.front());
  const auto* const failed = std::get_if<Answer>(&found);
  if (failed != nullptr && failed->was_given_up()) return dialogue.report(*failed);
  const auto* const prompt = std::get_if<std::string>(&found);
  const json::Value listed = json::parse_or_null(prompt == nullptr ? "" : *prompt);
  const json::Value params = json::parse_or_null(prepared.params);
  std::string missing;
  for (const json::Value& one : listed.array("arguments")) {
    const bool is_given = params.object("arguments").find(one.string("name")) != nullptr;
    if (one.is_true("required") && !is_given)
      missing += fmt::format(" {}=TEXT", one.string("name"));
  }
  if (!missing.empty())
    return tell_failure(dialogue.console(), options,
                        {"usage", "the prompt needs also:" + missing, ExitCode::usage});
  const Answer answer = dialogue.ask("prompts/get", prepared.params);
  return answer.ok() ? present_result(answer.payload, read_prompt, options, dialogue.console(), "",
                                      dialogue.hint())
                     : dialogue.report(answer);
}

/// One prompt as the options require.
ExitCode show_prompt(Dialogue& dialogue, const Options& options) {
  const auto found = find_in_list(dialogue, prompt_list, "prompt", options.operands.front());
  if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
  Console& console = dialogue.console();
  if (const auto* unknown = std::get_if<Unknown>(&found))
    return report_unknown(*unknown, options, console);
  const std::string& prompt = std::get<std::string>(found);
  if (options.json) {
    console.print_line(prompt);
  } else {
    console.print(options.names ? prompt_words(prompt)
                                : render_prompts({prompt}, console.output_width()));
  }
  return ExitCode::ok;
}

ExitCode list_others(Dialogue& dialogue, const Options& options) {
  const std::string_view name = options.verb->name();
  if (name == "prompts" && !options.operands.empty()) return show_prompt(dialogue, options);
  if (name == "prompts") return show(dialogue, options, prompt_list, as_text(render_prompts));
  if (name == "templates") return show(dialogue, options, template_list, as_text(render_resources));
  return show(dialogue, options, {"skills/list", "skills", "uri"}, as_text(render_skills));
}

ExitCode list_tasks(Dialogue& dialogue, const Options& options) {
  const ServerList tasks = {"tasks/list", "tasks", "taskId",
                            "tasks of this session (mcp-nc jobs: detached calls)"};
  return show(dialogue, options, tasks, [](const Elements& elements, Console& console) {
    std::vector<json::Value> read;
    for (const std::string_view element : elements) {
      if (auto task = json::parse(element)) read.push_back(std::move(*task));
    }
    const Look look = look_of(console);
    console.print_raw(draw_lines(render_tasks(read, look), look));
  });
}

ExitCode list_resources(Dialogue& dialogue, const Options& options) {
  const ExitCode code = show(dialogue, options, resource_list, as_text(render_resources));
  if (code != ExitCode::ok || options.json || options.names) return code;
  // Many servers do not support templates, and report that as an error, which is ignored.
  const FetchedList fetched = fetch_list(dialogue, template_list);
  if (fetched.failed)
    return fetched.failed->outcome == Answer::Outcome::error ? code
                                                             : dialogue.report(*fetched.failed);
  const Elements elements = fetched.elements();
  Console& console = dialogue.console();
  if (!elements.empty())
    console.print("\ntemplates:\n\n" + render_resources(elements, console.output_width()));
  return code;
}

}  // namespace client
