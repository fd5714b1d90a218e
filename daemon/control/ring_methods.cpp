#include "control/ring_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "router/permissions.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_answer = 1u << 20;
/// The containers around a message: response, result, list and item.
constexpr std::size_t around_message = 4;
/// No shorter one can be nested too deep for that.
constexpr std::size_t longest_shallow = 2 * (JsonScanner::max_depth - around_message);

std::shared_ptr<const RingFilter> filter_of(const Client& client) {
  return client.rule != nullptr ? ring_filter_of(*client.rule) : nullptr;
}

std::int64_t milliseconds_since_1970(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// The numbers in a list, in order and each once; nullopt if it is another list, or too long.
std::optional<std::vector<std::uint64_t>> numbers_in(std::string_view list, std::size_t most) {
  std::vector<std::uint64_t> numbers;
  const bool is_list = each_element(list, [&](std::string_view element) {
    const auto number = to_unsigned(element);
    if (!number || numbers.size() == most) return false;
    numbers.push_back(*number);
    return true;
  });
  if (!is_list) return std::nullopt;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// nullopt if it is not a list of globs, or too long.
std::optional<ItemRule> globs_in(std::string_view list) {
  std::vector<std::string> globs;
  const bool is_list = each_element(list, [&](std::string_view element) {
    auto glob = to_text(element);
    if (!glob || glob->size() > RingMethods::longest_glob || globs.size() == RingMethods::max_globs)
      return false;
    globs.push_back(std::move(*glob));
    return true;
  });
  return is_list ? std::optional(ItemRule::of_globs(globs)) : std::nullopt;
}

std::string shown_entry(const RingEntry& entry) {
  const std::string_view message(entry.line.data(), entry.line.size() - 1);
  JsonObject shown;
  shown.add("seq", value_of(entry.sequence))
      .add("time", milliseconds_since_1970(entry.time))
      .add("taken", entry.taken());
  if (message.size() > longest_shallow && !is_json(message, around_message)) {
    shown.add("text", message);
  } else {
    shown.add("message", RawJson{message});
  }
  return shown.text();
}

}  // namespace

bool RingMethods::Query::wants(const RingEntry& entry, const RingFilter* filter) const {
  return !(only_untaken && entry.taken()) && (filter == nullptr || (*filter)(entry)) &&
         (methods.allows_all() || methods.allows(string_member(entry.line, "method")));
}

RingMethods::RingMethods(EventLoop& loop, NotificationFeed& feed, const Clients& clients,
                         const std::string& instance, std::chrono::milliseconds longest_http_wait)
    : loop_(loop),
      feed_(feed),
      clients_(clients),
      instance_(instance),
      longest_http_wait_(longest_http_wait),
      look_(loop, [this] { answer_due(loop_.now()); }),
      clock_(loop, [this] { answer_due(loop_.now()); }) {
  feed.add_readers(*this);
}

/// The ring after what clients have read and what is too old.
Ring& RingMethods::current_ring() {
  feed_.acknowledge_read();
  feed_.ring().expire(loop_.wall_time());
  return feed_.ring();
}

std::variant<RingMethods::Query, std::string> RingMethods::query_in(std::string_view params) const {
  Query query;
  const auto since = find_member(params, "since");
  const auto number = [&](std::string_view name, std::uint64_t otherwise) {
    const auto raw = find_member(params, name);
    return raw ? to_unsigned(*raw) : std::optional(otherwise);
  };
  const auto from = number("since", 0);
  const auto limit = number("limit", query.limit);
  const auto wait = number("waitMs", 0);
  const auto instance = find_member(params, "instance");
  const auto untaken = find_member(params, "untaken").value_or("false");
  const auto methods = find_member(params, "methods");
  const auto globs = methods ? globs_in(*methods) : ItemRule();
  if (!from || !limit || *limit == 0 || !wait || (instance && !is_string(*instance)) || !globs ||
      (untaken != "true" && untaken != "false")) {
    return fmt::format(
        "Invalid params: since, limit and waitMs are whole numbers, instance is a string, untaken "
        "true or false, methods a list of at most {} globs of {} bytes",
        max_globs, longest_glob);
  }
  const Ring& ring = feed_.ring();
  const bool is_other = instance && to_text(*instance) != instance_;
  query.may_miss = since && !is_other;
  query.gap = is_other || *from > value_of(ring.newest());
  query.since = is_other ? Sequence{} : std::min(static_cast<Sequence>(*from), ring.newest());
  query.limit = *limit;
  query.wait = *wait > static_cast<std::uint64_t>(std::chrono::milliseconds(longest_wait).count())
                   ? longest_wait
                   : std::chrono::milliseconds(*wait);
  query.only_untaken = untaken == "true";
  query.methods = *globs;
  return query;
}

bool RingMethods::has_news(const Query& query, Sequence seen, const RingFilter* filter) const {
  bool found = false;
  feed_.ring().each_after(std::max(query.since, seen), [&](const RingEntry& entry) {
    found = query.wants(entry, filter);
    return !found;
  });
  return found;
}

std::string RingMethods::result_of(const Query& query, const RingFilter* filter) const {
  const Ring& ring = feed_.ring();
  JsonArray list;
  std::uint64_t count = 0;
  bool more = false;
  ring.each_after(query.since, [&](const RingEntry& entry) {
    if (!query.wants(entry, filter)) return true;
    more = count == query.limit;
    if (more) return false;
    const std::string shown = shown_entry(entry);
    more = count > 0 && list.size() + shown.size() > max_answer - 4096;
    if (more) return false;
    list.add(RawJson{shown});
    ++count;
    return true;
  });
  return JsonObject()
      .add("instance", instance_)
      .add("oldest", value_of(ring.oldest()))
      .add("newest", value_of(ring.newest()))
      .add("dropped", ring.dropped())
      .add("gap",
           query.gap || (query.may_miss && value_of(query.since) + 1 < value_of(ring.oldest())))
      .add("more", more)
      .add("notifications", RawJson{list.text()})
      .text();
}

void RingMethods::read(const Frame& request, const Client& asker, Control::Reply reply) {
  const std::string_view id = request.text(request.id);
  const Ring& ring = current_ring();
  auto read = query_in(request.text(request.params));
  if (const auto* wrong = std::get_if<std::string>(&read)) {
    reply(error_reply(id, json_rpc::invalid_params, *wrong));
    return;
  }
  Query& query = std::get<Query>(read);
  if (asker.channel.identity().is_http()) query.wait = std::min(query.wait, longest_http_wait_);
  const auto filter = filter_of(asker);
  if (query.wait.count() == 0 || has_news(query, {}, filter.get())) {
    reply(result_reply(id, result_of(query, filter.get())));
    return;
  }
  const auto of_user =
      std::count_if(waiting_.begin(), waiting_.end(),
                    [&asker](const Waiting& one) { return one.user == asker.user; });
  if (static_cast<std::size_t>(of_user) >= max_of_user) {
    reply(error_reply(
        id, failure_of(ErrorKind::overloaded, Delivered::no,
                       fmt::format("{} requests of this user wait for notifications already",
                                   max_of_user))));
    return;
  }
  if (request.id.size() > longest_id) {
    reply(error_reply(
        id, json_rpc::invalid_params,
        fmt::format("Invalid params: with waitMs the id has at most {} bytes", longest_id)));
    return;
  }
  const SteadyTime until = loop_.now() + query.wait;
  waiting_.push_back(
      {query, ring.newest(), asker.id(), asker.user, std::string(id), until, std::move(reply)});
  clock_.set_at_latest(until);
}

std::string RingMethods::take(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  const auto instance = find_string(params, "instance");
  const auto numbers = numbers_in(find_member(params, "seqs").value_or(""), max_taken);
  if (!instance || !numbers) {
    return error_reply(id, json_rpc::invalid_params,
                       fmt::format("Invalid params: instance is a string, seqs a list of at most "
                                   "{} whole numbers",
                                   max_taken));
  }
  Ring& ring = current_ring();
  const auto filter = filter_of(asker);
  JsonArray taken;
  JsonArray unknown;
  for (const std::uint64_t number : *numbers) {
    const auto sequence = static_cast<Sequence>(number);
    const RingEntry* const entry = *instance == instance_ ? ring.find(sequence) : nullptr;
    const bool is_shown = entry != nullptr && (filter == nullptr || (*filter)(*entry));
    if (is_shown) ring.take(sequence);
    (is_shown ? taken : unknown).add(RawJson{std::to_string(number)});
  }
  return result_reply(
      id, JsonObject().add("taken", RawJson{taken.text()}).add("unknown", RawJson{unknown.text()}));
}

void RingMethods::ring_grew() {
  if (!waiting_.empty()) look_.schedule();
}

void RingMethods::policy_changed() {
  for (Waiting& one : waiting_) one.seen = {};
  ring_grew();
}

/// Answers what there is news for, and what has waited long enough.
void RingMethods::answer_due(SteadyTime now) {
  const Ring& ring = current_ring();
  std::vector<std::pair<Control::Reply, std::string>> answers;
  const auto is_answered = [&](Waiting& one) {
    const Client* const client = clients_.find_client(one.client);
    if (client == nullptr) return true;
    const auto filter = filter_of(*client);
    const bool has_any = has_news(one.query, one.seen, filter.get());
    if (!has_any) one.seen = ring.newest();
    if ((!has_any && now < one.until) || client->channel.congested()) return false;
    answers.emplace_back(std::move(one.reply),
                         result_reply(one.request_id, result_of(one.query, filter.get())));
    return true;
  };
  std::erase_if(waiting_, is_answered);
  for (const auto& [reply, response] : answers) reply(response);
  for (const Waiting& one : waiting_) {
    // A client without room is answered when it has drained.
    if (now < one.until) clock_.set_at_latest(one.until);
  }
}

void RingMethods::answer_waiting() {
  for (Waiting& one : waiting_) one.until = loop_.now();
  if (!waiting_.empty()) answer_due(loop_.now());
}

bool RingMethods::cancel(const Client& asker, std::string_view raw_id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    return one.client == asker.id() && same_id(one.request_id, raw_id);
  });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void RingMethods::client_drained(const Client& client) {
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                 [&](const Waiting& one) { return one.client == client.id(); });
  if (waits) look_.schedule();
}

void RingMethods::client_left(const Client& client) {
  std::erase_if(waiting_, [&](const Waiting& one) { return one.client == client.id(); });
}

}  // namespace bridge
