#include "router/known_tools.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "mcp/mirrored_headers.hpp"

namespace bridge {

/// A page of the list.
ToolHeaders KnownTools::read(const Frame& response) {
  std::size_t known = 0;
  for (const auto& [tool, headers] : headers_) known += headers.size();
  ToolHeaders found = read_tool_headers(response.text(response.result), known);
  for (auto& [tool, headers] : found.of_tools) headers_.insert_or_assign(tool, std::move(headers));
  return found;
}

/// A page as clients may see it; `asked_cursor` is JSON, empty for the first page.
void KnownTools::keep(std::string_view asked_cursor, const Frame& response) {
  const auto page = list_.take_page(asked_cursor, response.text(response.result));
  if (page != ToolList::Page::repeats_cursor || std::exchange(has_warned_of_cursor_, true)) return;
  context_.log.peer(
      LogLevel::warning, "cursor repeated",
      "the upstream's tools/list repeats a nextCursor; the list is taken to end there");
}

/// A page of the list. Returns it without tools whose annotations are invalid: clients must not see
/// those.
Frame KnownTools::learn(Frame response) {
  const ToolHeaders found = read(response);
  if (found.invalid.empty()) return response;
  for (const InvalidTool& tool : found.invalid) {
    context_.log.peer(LogLevel::warning, "tool left out",
                      "the tool {} is left out of tools/list: {}", printable(tool.name, 80),
                      tool.reason);
  }
  return std::get<Frame>(
      parse_frame(without_items(response, "tools", [&found](std::size_t index, std::string_view) {
        return std::any_of(found.invalid.begin(), found.invalid.end(),
                           [index](const InvalidTool& tool) { return tool.index == index; });
      })));
}

void KnownTools::see(Frame& response, const Call& call) {
  if (call.method != "tools/list" || !response.result.present()) return;
  if (context_.session.side(call.side).sender().mirrors_headers()) {
    response = learn(std::move(response));
  } else if (call.describes_client()) {
    read(response);  // its client may mirror them to the HTTP frontend
  }
  if (call.side == context_.session.ring_source()) keep(call.subject, response);
}

std::string KnownTools::mirror(Frame& request, Outgoing& message, EraSession& session) const {
  message.headers.clear();
  if (!session.sender().mirrors_headers()) return {};
  MirroredHeaders mirrored = mirrored_headers(request, headers_);
  message.headers = std::move(mirrored.lines);
  return std::move(mirrored.unsendable);
}

void KnownTools::mirror_again(Outgoing& message) const {
  auto frame = std::get<Frame>(parse_frame(std::move(message.body)));
  message.headers = mirrored_headers(frame, headers_).lines;
  message.body = std::move(frame.bytes);
}

Frame KnownTools::as_task(Frame call, EraSession& session) const {
  const ServerDescription* const server = session.server();
  if (call.method != "tools/call" || !session.sender().is_stateful() || server == nullptr ||
      !server->makes_calls_tasks())
    return call;
  const std::string_view params = call.text(call.params);
  const std::string_view tool = list_.find(find_string(params, "name").value_or(""));
  const auto support = find_string(find_member(tool, "execution").value_or(""), "taskSupport");
  if ((support != "required" && support != "optional") || find_member(params, "task")) return call;
  Edits edits;
  add_members(edits, call.bytes, call.params, R"("task":{"ttl":86400000})");
  return std::get<Frame>(parse_frame(edits.made_in(call.bytes)));
}

}  // namespace bridge
