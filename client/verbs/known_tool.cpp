#include "verbs/known_tool.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "command_line/typed_program.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "schema/signature.hpp"
#include "spelling/similar.hpp"
#include "verbs/failure.hpp"
#include "verbs/server_list.hpp"

namespace client {
namespace {

using Found = std::variant<KnownTool, UnknownTool, NoToolList, Answer>;

constexpr std::string_view invalid_params = "-32602";

Found find_in_list(Dialogue& dialogue, std::string_view wanted) {
  auto fetched = fetch_list(dialogue, tool_list);
  if (auto* failed = std::get_if<Answer>(&fetched)) {
    if (failed->outcome == Answer::Outcome::error) return NoToolList{};
    return std::move(*failed);
  }
  const auto& pages = std::get<std::vector<std::string>>(fetched);
  if (!json::member(pages.front(), tool_list.member)) return NoToolList{};
  std::vector<std::string> names;
  for (const std::string_view tool : elements_of(pages, tool_list)) {
    std::string name = name_of(tool, tool_list);
    if (name == wanted) return KnownTool{std::string(tool)};
    names.push_back(std::move(name));
  }
  const std::vector<std::string_view> all(names.begin(), names.end());
  return UnknownTool{fmt::format("error {}: the server has no tool {}{}", invalid_params, wanted,
                                 did_you_mean(wanted, all)),
                     most_similar(wanted, all)};
}

}  // namespace

std::optional<std::string> KnownTool::raw() const {
  if (!is_member) return json;
  const auto tool = json::member(json, "tool");
  return tool ? std::optional(std::string(*tool)) : std::nullopt;
}

std::optional<json::Value> KnownTool::input_schema() const {
  static constexpr std::string_view path[] = {"tool", "inputSchema"};
  return json::parse_at(json, std::span(path).subspan(is_member ? 0 : 1));
}

ExitCode report_unknown(const UnknownTool& unknown, const Options& options, Console& console) {
  const std::string next = unknown.meant.empty() ? "lists them" : tool_operand(unknown.meant);
  return tell_failure(console, options,
                      {.kind = "server",
                       .message = unknown.message,
                       .code = ExitCode::answered_error,
                       .hint = typed_program(options) + " tools " + next,
                       .error_code = invalid_params});
}

Found find_tool(Dialogue& dialogue, std::string_view name) {
  Answer answer = dialogue.ask("bridge/tool", fmt::format(R"({{"name":{}}})", json::quote(name)));
  if (answer.outcome == Answer::Outcome::result) return KnownTool{std::move(answer.payload), true};
  if (answer.outcome != Answer::Outcome::error) return answer;
  const auto data = json::member(answer.payload, "data").value_or("{}");
  const bool is_bridges = json::string_member(data, "source") == "bridge";
  const std::string kind = is_bridges ? json::string_member(data, "kind") : std::string();
  const bool is_unknown = kind == "tool";
  // The daemon keeps no list: it is an older one, answers no bridge/ methods, or the list is too
  // long for it. The server may have none, too.
  const bool is_not_kept = !is_bridges || kind == "too_large";
  if (is_unknown || is_not_kept) return find_in_list(dialogue, name);
  return answer;
}

}  // namespace client
