#include "verbs/announcements.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace client {
namespace {

/// Id of a request whose answer says that the daemon has read bridge/peek: what it had written
/// from its ring before that is behind us then.
constexpr std::string_view peeked_id = "\"peeked\"";

}  // namespace

void Announcements::before(std::string_view method, bool is_request) {
  const bool is_for_us = is_for_the_bridge(method);
  if (ring_ == Ring::to_be_left) {
    ring_ = Ring::being_left;
    conversation_.queue(json::make_notification("bridge/peek", ""));
    // To a request to the bridge nothing else can come before its answer.
    if (!is_for_us)
      conversation_.queue(json::make_request(peeked_id, "bridge/notifications", R"({"limit":1})"));
  }
  // Only who says so is asked what the server wants to know. A request to the bridge alone needs
  // nobody, and whoever makes it only looks on.
  if (is_request && !is_for_us && !std::exchange(is_said_, true) && (can_ask_ || has_roots_))
    say_answers();
}

void Announcements::say_answers() {
  std::string methods = can_ask_ ? R"("elicitation/create")" : "";
  if (has_roots_) methods += methods.empty() ? R"("roots/list")" : R"(,"roots/list")";
  conversation_.queue(
      json::make_notification("bridge/answers", fmt::format(R"({{"methods":[{}]}})", methods)));
}

bool Announcements::take(const json::Message& response) {
  if (response.id != peeked_id) return false;
  ring_ = Ring::taken;
  return true;
}

}  // namespace client
