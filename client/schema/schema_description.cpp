#include <string>
#include <vector>

#include "schema/schema.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

}  // namespace

std::string Schema::describe() const { return describe(0); }

std::string Schema::describe(int depth) const {
  constexpr int deepest_shown = 4;  // schemas may nest without end; nobody reads that
  constexpr std::size_t longest_shown = 500;
  if (!node_->is(Kind::object) || depth > deepest_shown) return "any";
  const auto join = [](const auto& all, auto text_of) {
    std::string text;
    for (const auto& one : all) {
      if (!text.empty()) text += '|';
      if (text.size() > longest_shown) return text + "...";
      text += text_of(one);
    }
    return text;
  };
  if (const auto fixed = values(); !fixed.empty())
    return join(fixed, [](const Value* one) { return json::to_json(*one); });
  const auto named = types();
  const auto others = alternatives();
  if (named.empty() && others.empty()) return "any";
  if (named.empty())
    return join(others, [depth](const Schema& one) { return one.describe(depth + 1); });
  return join(named, [this, depth](std::string_view type) {
    const Value* const elements = type == "array" ? items() : nullptr;
    const auto first = type == "array" ? first_items() : std::vector<const Value*>();
    if (!first.empty()) {
      std::string text;
      for (const Value* one : first) {
        if (text.size() > longest_shown) break;
        text += (text.empty() ? "" : ", ") + at(*one).describe(depth + 1);
      }
      if (elements != nullptr) text += ", " + at(*elements).describe(depth + 1) + "...";
      return "[" + text + "]";
    }
    if (elements == nullptr) return std::string(type);
    const std::string element = at(*elements).describe(depth + 1);
    return element.find('|') == std::string::npos ? element + "[]" : "(" + element + ")[]";
  });
}

}  // namespace client
