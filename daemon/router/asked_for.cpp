#include "router/asked_for.hpp"

#include "json/json_text.hpp"

namespace bridge {
namespace {

bool has_object(std::string_view object, std::string_view name) {
  return is_object(find_member(object, name).value_or(""));
}

}  // namespace

AskedFor asked_for(std::string_view method, std::string_view params) {
  if (method == "elicitation/create") {
    return find_string(params, "mode") == "url" ? AskedFor::elicitation_url
                                                : AskedFor::elicitation_form;
  }
  if (method.starts_with("elicitation/"))
    return AskedFor::elicitation_form | AskedFor::elicitation_url;
  if (method.starts_with("sampling/")) return AskedFor::sampling;
  if (method.starts_with("roots/")) return AskedFor::roots;
  return AskedFor::anything;
}

std::string_view capabilities_for(AskedFor asked) {
  if (asked == AskedFor::sampling) return R"({"sampling":{}})";
  if (asked == AskedFor::roots) return R"({"roots":{}})";
  if (asked == AskedFor::elicitation_url) return R"({"elicitation":{"url":{}}})";
  return asked == AskedFor::anything ? "{}" : R"({"elicitation":{}})";
}

AskedFor declared_by(std::string_view capabilities) {
  AskedFor declared = AskedFor::anything;
  if (has_object(capabilities, "sampling")) declared = declared | AskedFor::sampling;
  if (has_object(capabilities, "roots")) declared = declared | AskedFor::roots;
  if (!has_object(capabilities, "elicitation")) return declared;
  const std::string_view elicitation = *find_member(capabilities, "elicitation");
  const bool by_url = has_object(elicitation, "url");
  if (by_url) declared = declared | AskedFor::elicitation_url;
  if (!by_url || has_object(elicitation, "form")) declared = declared | AskedFor::elicitation_form;
  return declared;
}

}  // namespace bridge
