#include "router/trace.hpp"

#include <algorithm>

#include "json/json_text.hpp"

namespace bridge {
namespace {

/// version "-" trace-id "-" parent-id "-" flags, in lower-case hexadecimal digits.
constexpr std::string_view traceparent_form =
    "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

bool is_traceparent(std::string_view text) {
  return std::equal(text.begin(), text.end(), traceparent_form.begin(), traceparent_form.end(),
                    [](char c, char form) {
                      return form == '-' ? c == '-'
                                         : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                    });
}

}  // namespace

std::string traceparent_of(std::string_view params) {
  const auto meta = find_member(params, "_meta");
  if (!meta) return {};
  auto found = find_string(*meta, "traceparent");
  return found && is_traceparent(*found) ? std::move(*found) : std::string();
}

}  // namespace bridge
