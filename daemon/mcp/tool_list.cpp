#include "mcp/tool_list.hpp"

#include <algorithm>
#include <utility>

#include "text/json_scanner.hpp"
#include "text/json_text.hpp"

namespace bridge {

void ToolList::take_page(std::string_view asked_cursor, std::string_view result) {
  if (asked_cursor.empty()) {
    coming_ = {};
  } else if (!coming_.is_there || asked_cursor != coming_.next_cursor) {
    return;
  }
  coming_.is_there = true;
  const std::string_view cursor = find_member(result, "nextCursor").value_or("");
  const auto tools = find_member(result, "tools");
  const bool has_more = is_string(cursor);
  if (!tools || !append(coming_, *tools) || (++coming_.pages == most_pages && has_more)) {
    // What is kept is not the last one, and of this one nothing can be kept.
    forget();
  } else if (has_more) {
    coming_.next_cursor = cursor;
  } else {
    whole_ = std::exchange(coming_, {});
    whole_.next_cursor.clear();
    whole_.bytes.shrink_to_fit();
  }
}

/// False if it is no array or gets too long.
bool ToolList::append(List& list, std::string_view tools) {
  if (tools.front() != '[') return false;
  JsonScanner scanner(tools);
  return scanner.array([&] {
    Slice element;
    if (!scanner.value(element)) return false;
    const std::string_view tool = element.of(tools);
    auto name = find_string(tool, "name");
    if (!name) return true;
    if (list.bytes.size() + tool.size() > longest) return false;
    const Slice place{list.bytes.size(), list.bytes.size() + tool.size()};
    if (list.tools.try_emplace(std::move(*name), place).second) list.bytes += tool;
    return true;
  });
}

std::string_view ToolList::find(std::string_view name) const {
  const auto found = whole_.tools.find(name);
  return found == whole_.tools.end() ? std::string_view() : found->second.of(whole_.bytes);
}

std::vector<std::string_view> ToolList::names() const {
  std::vector<std::string_view> all;
  all.reserve(whole_.tools.size());
  for (const auto& [name, place] : whole_.tools) all.push_back(name);
  std::sort(all.begin(), all.end(), [this](std::string_view left, std::string_view right) {
    return whole_.tools.find(left)->second.begin < whole_.tools.find(right)->second.begin;
  });
  return all;
}

void ToolList::forget() {
  whole_ = {};
  coming_ = {};
}

}  // namespace bridge
