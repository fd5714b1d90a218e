#include "router/restorable_state.hpp"

#include "json/json_text.hpp"

namespace bridge {

using namespace std::string_view_literals;

std::vector<std::string> Subscriptions::expire_listened(SteadyTime now, SteadyTime& next) {
  std::vector<std::string> ended;
  for (auto& [uri, entry] : entries_) {
    if (!entry.listened || entry.listened->listens > 0) continue;
    if (entry.listened->until > now) {
      next = std::min(next, entry.listened->until);
    } else {
      entry.listened.reset();
      if (!entry.subscribers) ended.push_back(uri);
    }
  }
  for (const std::string& uri : ended) entries_.erase(uri);
  return ended;
}

std::string RestorableState::subject_of(const Frame& request) {
  if (request.method == "resources/subscribe"sv || request.method == "resources/unsubscribe"sv)
    return find_string(request.text(request.params), "uri").value_or(std::string());
  if (request.method == "logging/setLevel"sv) return std::string(request.text(request.params));
  if (request.method == "tools/list"sv)
    return std::string(find_member(request.text(request.params), "cursor").value_or(""));
  return {};
}

void RestorableState::accepted(std::string_view method, const std::string& subject,
                               std::optional<ClientId> client) {
  if (method == "resources/subscribe"sv) {
    subscriptions_.accepted(subject, client);
  } else if (method == "resources/unsubscribe"sv) {
    subscriptions_.removed(subject);
  } else if (method == "logging/setLevel"sv) {
    log_level_params_ = subject;
  } else {
    return;
  }
  ++revision_;
}

SessionSettings RestorableState::settings() const {
  return {log_level_params_, subscriptions_.uris()};
}

void RestorableState::take_settings(const SessionSettings& settings) {
  log_level_params_ = settings.log_level_params;
  for (const std::string& uri : settings.subscriptions) subscriptions_.accepted(uri, std::nullopt);
}

}  // namespace bridge
