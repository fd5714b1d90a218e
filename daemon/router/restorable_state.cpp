#include "router/restorable_state.hpp"

#include <fmt/format.h>

#include "text/json_text.hpp"

namespace bridge {

std::string RestorableState::subject_of(const Frame& request) {
  if (request.method == "resources/subscribe" || request.method == "resources/unsubscribe")
    return find_string(request.text(request.params), "uri").value_or(std::string());
  if (request.method == "logging/setLevel") return std::string(request.text(request.params));
  return {};
}

void RestorableState::accepted(const PendingRequest& request) {
  if (request.method == "resources/subscribe") {
    subscriptions_.accepted(request.subject, request.client);
  } else if (request.method == "resources/unsubscribe") {
    subscriptions_.removed(request.subject);
  } else if (request.method == "logging/setLevel") {
    log_level_params_ = request.subject;
  }
}

std::vector<SessionEvents::Restorable> RestorableState::requests() const {
  std::vector<SessionEvents::Restorable> all;
  if (!log_level_params_.empty()) all.push_back({"logging/setLevel", log_level_params_});
  for (const std::string& uri : subscriptions_.uris())
    all.push_back({"resources/subscribe", fmt::format(R"({{"uri":{}}})", quote(uri))});
  return all;
}

}  // namespace bridge
