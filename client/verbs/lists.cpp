#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "command_line/typed_program.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "render/lists.hpp"
#include "render/tool_page.hpp"
#include "render/typescript.hpp"
#include "terminal/visible.hpp"
#include "verbs/known_tool.hpp"
#include "verbs/server_list.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

/// One a line, for other programs and the shells' completions.
std::string names_of(const std::vector<std::string_view>& elements, const ServerList& list) {
  std::string text;
  for (const std::string_view element : elements) {
    const auto name = json::member(element, list.name);
    if (name && json::is_string(*name)) {
      text += make_visible_line(json::decode_string(*name)) + "\n";
    }
  }
  return text;
}

constexpr std::size_t most_in_full = 20;

std::string types_of(const std::vector<std::string_view>& tools, const Options& options) {
  const std::string text = render_typescript(tools);
  return options.json ? fmt::format("{{\"types\":{}}}\n", json::quote(text)) : text;
}

using Render = std::function<std::string(const std::vector<std::string_view>&, std::size_t width)>;

ExitCode show(Dialogue& dialogue, const Options& options, const ServerList& list,
              const Render& render) {
  const auto fetched = fetch_list(dialogue, list);
  if (const auto* failed = std::get_if<Answer>(&fetched)) return dialogue.report(*failed);
  const auto& pages = std::get<std::vector<std::string>>(fetched);
  Console& console = dialogue.console();
  const auto elements = elements_of(pages, list);
  if (options.types) {
    console.print(types_of(elements, options));
    return ExitCode::ok;
  }
  if (options.json) {
    console.print(raw_result(pages, list));
    return ExitCode::ok;
  }
  if (options.names) {
    console.print(names_of(elements, list));
    return ExitCode::ok;
  }
  if (elements.empty()) console.note(fmt::format("the server has no {}", list.member));
  console.print(render(elements, console.output_width()));
  return ExitCode::ok;
}

/// The names as the daemon has kept them; nothing where it keeps none, as an older daemon.
std::optional<std::string> kept_names(Dialogue& dialogue) {
  const Answer answer = dialogue.ask("bridge/tool", "");
  if (answer.outcome != Answer::Outcome::result) return std::nullopt;
  const auto names = json::member(answer.payload, "names");
  const auto elements = names ? json::elements(*names) : std::nullopt;
  if (!elements) return std::nullopt;
  std::string text;
  for (const std::string_view name : *elements) {
    if (json::is_string(name)) text += make_visible_line(json::decode_string(name)) + "\n";
  }
  return text;
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
    console.print(*tool + "\n");
  } else {
    console.print(options.names
                      ? argument_words(*tool)
                      : render_tool(*tool, console.output_width(), typed_program(options)));
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode list_tools(Dialogue& dialogue, const Options& options) {
  if (!options.operands.empty()) return show_tool(dialogue, options);
  if (options.names) {
    if (const auto names = kept_names(dialogue)) {
      dialogue.console().print(*names);
      return ExitCode::ok;
    }
  }
  const auto render = [&options](const std::vector<std::string_view>& tools, std::size_t width) {
    const bool is_brief = options.brief || (tools.size() > most_in_full && !options.full);
    return is_brief ? render_signatures(tools, width) : render_tools(tools, width);
  };
  return show(dialogue, options, tool_list, render);
}

ExitCode list_templates(Dialogue& dialogue, const Options& options) {
  const ServerList templates = {"resources/templates/list", "resourceTemplates", "uriTemplate"};
  return show(dialogue, options, templates, render_resources);
}

ExitCode list_prompts(Dialogue& dialogue, const Options& options) {
  return show(dialogue, options, {"prompts/list", "prompts"}, render_prompts);
}

ExitCode list_resources(Dialogue& dialogue, const Options& options) {
  const ExitCode code =
      show(dialogue, options, {"resources/list", "resources", "uri"}, render_resources);
  if (code != ExitCode::ok || options.json || options.names) return code;
  // Many servers have no templates, and say so with an error: nothing to report.
  const ServerList templates = {"resources/templates/list", "resourceTemplates"};
  const auto fetched = fetch_list(dialogue, templates);
  const auto* pages = std::get_if<std::vector<std::string>>(&fetched);
  if (pages == nullptr) {
    const Answer& failed = std::get<Answer>(fetched);
    return failed.outcome == Answer::Outcome::error ? code : dialogue.report(failed);
  }
  const auto elements = elements_of(*pages, templates);
  Console& console = dialogue.console();
  if (!elements.empty()) {
    console.print("\ntemplates:\n\n" + render_resources(elements, console.output_width()));
  }
  return code;
}

}  // namespace client
