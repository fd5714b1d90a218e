#include "router/declared_answers.hpp"

#include <algorithm>
#include <utility>

#include "json/json_text.hpp"

namespace bridge {

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
  return initializes_ || answers_everything_ ||
         std::any_of(methods_.begin(), methods_.end(),
                     [](const std::string& method) { return method != "roots/list"; });
}

bool DeclaredAnswers::names(std::string_view method) const {
  return std::find(methods_.begin(), methods_.end(), method) != methods_.end();
}

bool DeclaredAnswers::covers(std::string_view method, AskedFor asked) const {
  if (answers_everything_ || names(method)) return true;
  if (!initializes_ || !initialized_) return false;
  return asked == AskedFor::anything || overlap(asked, capabilities_);
}

}  // namespace bridge
