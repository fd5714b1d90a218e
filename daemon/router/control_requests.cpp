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
  } else if (client.channel.hold_input()) {
    client.control.push(std::move(request), context_.loop.now());
  } else {
    context_.log.peer(LogLevel::warning, "control unanswered", {.client = client.id()},
                      "a control request was not answered: its client's queue is full");
  }
}

void ControlRequests::answer(Client& client, const Frame& request) {
  // What follows an answer to bridge/notifications must be newer than it; the others are answered
  // at once.
  const AnswerOrder order =
      request.method == "bridge/notifications" ? AnswerOrder::in_order : AnswerOrder::ahead;
  ++client.control_unanswered;
  control_->answer(request, [this, order, id = client.id(), is_modern = request.is_modern(),
                             raw_id = std::string(request.text(request.id))](std::string response) {
    Client* const asker = context_.clients.find(id);
    if (asker == nullptr) return;
    --asker->control_unanswered;
    if (is_modern) response = as_modern(response);
    asker->channel.answer(raw_id, std::move(response), order);
    context_.clients.finish_if_done(*asker);
  });
}

void ControlRequests::answer_waiting(Client& client) {
  while (!client.control.empty() && !client.channel.congested())
    answer(client, client.control.take_front().frame);
  if (!client.channel.congested()) client.channel.release_input();
}

}  // namespace bridge
