// What the upstream is to tell of for all who listen: who names which resource, and until when.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/json_text.hpp"
#include "mcp/request_meta.hpp"
#include "router/listens.hpp"

namespace bridge {

void Listens::subscribe(const SubscriptionFilter& filter) {
  for (const std::string& uri : filter.resources) {
    const bool is_new = !subscribed_.contains(uri);
    ++subscribed_[uri].listens;
    if (is_new && !restorable_.subscriptions().contains(uri))
      tell_upstream("resources/subscribe", uri);
  }
}

void Listens::unsubscribe(const SubscriptionFilter& filter, bool was_cut_off) {
  const SteadyTime until = context_.loop.now() + (was_cut_off ? SteadyTime::duration(linger_time)
                                                              : SteadyTime::duration{});
  for (const std::string& uri : filter.resources) {
    const auto found = subscribed_.find(uri);
    if (found == subscribed_.end()) continue;
    --found->second.listens;
    found->second.until = std::max(found->second.until, until);
  }
  expire();
}

void Listens::expire() {
  const SteadyTime now = context_.loop.now();
  std::erase_if(subscribed_, [&](const auto& entry) {
    const auto& [uri, one] = entry;
    if (one.listens > 0) return false;
    if (one.until > now) {
      expiry_.set_at_latest(one.until);
      return false;
    }
    if (!restorable_.subscriptions().contains(uri)) tell_upstream("resources/unsubscribe", uri);
    return true;
  });
  update();
}

void Listens::tell_upstream(std::string_view method, const std::string& uri) {
  if (are_native() || !context_.session.is_open(Era::legacy)) return;
  in_flight_.start_own(method, fmt::format(R"({{"uri":{}}})", quote(uri)), Era::legacy);
}

void Listens::update() {
  SubscriptionFilter wanted;
  if (context_.session.ring_source() == Era::modern) {
    wanted.tools_list_changed = wanted.prompts_list_changed = wanted.resources_list_changed = true;
    for (const std::string& uri : restorable_.subscriptions().uris()) wanted.resources.insert(uri);
  }
  for (const auto& listen : listens_) wanted.add(listen->filter);
  for (const auto& [uri, one] : subscribed_) wanted.resources.insert(uri);
  std::string extensions;
  for (const auto& listen : listens_) {
    if (!listen->extensions.empty())
      extensions = merge_capabilities(extensions, listen->extensions);
  }
  context_.session.listen_for(
      std::move(wanted),
      extensions.empty() ? "{}" : fmt::format(R"({{"extensions":{}}})", extensions));
  if (!subscribing_.empty()) answer_waiting(false);
}

std::vector<std::string> Listens::uris() const {
  std::vector<std::string> all;
  for (const auto& [uri, one] : subscribed_) all.push_back(uri);
  return all;
}

}  // namespace bridge
