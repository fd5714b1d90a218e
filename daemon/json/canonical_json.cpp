#include "json/canonical_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/json_object.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

/// Writes what it folds.
struct CanonicalText {
  using Value = std::string;
  using Object = std::vector<std::pair<std::string, std::string>>;
  using Array = JsonArray;

  void add(Object& members, std::string_view key, std::string value) const {
    members.emplace_back(unescape(key), std::move(value));
  }
  void add(Array& array, const std::string& element) const { array.add(RawJson{element}); }
  std::string end(Object members) const {
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    JsonObject object;
    for (const auto& [name, value] : members) object.add_any(name, RawJson{value});
    return std::move(object).text();
  }
  std::string end(const Array& array) const { return array.text(); }
  bool scalar(JsonScanner& scanner, std::string_view text, std::string& value) const {
    Slice raw;
    if (!scanner.value(raw)) return false;
    value = raw.of(text);
    if (value.find('\\') != value.npos)
      value = quote(unescape(raw.of(text).substr(1, value.size() - 2)));
    return true;
  }
};

}  // namespace

std::string canonical_json(std::string_view value) {
  std::string text;
  JsonScanner scanner(value);
  scanner.skip_space();
  fold_value(scanner, value, CanonicalText(), text);
  return text;
}

}  // namespace bridge
