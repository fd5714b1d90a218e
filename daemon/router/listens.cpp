#include "router/listens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/request_meta.hpp"
#include "router/permissions.hpp"

namespace bridge {

// What the upstream must notify for all listens: who names which resource, and until when.

void Listens::subscribe(const SubscriptionFilter& filter, const Client& client) {
  for (const std::string& uri : filter.resources) {
    if (subscriptions().begin_listen(uri)) tell_upstream(true, uri, &client);
  }
}

std::size_t Listens::count_new_subscriptions(const Frame& listen) const {
  const auto asked = read_filter(listen);
  const auto* const filter = std::get_if<SubscriptionFilter>(&asked);
  if (filter == nullptr || are_native()) return 0;
  return static_cast<std::size_t>(std::count_if(
      filter->resources.begin(), filter->resources.end(), [this](const std::string& uri) {
        return !subscriptions().contains(uri) && !subscriptions().is_listened(uri);
      }));
}

void Listens::unsubscribe(const SubscriptionFilter& filter, bool was_cut_off) {
  const SteadyTime until = context_.loop.now() + (was_cut_off ? SteadyTime::duration(linger_time)
                                                              : SteadyTime::duration{});
  for (const std::string& uri : filter.resources) subscriptions().end_listen(uri, until);
  expire();
}

void Listens::expire() {
  SteadyTime next = SteadyTime::max();
  for (const std::string& uri : subscriptions().expire_listened(context_.loop.now(), next))
    tell_upstream(false, uri, nullptr);
  if (next != SteadyTime::max()) expiry_.set_at_latest(next);
  update();
}

/// `cause`: the client that causes it; null: none.
void Listens::tell_upstream(bool subscribes, const std::string& uri, const Client* cause) {
  if (are_native() || !context_.session.stateful().is_open()) return;
  own_subscriptions_.request_later(cause, uri, subscribes);
}

void Listens::update() {
  SubscriptionFilter wanted;
  if (fill_ring()) {
    wanted.tools_list_changed = wanted.prompts_list_changed = wanted.resources_list_changed = true;
    for (const std::string& uri : subscriptions().uris()) wanted.resources.insert(uri);
  }
  for (const auto& listen : listens_) wanted.add(listen->filter);
  subscriptions().each_listened(
      [&wanted](const std::string& uri, const auto&) { wanted.resources.insert(uri); });
  std::string extensions;
  for (const auto& listen : listens_) {
    if (!listen->extensions.empty())
      extensions = merge_capabilities(extensions, listen->extensions);
  }
  modern_side().listen_for(std::move(wanted),
                           JsonObject().add_unless_empty("extensions", RawJson{extensions}).text());
  if (!subscribing_.empty()) answer_waiting(false);
}

Listens::Listens(const RouterContext& context, NotificationFeed& feed, RestorableState& restorable,
                 RequestsInFlight& in_flight, OwnSubscriptions& own_subscriptions)
    : context_(context),
      feed_(feed),
      restorable_(restorable),
      in_flight_(in_flight),
      own_subscriptions_(own_subscriptions),
      expiry_(context.loop, [this] { expire(); }),
      late_(context.loop, [this] { answer_waiting(true); }) {
  feed.add_readers(*this);
}

/// The part of the filter that the server declares to support.
SubscriptionFilter Listens::honoured(SubscriptionFilter asked) const {
  const ServerDescription& server = *context_.session.serving_listens().server();
  asked.tools_list_changed = asked.tools_list_changed && server.declares("tools", "listChanged");
  asked.prompts_list_changed =
      asked.prompts_list_changed && server.declares("prompts", "listChanged");
  asked.resources_list_changed =
      asked.resources_list_changed && server.declares("resources", "listChanged");
  if (!server.declares("resources", "subscribe")) asked.resources.clear();
  // What MCP does not define belongs to an extension, if the server has any.
  if (!are_native() || !server.has_extensions()) {
    asked.task_ids.clear();
    asked.extensions.clear();
  }
  return asked;
}

void Listens::add_listen(Client& client, const Frame& request) {
  const std::string_view id = request.text(request.id);
  auto asked = read_filter(request);
  if (const auto* invalid = std::get_if<std::string_view>(&asked)) {
    context_.statistics.count_end(MethodClass::subscribe, Outcome::error);
    client.channel.answer(id, error_reply(id, json_rpc::invalid_params, *invalid),
                          AnswerOrder::in_order);
    return;
  }
  SubscriptionFilter filter = honoured(std::move(std::get<SubscriptionFilter>(asked)));
  if (client.rule != nullptr && !client.rule->resources.allows_all()) {
    std::erase_if(filter.resources, [&client](const std::string& uri) {
      return !client.rule->resources.allows(uri);
    });
  }
  if (!make_room_for(filter)) {
    context_.request_log.answer_with(
        client, request.method, id,
        failure_of(ErrorKind::overloaded, Delivered::no,
                   fmt::format("all subscriptions/listen together name too much: over {} entries "
                               "or {} bytes",
                               max_entries, max_bytes)));
    return;
  }
  context_.statistics.count_end(MethodClass::subscribe, Outcome::ok);
  auto listen = std::make_unique<Listen>();
  listen->client = client.id();
  listen->raw_id = std::string(id);
  listen->filter = std::move(filter);
  const std::string_view declared = request.text(request.reserved.client_capabilities);
  listen->extensions = std::string(find_member(declared, "extensions").value_or(""));
  listen->reader = feed_.ring().join(context_.loop.wall_time());
  if (bypass_ring()) listen->ring_end = feed_.ring().newest();
  ++client.listens;
  subscribe(listen->filter, client);
  Listen& added = *listens_.emplace_back(std::move(listen));
  update();
  if (is_informed_of(added.filter)) {
    acknowledge(client, added);
  } else {
    late_.set_at_latest(context_.loop.now() + longest_wait);
  }
}

void Listens::acknowledge(Client& client, Listen& listen) {
  listen.is_acknowledged = true;
  client.channel.send_about(listen.raw_id,
                            acknowledgement(listen.raw_id, acknowledged(listen.filter)));
  feed(client, listen);
}

/// Without what the upstream was asked for but did not acknowledge.
SubscriptionFilter Listens::acknowledged(SubscriptionFilter filter) const {
  const EraSession& session = modern_side();
  if (!are_native()) return filter;
  const auto* const stream = session.listen().stream();
  // Only the upstream knows whether it serves an extension that MCP does not define.
  std::erase_if(filter.extensions, [&](const auto& extension) {
    return stream == nullptr || !stream->honours(extension.first);
  });
  if (session.record().server_stream == ServerStream::none) return {};
  if (stream != nullptr && stream->honoured) {
    using Texts = SubscriptionFilter::Texts;
    const SubscriptionFilter& asked = stream->asked;
    const auto& told = stream->honoured;
    const auto not_in = [](const Texts& acknowledged, const Texts& asked_for) {
      return [&](const std::string& one) {
        return asked_for.contains(one) && !acknowledged.contains(one);
      };
    };
    filter.tools_list_changed = filter.tools_list_changed && told->tools_list_changed;
    filter.prompts_list_changed = filter.prompts_list_changed && told->prompts_list_changed;
    filter.resources_list_changed = filter.resources_list_changed && told->resources_list_changed;
    std::erase_if(filter.resources, not_in(told->resources, asked.resources));
    std::erase_if(filter.task_ids, not_in(told->task_ids, asked.task_ids));
  }
  return filter;
}

/// Lingering subscriptions, whose listens were cut off, make room.
bool Listens::make_room_for(const SubscriptionFilter& filter) {
  if (has_room_for(filter)) return true;
  subscriptions().end_lingering();
  expire();
  return has_room_for(filter);
}

bool Listens::has_room_for(const SubscriptionFilter& filter) const {
  std::size_t entries = filter.entries();
  std::size_t bytes = filter.bytes();
  for (const auto& listen : listens_) {
    entries += listen->filter.entries();
    bytes += listen->filter.bytes() + listen->extensions.size();
  }
  subscriptions().each_listened([&](const std::string& uri, const auto& listened) {
    if (listened.listens > 0) return;
    ++entries;
    bytes += uri.size();
  });
  return entries <= max_entries && bytes <= max_bytes;
}

/// Whether changes would be notified, or nothing more can be done about it.
bool Listens::is_informed_of(const SubscriptionFilter& filter) const {
  using Texts = SubscriptionFilter::Texts;
  const EraSession& session = modern_side();
  if (!are_native() || session.record().server_stream == ServerStream::none) return true;
  if (filter.empty()) return true;
  const auto* const stream = session.listen().stream();
  const SubscriptionFilter* const told = stream != nullptr ? &stream->asked : nullptr;
  const auto includes = [](const Texts& all, const Texts& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  return told != nullptr && includes(told->resources, filter.resources) &&
         includes(told->task_ids, filter.task_ids) &&
         std::all_of(
             filter.extensions.begin(), filter.extensions.end(),
             [told](const auto& extension) { return told->extensions.contains(extension.first); });
}

void Listens::answer_subscribe(Client& client, const Frame& request) {
  ++client.subscribing;
  subscribing_.push_back(
      {client.id(), std::string(request.text(request.id)), RestorableState::subject_of(request)});
  update();
  late_.set_at_latest(context_.loop.now() + longest_wait);
  answer_waiting(false);
}

void Listens::upstream_tells() { answer_waiting(false); }

void Listens::answer_waiting(bool all) {
  std::vector<Subscribing> still_waiting;
  for (Subscribing& one : std::exchange(subscribing_, {})) {
    Client* const client = context_.clients.find_client(one.client);
    if (client == nullptr) continue;
    SubscriptionFilter wanted;
    wanted.resources = {one.uri};
    const bool is_wanted = subscriptions().contains(one.uri);  // and not unsubscribed since
    if (!all && is_wanted && !is_informed_of(wanted)) {
      still_waiting.push_back(std::move(one));
      continue;
    }
    --client->subscribing;
    context_.statistics.count_end(MethodClass::subscribe, Outcome::ok);
    client->channel.answer(one.raw_id, result_reply(one.raw_id, "{}"), AnswerOrder::in_order);
    context_.clients.finish_if_done(*client);
  }
  std::move(still_waiting.begin(), still_waiting.end(), std::back_inserter(subscribing_));
  for (const auto& listen : listens_) {
    Client* const client = context_.clients.find_client(listen->client);
    if (client != nullptr && !listen->is_acknowledged && (all || is_informed_of(listen->filter)))
      acknowledge(*client, *listen);
  }
}

bool Listens::is_hidden(const Client& client, const Frame& notification) {
  return client.rule != nullptr && hides_notification(*client.rule, notification.bytes);
}

/// Sends matching ring entries as long as the client reads.
void Listens::feed(Client& client, Listen& listen) {
  Ring& ring = feed_.ring();
  if (!listen.is_acknowledged) return;
  while (!client.channel.congested()) {
    std::uint64_t lost = 0;
    const RingEntry* const entry =
        ring.next_for(listen.reader, listen.ring_end.value_or(ring.newest()), lost);
    client.channel.note_lost(lost);
    if (entry == nullptr) return;
    Ring::advance(listen.reader, *entry);
    auto parsed = parse_frame(entry->line.substr(0, entry->line.size() - 1));
    auto* const frame = std::get_if<Frame>(&parsed);
    if (frame == nullptr || !listen.filter.matches(*frame) || is_hidden(client, *frame)) continue;
    client.channel.send_entry(listen.raw_id, with_subscription_id(*frame, listen.raw_id),
                              entry->sequence);
  }
}

void Listens::ring_grew() {
  for (const auto& listen : listens_) {
    if (Client* client = context_.clients.find_client(listen->client)) feed(*client, *listen);
  }
}

void Listens::proceed(Client& client) {
  if (client.listens == 0) return;
  for (const auto& listen : listens_) {
    if (listen->client != client.id()) continue;
    feed(client, *listen);
    tell_missed(client, *listen);
  }
}

bool Listens::tell(const Frame& notification) {
  if (!bypass_ring()) return false;
  for (const auto& listen : listens_) {
    Client* const client = context_.clients.find_client(listen->client);
    if (client == nullptr || !listen->is_acknowledged || !listen->filter.matches(notification) ||
        is_hidden(*client, notification))
      continue;
    if (client->channel.congested()) {
      // Sent once when the client reads again, however often it occurred.
      listen->missed.add(listen->filter.part_for(notification));
    } else {
      client->channel.send_about(listen->raw_id,
                                 with_subscription_id(notification, listen->raw_id));
    }
  }
  return true;
}

bool Listens::tell_changed() {
  if (!bypass_ring()) return false;
  for (const auto& listen : listens_) {
    Client* const client = context_.clients.find_client(listen->client);
    if (client == nullptr || !listen->is_acknowledged) continue;
    listen->missed = listen->filter;
    tell_missed(*client, *listen);
  }
  return true;
}

/// As long as the client reads.
void Listens::tell_missed(Client& client, Listen& listen) {
  while (!client.channel.congested()) {
    const auto line = listen.missed.take_changed();
    if (!line) return;
    const auto changed = parse_frame(*line);
    if (is_hidden(client, std::get<Frame>(changed))) continue;
    client.channel.send_about(listen.raw_id,
                              with_subscription_id(std::get<Frame>(changed), listen.raw_id));
  }
}

void Listens::sides_changed() {
  for (const auto& listen : listens_) {
    if (bypass_ring() && !listen->ring_end) {
      listen->ring_end = feed_.ring().newest();
    } else if (!bypass_ring() && listen->ring_end) {
      listen->ring_end.reset();
      listen->reader = feed_.ring().join(context_.loop.wall_time());
    }
  }
  update();
}

Listens::All::const_iterator Listens::find_listen(const Client& client,
                                                  std::string_view raw_id) const {
  return std::find_if(listens_.begin(), listens_.end(), [&](const auto& listen) {
    return listen->client == client.id() && same_id(listen->raw_id, raw_id);
  });
}

bool Listens::has(const Client& client, std::string_view raw_id) const {
  return client.listens > 0 && find_listen(client, raw_id) != listens_.end();
}

bool Listens::cancel(Client& client, std::string_view raw_id) {
  const auto at = find_listen(client, raw_id);
  if (at == listens_.end()) return false;
  const auto found = listens_.begin() + (at - listens_.begin());
  const std::unique_ptr<Listen> listen = std::move(*found);
  listens_.erase(found);
  --client.listens;
  unsubscribe(listen->filter, false);
  client.channel.no_answer(listen->raw_id);
  context_.clients.finish_if_done(client);
  update();
  return true;
}

/// Removes the listens that leave from the list and returns them, in order.
template <class Leaves>
Listens::All Listens::take_out(Leaves&& leaves) {
  const auto from = std::stable_partition(listens_.begin(), listens_.end(),
                                          [&](const auto& listen) { return !leaves(*listen); });
  All taken(std::make_move_iterator(from), std::make_move_iterator(listens_.end()));
  listens_.erase(from, listens_.end());
  return taken;
}

void Listens::client_left(const Client& client) {
  if (client.listens == 0) return;
  const All left = take_out([&](const Listen& listen) { return listen.client == client.id(); });
  for (const auto& listen : left) unsubscribe(listen->filter, true);
  update();
}

void Listens::grant_ended(ClientId id) {
  const All ended = take_out([id](const Listen& listen) { return listen.client == id; });
  if (ended.empty()) return;
  answer_ended(ended);
  for (const auto& listen : ended) unsubscribe(listen->filter, true);
  update();
}

void Listens::end_all() { answer_ended(std::exchange(listens_, {})); }

void Listens::answer_ended(const std::vector<std::unique_ptr<Listen>>& listens) {
  for (const auto& listen : listens) {
    Client* const client = context_.clients.find_client(listen->client);
    if (client == nullptr) continue;
    --client->listens;
    client->channel.answer(listen->raw_id, listen_result(listen->raw_id), AnswerOrder::in_order);
    context_.clients.finish_if_done(*client);
  }
}

void Listens::end_left_behind() {
  const All left_behind = take_out([this](const Listen& listen) {
    const Client* const client = context_.clients.find_client(listen.client);
    return client == nullptr || !client->channel.survives_upgrade({});
  });
  answer_ended(left_behind);
  for (const auto& listen : left_behind) unsubscribe(listen->filter, true);
}

Listens::Saved Listens::save_listens() const {
  Saved saved;
  for (const auto& listen : listens_) {
    const Client* const client = context_.clients.find_client(listen->client);
    if (client != nullptr && client->channel.survives_upgrade({})) saved.listens.push_back(*listen);
  }
  // What was not sent yet is found missing, and what is to be unsubscribed found expired.
  const OwnRequests& unsent = own_subscriptions_.unsent();
  subscriptions().each_listened([&](const std::string& uri, const auto& listened) {
    if (unsent.waits(uri) != true) saved.subscribed[uri] = listened;
  });
  unsent.each([&saved](const OwnRequests::Request& one) {
    if (!one.subscribes) saved.subscribed[one.uri] = {};
  });
  return saved;
}

void Listens::restore(Saved saved) {
  subscriptions().restore_listened(saved.subscribed);
  for (Listen& one : saved.listens) {
    Client* const client = context_.clients.find_client(one.client);
    if (client == nullptr) continue;
    Listen& listen = *listens_.emplace_back(std::make_unique<Listen>(std::move(one)));
    if (bypass_ring()) listen.ring_end = feed_.ring().newest();
    ++client->listens;
    subscribe(listen.filter, *client);
    if (!listen.is_acknowledged) late_.set_at_latest(context_.loop.now() + longest_wait);
  }
  expire();  // removes what no listen names, and requests the rest from the upstream
}

}  // namespace bridge
