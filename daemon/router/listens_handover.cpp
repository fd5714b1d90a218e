// Listens of clients that another image of the program goes on with.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "router/listens.hpp"

namespace bridge {

void Listens::end_left_behind() {
  std::vector<std::unique_ptr<Listen>> left_behind;
  const auto stays = [this](const std::unique_ptr<Listen>& listen) {
    const Client* const client = context_.clients.find(listen->client);
    return client != nullptr && client->channel.survives_upgrade({});
  };
  const auto from = std::stable_partition(listens_.begin(), listens_.end(), stays);
  std::move(from, listens_.end(), std::back_inserter(left_behind));
  listens_.erase(from, listens_.end());
  end(left_behind);
  for (const auto& listen : left_behind) unsubscribe(listen->filter, true);
}

KeptListens Listens::to_keep() const {
  KeptListens kept;
  for (const auto& listen : listens_) {
    const Client* const client = context_.clients.find(listen->client);
    if (client == nullptr || !client->channel.survives_upgrade({})) continue;
    kept.listens.push_back({value_of(listen->client), listen->raw_id, listen->filter.json(),
                            listen->extensions, listen->reader, listen->is_acknowledged});
  }
  for (const auto& [uri, one] : subscribed_) kept.held.push_back({uri, ticks_of(one.until)});
  return kept;
}

void Listens::go_on_with(KeptListens kept) {
  for (KeptListens::Held& held : kept.held)
    subscribed_[held.uri].until = steady_time_of(held.until);
  for (KeptListens::Listen& one : kept.listens) {
    Client* const client = context_.clients.find(static_cast<ClientId>(one.client));
    const auto parsed = parse_frame(
        fmt::format(R"({{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":)"
                    R"({{"notifications":{}}}}})",
                    one.filter));
    const auto* const frame = std::get_if<Frame>(&parsed);
    if (client == nullptr || frame == nullptr) continue;
    auto filter = read_filter(*frame);
    if (!std::holds_alternative<SubscriptionFilter>(filter)) continue;
    auto listen = std::make_unique<Listen>();
    listen->client = client->id();
    listen->raw_id = std::move(one.raw_id);
    listen->filter = std::move(std::get<SubscriptionFilter>(filter));
    listen->extensions = std::move(one.extensions);
    listen->reader = one.reader;
    if (bypass_ring()) listen->ring_end = feed_.ring().newest();
    listen->is_acknowledged = one.is_acknowledged;
    ++client->listens;
    for (const std::string& uri : listen->filter.resources) ++subscribed_[uri].listens;
    if (!listen->is_acknowledged) late_.set_at_latest(context_.loop.now() + longest_wait);
    listens_.push_back(std::move(listen));
  }
  expire();  // sees to what nobody names any more, and asks the upstream for the rest
}

}  // namespace bridge
