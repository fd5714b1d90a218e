#include "router/ring_filter.hpp"

#include <utility>

#include "json/json_text.hpp"

namespace bridge {
namespace {

bool is_hidden(const ItemRule& resources, std::string_view message) {
  const auto method = find_string(message, "method");
  if (method != "notifications/resources/updated") return false;
  const auto params = find_member(message, "params");
  const auto uri = params ? find_string(*params, "uri") : std::nullopt;
  return !uri || !resources.allows(*uri);
}

}  // namespace

std::shared_ptr<const RingFilter> ring_filter_of(const PolicyRule& rule) {
  if (rule.is_none()) return std::make_shared<RingFilter>([](const RingEntry&) { return false; });
  if (rule.resources.allows_all()) return nullptr;
  return std::make_shared<RingFilter>([resources = rule.resources](const RingEntry& entry) {
    return !is_hidden(resources, entry.line);
  });
}

bool hides_notification(const PolicyRule& rule, std::string_view message) {
  if (rule.is_none()) return true;
  return !rule.resources.allows_all() && is_hidden(rule.resources, message);
}

}  // namespace bridge
