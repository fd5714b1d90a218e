#include "verbs/server_lists.hpp"

#include <fmt/format.h>

#include <set>

#include "command_line/verb.hpp"
#include "render/lists.hpp"
#include "render/table.hpp"
#include "schema/signature.hpp"
#include "text/similar.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

using Elements = std::vector<std::string_view>;

constexpr int most_pages = 1000;

using Found = std::variant<KnownTool, UnknownTool, NoToolList, Answer>;

constexpr std::string_view invalid_params = "-32602";

/// The pages as one, each name once: a server that ignores the cursor sends its first page again.
std::vector<std::string> without_repetitions(const std::vector<std::string>& pages,
                                             const ServerList& list) {
  std::set<std::string_view> names;
  json::JsonArray all;
  for (const std::string_view element : elements_of(pages, list)) {
    const auto name = json::member(element, list.name);
    if (!name || names.insert(*name).second) all.add(json::RawJson{element});
  }
  return {json::JsonObject().add(list.member, all).text()};
}

bool has_element(std::string_view page, const ServerList& list, std::string_view name) {
  const auto array = json::member(page, list.member);
  const auto elements = array ? json::elements(*array) : std::nullopt;
  return elements && std::any_of(elements->begin(), elements->end(), [&](std::string_view element) {
           return name_of(element, list) == name;
         });
}

