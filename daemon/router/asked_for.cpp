#include "router/asked_for.hpp"

#include <algorithm>
#include <utility>

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

std::string_view related_task(std::string_view params) {
  const std::string_view meta = find_member(params, "_meta").value_or("");
  const auto related = find_member(meta, "io.modelcontextprotocol/related-task");
  return find_member(related.value_or(""), "taskId").value_or("");
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

void DeclaredAnswers::initialize(std::string_view capabilities) {
  capabilities_ = declared_by(capabilities);
  initializes_ = true;
  initialized_ = false;
}

bool DeclaredAnswers::name_methods(std::string_view params) {
  const std::string_view list = find_member(params, "methods").value_or("");
  std::vector<std::string> methods;
  const bool fits = each_element(list, [&](std::string_view raw) {
    if (!is_string(raw) || raw.size() - 2 > max_method_bytes || methods.size() == max_methods)
      return false;
    methods.push_back(*to_text(raw));
    return true;
  });
  if (fits) methods_ = std::move(methods);
  return fits;
}

bool DeclaredAnswers::has_declared() const {
  return initializes_ ||
         std::any_of(methods_.begin(), methods_.end(),
                     [](const std::string& method) { return method != "roots/list"; });
}

bool DeclaredAnswers::names(std::string_view method) const {
  return std::find(methods_.begin(), methods_.end(), method) != methods_.end();
}

bool DeclaredAnswers::covers(std::string_view method, AskedFor asked) const {
  if (names(method)) return true;
  if (!initializes_ || !initialized_) return false;
  return asked == AskedFor::anything || overlap(asked, capabilities_);
}

}  // namespace bridge
