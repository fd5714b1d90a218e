#include "mcp/listed_items.hpp"

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"

namespace bridge {

ListedItems items_listed_by(std::string_view method) {
  if (method == "tools/list") return {"tools", "name"};
  if (method == "prompts/list") return {"prompts", "name"};
  if (method == "resources/list") return {"resources", "uri"};
  if (method == "resources/templates/list") return {"resourceTemplates", "uriTemplate"};
  return {};
}

std::string without_items(const Frame& response, std::string_view list,
                          const std::function<bool(std::size_t, std::string_view)>& drop) {
  const auto items = find_member(response.text(response.result), list);
  if (!items || items->front() != '[') return response.bytes;
  Edits edits;
  Removal removal(edits, static_cast<std::size_t>(items->data() - response.bytes.data()));
  JsonScanner scanner(*items);
  std::size_t index = 0;
  scanner.array([&] {
    Slice element;
    if (!scanner.value(element)) return false;
    removal.element(element, drop(index, element.of(*items)));
    ++index;
    return true;
  });
  removal.finish();
  return edits.empty() ? response.bytes : edits.made_in(response.bytes);
}

}  // namespace bridge
