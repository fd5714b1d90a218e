#include "router/own_subscriptions.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "json/json_object.hpp"
#include "json/json_text.hpp"

namespace bridge {

void OwnSubscriptions::request_later(const Client* cause, const std::string& uri, bool subscribes) {
  // A new session has none of the subscriptions of the former one, and was given what is wanted.
  if (std::exchange(session_, context_.session.number()) != session_) unsent_.clear();
  unsent_.add_change(cause != nullptr ? cause->user : User{false, ::geteuid()}, uri, subscribes);
  send_unsent();
}

/// Sends what may be sent now. Called again when one has ended.
void OwnSubscriptions::send_unsent() {
  if (session_ != context_.session.number()) unsent_.clear();
  while (under_way_.size() < own_requests_at_once &&
         (under_way_.empty() || in_flight_.calls().slots_used() < context_.options.max_inflight)) {
    auto request = unsent_.next([this](const User& cause) { return may_send_for(cause); });
    if (!request) return;
    const std::string_view method =
        request->subscribes ? "resources/subscribe" : "resources/unsubscribe";
    const UpstreamId id = in_flight_.start_at_once(*this, request->user, method,
                                                   JsonObject().add("uri", request->uri).text(),
                                                   context_.session.stateful());
    under_way_.push_back({id, std::move(*request)});
  }
}

bool OwnSubscriptions::may_send_for(const User& cause) const {
  const bool has_one = std::any_of(under_way_.begin(), under_way_.end(),
                                   [&](const UnderWay& one) { return one.request.user == cause; });
  if (!has_one || !context_.permissions.is_on()) return true;
  return std::none_of(context_.clients.begin(), context_.clients.end(), [&](const auto& entry) {
    const Client& client = *entry.second;
    if (client.user != cause) return false;
    const PolicyRule* const rule = context_.permissions.rule_for(client, nullptr);
    return rule != nullptr && rule->inflight &&
           in_flight_.calls().slots_used_by(cause) >= *rule->inflight;
  });
}

OwnRequests::Request OwnSubscriptions::forget(std::string_view raw_id) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(), [&](const UnderWay& one) {
    return unsigned_by_value(raw_id) == value_of(one.id);
  });
  if (found == under_way_.end()) return {};
  OwnRequests::Request request = std::move(found->request);
  under_way_.erase(found);
  return request;
}

/// The next process sends it.
void OwnSubscriptions::given_up(std::string_view raw_id, const Failure&) {
  OwnRequests::Request request = forget(raw_id);
  if (!request.uri.empty()) unsent_.add_change(request.user, request.uri, request.subscribes);
}

}  // namespace bridge
