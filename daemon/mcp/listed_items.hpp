#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

struct Frame;

/// How a list method of MCP names its items: the member of its result, and the member of each item
/// that identifies it. Empty texts: the method lists nothing.
struct ListedItems {
  std::string_view list{};
  std::string_view name{};
};

/// Of `tools/list`, `prompts/list`, `resources/list` and `resources/templates/list`. Pure.
ListedItems items_listed_by(std::string_view method);

/// The bytes of the response to a list without the items for which `drop` returns true: called with
/// the position in the list and the item's JSON. The same bytes if none is dropped. Pure.
std::string without_items(const Frame& response, std::string_view list,
                          const std::function<bool(std::size_t, std::string_view)>& drop);

}  // namespace bridge