Found find_in_list(Dialogue& dialogue, std::string_view wanted) {
  auto fetched = fetch_list(dialogue, tool_list, wanted);
  if (auto* failed = std::get_if<Answer>(&fetched)) {
    if (failed->outcome == Answer::Outcome::error) return NoToolList{};
    return std::move(*failed);
  }
  const auto& pages = std::get<std::vector<std::string>>(fetched);
  if (!json::member(pages.front(), tool_list.member)) return NoToolList{};
  std::vector<std::string> names;
  for (const std::string_view tool : elements_of(pages, tool_list)) {
    std::string name = name_of(tool, tool_list);
    if (name == wanted)
      return KnownTool{json::JsonObject().add("tool", json::RawJson{tool}).text()};
    names.push_back(std::move(name));
  }
  const std::vector<std::string_view> all(names.begin(), names.end());
  return UnknownTool{fmt::format("no tool '{}'{}", wanted, bridge::did_you_mean(wanted, all)),
                     bridge::most_similar(wanted, all)};
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

/// The JSON output: a single page byte for byte; of several pages the elements byte for byte.
std::string raw_result(const std::vector<std::string>& pages, const ServerList& list) {
  if (pages.size() == 1) return pages.front() + "\n";
  json::JsonArray all;
  for (const std::string_view element : elements_of(pages, list)) all.add(json::RawJson{element});
  return json::JsonObject().add(list.member, all).text() + "\n";
}

/// Shows the list as the options require, or by `print` if it is not empty.
ExitCode show(Dialogue& dialogue, const Options& options, const ServerList& list,
              const std::function<void(const Elements&, Console&)>& print) {
  const auto fetched = fetch_list(dialogue, list);
  if (const auto* failed = std::get_if<Answer>(&fetched)) return dialogue.report(*failed);
  const auto& pages = std::get<std::vector<std::string>>(fetched);
  Console& console = dialogue.console();
  const Elements elements = elements_of(pages, list);
  if (options.types) {
    console.print(types_of(elements, options));
  } else if (options.json) {
    console.print(raw_result(pages, list));
  } else if (options.names) {
    Elements names;
    for (const std::string_view element : elements)
      names.push_back(json::member(element, list.name).value_or(""));
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

/// The names as kept by the daemon; nullopt if it keeps none, as in older versions.
std::optional<std::string> kept_names(Dialogue& dialogue) {
  const Answer answer = dialogue.ask("bridge/tool", "");
  if (!answer.ok()) return std::nullopt;
  const auto names = json::member(answer.payload, "names");
  const auto elements = names ? json::elements(*names) : std::nullopt;
  return elements ? std::optional(names_of(*elements)) : std::nullopt;
}

ExitCode show_tool(Dialogue& dialogue, const Options& options) {
  const auto found = find_tool(dialogue, options.operands.front());
  if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
  Console& console = dialogue.console();
  const auto* const known = std::get_if<KnownTool>(&found);
  const auto tool = known == nullptr ? std::nullopt : known->raw();
  if (!tool) {
    const auto* const unknown = std::get_if<UnknownTool>(&found);
    return report_unknown(
        unknown != nullptr ? *unknown : UnknownTool{"the server has no list of tools", ""}, options,
        console);
  }
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

std::variant<std::vector<std::string>, Answer> fetch_list(Dialogue& dialogue,
                                                          const ServerList& list,
                                                          std::string_view wanted) {
  std::vector<std::string> pages;
  std::set<std::string> cursors;
  std::string params;
  for (int page = 0; page < most_pages; ++page) {
    Answer answer = dialogue.ask(list.method, params);
    if (!answer.ok()) return answer;
    const auto cursor = json::member(answer.payload, "nextCursor");
    const bool has_more = cursor && json::is_string(*cursor);
    const bool is_repeated = has_more && !cursors.insert(json::decode_string(*cursor)).second;
    if (has_more) params = json::JsonObject().add("cursor", json::RawJson{*cursor}).text();
    pages.push_back(std::move(answer.payload));
    if (!has_more || (!wanted.empty() && has_element(pages.back(), list, wanted))) return pages;
    if (is_repeated) {
      dialogue.console().note(
          fmt::format("the server repeats a cursor of {}; the list ends there", list.method));
      return without_repetitions(pages, list);
    }
  }
  dialogue.console().note(fmt::format("stopped after {} pages, there are more", most_pages));
  return pages;
}

std::vector<std::string_view> elements_of(const std::vector<std::string>& pages,
                                          const ServerList& list) {
  std::vector<std::string_view> all;
  for (const std::string& page : pages) {
    const auto array = json::member(page, list.member);
    if (!array) continue;
    if (const auto elements = json::elements(*array)) {
      all.insert(all.end(), elements->begin(), elements->end());
    }
  }
  return all;
}

std::string name_of(std::string_view element, const ServerList& list) {
  return json::string_member(element, list.name);
}

ExitCode report_unknown(const UnknownTool& unknown, const Options& options, Console& console) {
  const std::string list = typed_program(options) + " tools";
  const bool is_near = !unknown.meant.empty();
  return tell_failure(
      console, options,
      {.kind = "server",
       .message = unknown.message,
       .code = ExitCode::answered_error,
       .hint = is_near ? list + " " + tool_operand(unknown.meant) : "list them with: " + list,
       .error_code = std::string(invalid_params),
       .shown = is_near ? "" : fmt::format("{}; list them with: {}", unknown.message, list)});
}

Found find_tool(Dialogue& dialogue, std::string_view name) {
  Answer answer = dialogue.ask("bridge/tool", json::JsonObject().add("name", name).text());
  if (answer.ok()) return KnownTool{std::move(answer.payload)};
  if (answer.outcome != Answer::Outcome::error) return answer;
  const auto data = json::member(answer.payload, "data").value_or("{}");
  const bool is_bridges = json::string_member(data, "source") == "bridge";
  const std::string kind = is_bridges ? json::string_member(data, "kind") : std::string();
  const bool is_unknown = kind == "tool";
  // The daemon keeps no list: it is an older one, does not support bridge/ methods, or the list is
  // too long for it. The server may have none, too.
  const bool is_not_kept = !is_bridges || kind == "too_large";
  if (is_unknown || is_not_kept) return find_in_list(dialogue, name);
  return answer;
}

ExitCode list_tools(Dialogue& dialogue, const Options& options) {
  if (!options.operands.empty()) return show_tool(dialogue, options);
  if (options.names) {
    if (const auto names = kept_names(dialogue)) {
      dialogue.console().print(*names);
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

/// One prompt as the options require.
ExitCode show_prompt(Dialogue& dialogue, const Options& options) {
  const auto fetched = fetch_list(dialogue, prompt_list);
  if (const auto* failed = std::get_if<Answer>(&fetched)) return dialogue.report(*failed);
  Console& console = dialogue.console();
  const std::string& wanted = options.operands.front();
  std::vector<std::string> names;
  for (const std::string_view one :
       elements_of(std::get<std::vector<std::string>>(fetched), prompt_list)) {
    names.push_back(name_of(one, prompt_list));
    if (names.back() != wanted) continue;
    if (options.json) {
      console.print_line(one);
    } else {
      console.print(options.names ? prompt_words(one)
                                  : render_prompts({one}, console.output_width()));
    }
    return ExitCode::ok;
  }
  const std::string message = fmt::format(
      "no prompt '{}'{}", wanted, bridge::did_you_mean(wanted, {names.begin(), names.end()}));
  return tell_failure(console, options,
                      {.kind = "server",
                       .message = message,
                       .code = ExitCode::answered_error,
                       .hint = "list them with: " + typed_program(options) + " prompts",
                       .error_code = std::string(invalid_params)});
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
  const auto fetched = fetch_list(dialogue, template_list);
  const auto* pages = std::get_if<std::vector<std::string>>(&fetched);
  if (pages == nullptr) {
    const Answer& failed = std::get<Answer>(fetched);
    return failed.outcome == Answer::Outcome::error ? code : dialogue.report(failed);
  }
  const auto elements = elements_of(*pages, template_list);
  Console& console = dialogue.console();
  if (!elements.empty()) {
    console.print("\ntemplates:\n\n" + render_resources(elements, console.output_width()));
  }
  return code;
}

}  // namespace client
