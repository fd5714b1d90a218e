#include "mcp/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

constexpr std::size_t most_names = 16;
constexpr std::size_t longest_name = 64;

/// Each capability with its features, and whether a feature is just `true`.
using Declared = std::map<std::string, std::map<std::string, bool>, std::less<>>;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter(c) || is_digit(c) ||
                  std::string_view("_-./").find(c) != std::string_view::npos;
         });
}

void add_declared(Declared& all, std::string_view capabilities) {
  each_member(capabilities, [&](std::string_view name, std::string_view value) {
    if (!is_plain_name(name) || !is_object(value) || all.size() == most_names) return true;
    auto& features = all[std::string(name)];
    each_member(value, [&](std::string_view feature, std::string_view how) {
      const bool is_flag = how == "true";
      if (is_plain_name(feature) && (is_flag || is_object(how)) && features.size() < most_names)
        features.emplace(feature, is_flag);
      return true;
    });
    // Without a mode it means form mode (MCP 2025-11-25, "Elicitation: Capabilities").
    if (name == "elicitation" && features.empty()) features.emplace("form", false);
    return true;
  });
}

}  // namespace

std::vector<std::string> capabilities_beyond(std::string_view session, std::string_view client) {
  Declared before;
  Declared now;
  add_declared(before, session);
  add_declared(now, client);
  std::vector<std::string> beyond;
  for (const auto& [name, features] : now) {
    const auto known = before.find(name);
    if (known == before.end()) {
      beyond.push_back(name);
      continue;
    }
    for (const auto& [feature, is_flag] : features) {
      if (known->second.count(feature) == 0) beyond.push_back(fmt::format("{}.{}", name, feature));
    }
  }
  if (beyond.size() > most_names) beyond.resize(most_names);
  return beyond;
}

std::string capabilities_of_both(std::string_view session, std::string_view client) {
  Declared all;
  add_declared(all, session);
  add_declared(all, client);
  JsonObject object;
  for (const auto& [name, features] : all) {
    JsonObject about;
    for (const auto& [feature, is_flag] : features)
      about.add_any(feature, RawJson{is_flag ? "true" : "{}"});
    const std::string text = about.text();
    object.add_any(name, RawJson{text});
  }
  return object.text();
}

}  // namespace bridge
