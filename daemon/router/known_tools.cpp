#include "router/known_tools.hpp"

#include <utility>
#include <variant>

namespace bridge {

ToolHeaders KnownTools::read(const Frame& response) {
  std::size_t known = 0;
  for (const auto& [tool, headers] : headers_) known += headers.size();
  ToolHeaders found = read_tool_headers(response.text(response.result), known);
  for (auto& [tool, headers] : found.of_tools) headers_.insert_or_assign(tool, std::move(headers));
  return found;
}

void KnownTools::note(const Frame& response) { read(response); }

Frame KnownTools::learn(Frame response) {
  const ToolHeaders found = read(response);
  if (found.invalid.empty()) return response;
  for (const InvalidTool& tool : found.invalid) {
    log_.peer(LogLevel::warning, "tool left out",
              "the tool {} is left out of tools/list: its x-mcp-header {}",
              printable(tool.name, 80), tool.reason);
  }
  return std::get<Frame>(parse_frame(without_tools(response, found.invalid)));
}

}  // namespace bridge
