#include "router/control_requests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"

namespace bridge {
namespace {

/// Longer frames are not kept for an upgrade.
constexpr std::size_t longest_handled_again = 4096;

/// Answers of the bridge to a request that carries its revision have the form of that.
std::string with_result_type(const std::string& response) {
  auto parsed = parse_frame(response);
  // Repeated notifications may be nested too deeply to be parsed.
  auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? for_modern_client(std::move(*frame), "bridge/", false).bytes : response;
}

}  // namespace

void ControlRequests::queue_request(Client& client, Frame request) {
  ++context_.statistics.control_requests;
  const bool is_at_once = facts_of(request.method).is_done_at_once;
  if (is_at_once && client.channel.congested()) client.channel.pause_input();
  if (is_at_once || (client.control.empty() && !client.channel.congested())) {
    answer(client, request);
  } else if (client.channel.pause_input()) {
    client.control.push(std::move(request), context_.loop.now());
  } else {
    context_.log.peer(LogLevel::warning, "control unanswered", {.client = client.id()},
                      "a control request was not answered: its client's queue is full");
  }
}

/// Called when the request is handled: it may have waited.
std::optional<Failure> ControlRequests::refusal(const Client& client, const Frame& request) {
  if (client.may_take_part() || request.method == "bridge/use") return std::nullopt;
  const bool is_refused = client.grant && client.grant->is_refused();
  if (request.method == "bridge/status" && !is_refused) return std::nullopt;
  return context_.permissions.refusal(client, request, ToolList());
}

void ControlRequests::answer(Client& client, const Frame& request) {
  if (const auto refused = refusal(client, request)) {
    const std::string_view id = request.text(request.id);
    client.channel.answer(id, error_reply(id, *refused), AnswerOrder::in_order);
    return;
  }
  const AnswerOrder order =
      facts_of(request.method).is_answered_in_order ? AnswerOrder::in_order : AnswerOrder::ahead;
  control_->answer(request, client, reply_to(client, request, order, false));
}

std::string ControlRequests::keep_for_later(Client& client, const Frame& request) {
  if (control_ == nullptr) return {};
  std::string name = control_->keep_for_later(
      request, client, reply_to(client, request, AnswerOrder::in_order, true));
  if (name.empty()) client.control_unanswered.pop_back();
  return name;
}

Control::Reply ControlRequests::reply_continued(Client& client, std::string_view raw_id) {
  return reply_to(client, {0, std::string(raw_id), {}, true}, false, false, AnswerOrder::in_order);
}

Control::Reply ControlRequests::reply_to(Client& client, const Frame& request, AnswerOrder order,
                                         bool is_delivery) {
  const ControlFacts facts = facts_of(request.method);
  const bool again =
      !is_delivery && facts.is_handled_again && request.bytes.size() <= longest_handled_again;
  return reply_to(client,
                  {0, std::string(request.text(request.id)), again ? request.bytes : std::string(),
                   is_delivery},
                  wants_result_type(request), facts.is_confidential, order);
}

Control::Reply ControlRequests::reply_to(Client& client, Client::UnansweredControl unanswered,
                                         bool typed, bool confidential, AnswerOrder order) {
  const std::uint64_t number = ++last_number_;
  unanswered.number = number;
  client.control_unanswered.push_back(std::move(unanswered));
  return [this, client = client.id(), number, typed, confidential, order](std::string response) {
    Client* const asker = context_.clients.find_client(client);
    if (asker == nullptr) return;
    auto& all = asker->control_unanswered;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [number](const auto& one) { return one.number == number; });
    if (found == all.end()) return;
    const std::string raw_id = std::move(found->raw_id);
    all.erase(found);
    if (typed) response = with_result_type(response);
    asker->channel.answer(raw_id, std::move(response), order, confidential);
    context_.clients.finish_if_done(*asker);
  };
}

bool ControlRequests::cancel(Client& client, std::string_view raw_id) {
  auto& all = client.control_unanswered;
  const auto found = std::find_if(
      all.begin(), all.end(),
      [raw_id](const Client::UnansweredControl& one) { return same_id(one.raw_id, raw_id); });
  if (found == all.end() || !control_->cancel(client, raw_id)) return false;
  all.erase(found);
  client.channel.no_answer(raw_id);
  context_.clients.finish_if_done(client);
  return true;
}

void ControlRequests::policy_changed() {
  if (control_ == nullptr) return;
  for (const auto& [id, client] : context_.clients) {
    if (client->may_take_part() || client->control_unanswered.empty()) continue;
    std::vector<std::string> waiting;
    for (const auto& one : client->control_unanswered) {
      // The request of a delivery was allowed when it was sent, like any request in flight.
      if (!one.is_delivery) waiting.push_back(one.raw_id);
    }
    std::erase_if(client->control_unanswered, [](const auto& one) { return !one.is_delivery; });
    for (const std::string& raw_id : waiting) {
      control_->cancel(*client, raw_id);
      const Failure denied = context_.permissions.refusal_of_client(*client);
      client->channel.answer(raw_id, error_reply(raw_id, denied), AnswerOrder::in_order);
    }
    context_.clients.finish_if_done(*client);
  }
}

std::vector<std::string> ControlRequests::to_handle_again(const Client& client) {
  std::vector<std::string> frames;
  for (const auto& one : client.control_unanswered) {
    if (!one.again.empty() && client.channel.survives_upgrade(one.raw_id))
      frames.push_back(one.again);
  }
  return frames;
}

void ControlRequests::fail_unanswered(const Failure& failure) {
  for (const auto& [id, client] : context_.clients) {
    auto failed = std::exchange(client->control_unanswered, {});
    const auto stays = [&client = *client](const Client::UnansweredControl& one) {
      return one.is_delivery || (!one.again.empty() && client.channel.survives_upgrade(one.raw_id));
    };
    const auto from = std::stable_partition(failed.begin(), failed.end(), stays);
    client->control_unanswered.assign(std::make_move_iterator(failed.begin()),
                                      std::make_move_iterator(from));
    for (auto one = from; one != failed.end(); ++one) {
      client->channel.answer(one->raw_id, error_reply(one->raw_id, failure), AnswerOrder::in_order,
                             false);
    }
    context_.clients.finish_if_done(*client);
  }
}

void ControlRequests::answer_waiting(Client& client) {
  if (!client.control_unanswered.empty()) control_->client_drained(client);
  while (!client.control.empty() && !client.channel.congested())
    answer(client, client.control.take_front().frame);
  if (!client.channel.congested()) client.channel.release_input();
}

}  // namespace bridge
