// How requests in flight are sent: for the first time, again, and under another id.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "json/json_text.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {

void RequestsInFlight::start(Client& client, WaitingFrame&& waiting) {
  const UpstreamId id = context_.ids.next();
  if (client.is_job) {
    const std::string_view raw_id = waiting.frame.text(waiting.frame.id);
    if (const auto place = client.channel.resume_point(raw_id)) {
      take_up(client, waiting, *place);
      return;
    }
    client.channel.request_starting(raw_id, id);
  }
  PendingRequest& request = take_in(client, waiting, id, true);
  const std::string unsendable = send(id, request, std::move(waiting.frame), &client);
  if (!unsendable.empty()) {
    refuse_unsendable(id, unsendable);
    return;
  }
  request.sent = context_.loop.now();
}

/// Awaits the answer to a request that another daemon has sent.
void RequestsInFlight::take_up(Client& client, const WaitingFrame& waiting,
                               const ResumePoint& place) {
  const std::string raw_id(waiting.frame.text(waiting.frame.id));
  if (place.session != context_.session.number() || table_.find(place.id) != nullptr) {
    context_.request_log.answer_with(
        client, waiting.frame.method, raw_id,
        failure_of(ErrorKind::closed, Delivered::unknown,
                   "the session in which it was sent is over: its answer cannot be had any more"));
    return;
  }
  client.channel.request_starting(raw_id, place.id);
  Outgoing message;
  message.id = place.id;
  message.endless = true;
  message.resumes_after = place.event_id;
  PendingRequest& request = take_in(client, waiting, place.id, true);
  request.sent = context_.loop.now();
  request.side = Era::legacy;  // only a session's streams are resumed
  context_.session.send(std::move(message), Era::legacy);
}

void RequestsInFlight::open_session(Client& client, WaitingFrame initialize) {
  std::string params = params_to_keep(initialize.frame);
  const UpstreamId id = context_.ids.next();
  PendingRequest& request = take_in(client, initialize, id, false);
  request.sent = context_.loop.now();
  request.side = Era::legacy;
  std::string body = std::move(initialize.frame.bytes);
  const std::string number = std::to_string(value_of(id));
  splice(body, {initialize.frame.id, number}, {initialize.frame.progress_token, number});
  context_.session.open_with(id, std::move(body), std::move(params));
}

void RequestsInFlight::start_own(std::string_view method, std::string_view params, Era side) {
  const UpstreamId id = context_.ids.next();
  PendingRequest request;
  request.method = std::string(method);
  request.is_own = true;
  request.side = side;
  request.takes_slot = false;
  request.received = request.sent = context_.loop.now();
  auto frame = parse_frame(own_request(id, method, params));
  request.subject = RestorableState::subject_of(std::get<Frame>(frame));
  table_.add(id, std::move(request));
  Outgoing message;
  message.id = id;
  message.may_repeat = true;
  translator_.make_for_upstream(std::move(std::get<Frame>(frame)), nullptr, side, message);
  context_.session.send(std::move(message), side);
}

void RequestsInFlight::remake(Outgoing& message, Era side, bool under_new_id) {
  PendingRequest* pending = table_.find(message.id);
  if (pending == nullptr) return;
  auto parsed = parse_frame(std::move(message.body));
  Frame& frame = std::get<Frame>(parsed);
  if (under_new_id) {
    const UpstreamId former = message.id;
    message.id = *set_aside(former);
    pending = table_.find(message.id);
    if (std::exchange(pending->suspended, false)) --suspended_;
    events_.request_ending(former);  // whatever was asked about it
  }
  pending->side = side;
  if (pending->era == Era::legacy && !frame.is_modern()) translator_.note(frame, *pending);
  translator_.make_for_upstream(std::move(frame), context_.clients.find(pending->client), side,
                                message);
}

void RequestsInFlight::retry(UpstreamId id, Frame request) {
  PendingRequest& pending = *table_.find(id);
  pending.is_upstream = true;
  Client* const client = context_.clients.find(pending.client);
  if (client != nullptr && client->is_job)
    client->channel.request_starting(pending.client_request_id, id);
  const std::string unsendable = send(id, pending, std::move(request), client);
  if (!unsendable.empty()) refuse_unsendable(id, unsendable);
}

/// Returns which header cannot say what stands in it; then it was not sent.
std::string RequestsInFlight::send(UpstreamId id, const PendingRequest& request, Frame&& frame,
                                   const Client* client) {
  Outgoing message;
  message.id = id;
  message.may_repeat = only_reads(request.method);
  message.stays_open = is_stream(request.method);
  message.endless = client != nullptr && client->is_job &&
                    !client->channel.acts_for_client(request.client_request_id);
  std::string unsendable =
      translator_.make_for_upstream(std::move(frame), client, request.side, message);
  if (!unsendable.empty()) return unsendable;
  context_.session.send(std::move(message), request.side);
  if (client != nullptr && client->channel.congested()) context_.session.pause(id, true);
  return {};
}

/// A header cannot say what stands in the request.
void RequestsInFlight::refuse_unsendable(UpstreamId id, std::string_view header) {
  const auto ended = take(id);
  fail(id, *ended,
       failure_of(ErrorKind::too_large, Delivered::no,
                  fmt::format("the request cannot be sent: its header {} would be too long, or "
                              "stands for what the request has twice",
                              printable(header, 140))));
  events_.request_ended(*ended);
}

}  // namespace bridge
