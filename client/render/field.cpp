#include "render/field.hpp"

#include <algorithm>
#include <charconv>

#include "json/scan.hpp"

namespace client {
namespace {

std::optional<std::string_view> step_into(std::string_view value, std::string_view step) {
  if (json::is_object(value)) return json::member(value, step);
  if (!json::is_array(value)) return std::nullopt;
  std::size_t place = 0;
  const char* const end = step.data() + step.size();
  const auto [rest, error] = std::from_chars(step.data(), end, place);
  const auto all = json::elements(value);
  if (error != std::errc() || rest != end || !all || place >= all->size()) return std::nullopt;
  return (*all)[place];
}

}  // namespace

std::optional<std::string> field_at(std::string_view json, std::string_view path) {
  auto found = json::leading_value(json);
  while (found && !path.empty()) {
    if (path.front() == '.' || path.front() == '[') path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    std::string_view step = path.substr(0, end);
    if (step.ends_with(']')) step.remove_suffix(1);
    path.remove_prefix(end);
    found = step_into(*found, step);
  }
  if (!found) return std::nullopt;
  return json::is_string(*found) ? json::decode_string(*found) : std::string(*found);
}

std::optional<std::string> field_of_result(std::string_view result, std::string_view path) {
  if (const auto structured = json::member(result, "structuredContent")) {
    if (auto found = field_at(*structured, path)) return found;
  }
  return field_at(result, path);
}

}  // namespace client
