#include "router/control_requests.hpp"

#include <utility>
#include <variant>

#include "mcp/modern_result.hpp"

namespace bridge {
namespace {

/// What a modern client asks the bridge itself is answered as its revision wants it.
std::string as_modern(const std::string& response) {
  auto parsed = parse_frame(response);
  // What it repeats of notifications may be nested too deeply to be read.
  auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? for_modern_client(std::move(*frame), "bridge/", false).bytes : response;
}

}  // namespace

void ControlRequests::add(Client& client, Frame request) {
  ++context_.statistics.control_requests;
  if (client.control.empty() && !client.channel.congested()) {
    answer(client, request);
  } else if (client.channel.pause_input()) {
    client.control.push(std::move(request), context_.loop.now());
  } else {
    context_.log.peer(LogLevel::warning, "control unanswered", {.client = client.id()},
                      "a control request was not answered: its client's queue is full");
  }
}

void ControlRequests::answer(Client& client, const Frame& request) {
  // What follows an answer to bridge/notifications must be newer than it, and what is told about a
  // bridge/collect stands before its answer; the others are answered at once.
  const bool has_its_place =
      request.method == "bridge/notifications" || request.method == "bridge/collect";
  const AnswerOrder order = has_its_place ? AnswerOrder::in_order : AnswerOrder::ahead;
  ++client.control_unanswered;
  control_->answer(request, client, reply_to(client, request, order));
}

std::string ControlRequests::keep_for_later(Client& client, const Frame& request) {
  if (control_ == nullptr) return {};
  ++client.control_unanswered;
  std::string name =
      control_->keep_for_later(request, client, reply_to(client, request, AnswerOrder::in_order));
  if (name.empty()) --client.control_unanswered;
  return name;
}

Control::Reply ControlRequests::reply_continued(Client& client, std::string_view raw_id) {
  ++client.control_unanswered;
  return reply_to(client.id(), std::string(raw_id), false, false, AnswerOrder::in_order);
}

Control::Reply ControlRequests::reply_to(const Client& client, const Frame& request,
                                         AnswerOrder order) {
  return reply_to(client.id(), std::string(request.text(request.id)), request.is_modern(),
                  is_confidential(request.method), order);
}

Control::Reply ControlRequests::reply_to(ClientId client, std::string raw_id, bool is_modern,
                                         bool confidential, AnswerOrder order) {
  return [this, client, raw_id = std::move(raw_id), is_modern, confidential,
          order](std::string response) {
    Client* const asker = context_.clients.find(client);
    if (asker == nullptr) return;
    --asker->control_unanswered;
    if (is_modern) response = as_modern(response);
    asker->channel.answer(raw_id, std::move(response), order, confidential);
    context_.clients.finish_if_done(*asker);
  };
}

bool ControlRequests::cancel(Client& client, std::string_view raw_id) {
  if (client.control_unanswered == 0 || !control_->cancel(client, raw_id)) return false;
  --client.control_unanswered;
  client.channel.no_answer(raw_id);
  context_.clients.finish_if_done(client);
  return true;
}

void ControlRequests::answer_waiting(Client& client) {
  if (client.control_unanswered > 0) control_->client_drained(client);
  while (!client.control.empty() && !client.channel.congested())
    answer(client, client.control.take_front().frame);
  if (!client.channel.congested()) client.channel.release_input();
}

}  // namespace bridge
