// Clients' requests that the bridge answers itself.
#include <fmt/format.h>

#include <string>

#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/client_frames.hpp"

namespace bridge {

using namespace std::string_view_literals;

/// By its id a client knows what it is told on a listen, until that ends.
bool ClientFrames::takes_id_of_listen(const Client& client, const Frame& request) const {
  const std::string_view id = request.text(request.id);
  if (listens_.has(client, id)) return true;
  return request.method == "subscriptions/listen"sv && in_flight_.has(client, id);
}

/// It takes no slot of the requests in flight.
bool ClientFrames::start_listen(Client& client) {
  const Frame frame = client.waiting.take_front().frame;
  if (client.listens < context_.options.client_inflight) {
    listens_.add(client, frame);
  } else {
    refuse(client, frame,
           failure_of(ErrorKind::overloaded, Delivered::no,
                      "too many subscriptions/listen of one client (--client-inflight)"));
  }
  return true;
}

/// A modern upstream has no such method: what it is for is done here. False if it is asked.
bool ClientFrames::answer_for_upstream(Client& client) {
  if (client.is_job) return false;  // a job knows what its server is
  const auto own = translator_.own_answer(client.waiting.front().frame);
  if (!own) return false;
  const Frame frame = client.waiting.take_front().frame;
  if (!own->error.empty()) {
    context_.statistics.end(class_of(frame.method), Outcome::error);
    const std::string_view id = frame.text(frame.id);
    client.channel.answer(id,
                          fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, own->error),
                          AnswerOrder::in_order);
    return true;
  }
  restorable_.accepted(frame, client.id());
  if (frame.method == "resources/subscribe"sv &&
      client.subscribing < context_.options.client_inflight) {
    listens_.answer_subscribe(client, frame);
  } else {
    listens_.update();
    answer_here(client, frame, class_of(frame.method), own->result);
  }
  return true;
}

/// The upstream is not asked.
void ClientFrames::answer_here(Client& client, const Frame& request, MethodClass of,
                               std::string_view result) {
  context_.statistics.end(of, Outcome::ok);
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, result_reply(id, result), AnswerOrder::in_order);
}

void ClientFrames::answer_with_error(Client& client, const Frame& request, int code,
                                     std::string_view message) {
  context_.statistics.end(class_of(request.method), Outcome::error);
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, error_reply(id, code, message), AnswerOrder::in_order);
}

void ClientFrames::refuse(Client& client, const Frame& refused, const Failure& failure) {
  if (refused.is_request()) {
    context_.request_log.answer_with(client, refused.method, refused.text(refused.id), failure);
  } else {
    ++context_.statistics.dropped_notifications;
  }
}

}  // namespace bridge
