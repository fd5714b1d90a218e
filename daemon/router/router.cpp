#include "router/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

Failure shutdown_failure(Delivered delivered) {
  return failure_of(ErrorKind::shutdown, delivered, "the bridge is shutting down");
}

}  // namespace

Router::Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
               ByteBudget& budget, Log& log, RouterOptions options)
    : options_(std::move(options)),
      feed_(feed),
      budget_(budget),
      request_log_(loop, log, statistics_),
      clients_(loop,
               [this](Client& client) {
                 ClientChannel& channel = client.channel.transport();
                 context_.log.event(LogLevel::debug, "client done", {.client = client.id()},
                                    "a client has had all its answers");
                 drop(client);
                 channel.finish();
               }),
      upstream_(ids, session),
      context_{loop, ids, session, upstream_, log, options_, clients_, statistics_, request_log_},
      translator_(context_, restorable_),
      in_flight_(context_, restorable_, translator_, *this),
      listens_(context_, feed, restorable_, in_flight_),
      server_requests_(context_, in_flight_, *this),
      input_rounds_(context_, budget, in_flight_, server_requests_),
      suspended_calls_(context_, budget, in_flight_, server_requests_),
      frames_(context_, budget, restorable_, translator_, in_flight_, listens_, suspended_calls_),
      control_(context_) {
  feed_.ring().on_dropped([this](std::uint64_t dropped) {
    context_.log.peer(LogLevel::warning, "notification dropped",
                      "a notification left the ring before any client had read it ({} so far)",
                      dropped);
  });
}

void Router::start() {
  listens_.update();
  if (options_.handshake == Handshake::eager) context_.session.require();
}

void Router::reconfigure(const RouterOptions& options) {
  options_.orphans = options.orphans;
  options_.connect_wait = options.connect_wait;
  options_.park_requests = options.park_requests;
  options_.input_wait = options.input_wait;
}

void Router::begin_shutdown() {
  shutting_down_ = true;
  const Failure failure = shutdown_failure(Delivered::no);
  frames_.shut_down(failure);
  context_.session.give_up_held(failure);
  input_rounds_.fail_waiting(failure);
  suspended_calls_.end_all();
  listens_.end_all();
  clients_.finish_done();
}

void Router::end_shutdown(bool keeps_jobs) {
  in_flight_.give_up_all(shutdown_failure(Delivered::unknown), keeps_jobs);
  clients_.finish_done();
}

void Router::request_ending(UpstreamId id) {
  server_requests_.request_ending(id);
  input_rounds_.request_ending(id);
  suspended_calls_.request_ending(id);
}

void Router::request_ended(const PendingRequest& request) {
  frames_.request_ended(request);
  if (shutting_down_ && in_flight_.size() == 0 && on_idle_) on_idle_();
}

void Router::input_required(UpstreamId id, const Frame& response) {
  const PendingRequest& request = *in_flight_.find(id);
  Client* const client = clients_.find(request.client);
  if (client != nullptr && client->is_job)
    client->channel.request_asked(request.client_request_id, response.text(response.result));
  input_rounds_.asked(id, response);
}

void Router::suspended_ended(UpstreamId id, RequestsInFlight::End end) {
  suspended_calls_.keep(id, std::move(end));
}

void Router::suspended_told(UpstreamId id, Frame message) {
  suspended_calls_.keep_message(id, std::move(message));
}

void Router::question_answered(UpstreamId request, std::size_t place, const Frame* response) {
  input_rounds_.question_answered(request, place, response);
}

void Router::nobody_declares(std::optional<UpstreamId> request, std::string_view method,
                             AskedFor asked) {
  in_flight_.note_undeclared(request, method, asked);
}

std::optional<UpstreamId> Router::session_message(Era side, std::optional<UpstreamId> origin,
                                                  Frame&& frame) {
  context_.log.body("from the upstream", {.upstream = origin}, frame.bytes);
  if (const char* reason = wrong_kind(frame)) {
    session_malformed(origin, reason);
    if (frame.is_request())
      server_requests_.refuse(frame.text(frame.id), json_rpc::invalid_request, reason);
    return std::nullopt;
  }
  switch (frame.kind) {
    case FrameKind::response: return in_flight_.answer(origin, std::move(frame));
    case FrameKind::notification: upstream_notification(side, origin, std::move(frame)); break;
    case FrameKind::request:
      if (side == Era::modern) {
        session_malformed(origin, "a server of MCP 2026-07-28 sends no requests");
      } else if (!suspended_calls_.add(origin, frame)) {
        server_requests_.add(origin, std::move(frame));
      }
      break;
  }
  return std::nullopt;
}

void Router::listen_told(Frame&& notification) {
  if (notification.method == "notifications/tools/list_changed"sv) translator_.tools().forget();
  if (!listens_.tell(notification))
    session_message(Era::modern, std::nullopt, std::move(notification));
}

void Router::upstream_notification(Era side, std::optional<UpstreamId> origin, Frame frame) {
  if (frame.method == "notifications/progress"sv) {
    in_flight_.progress(std::move(frame));
    return;
  }
  if (frame.method == "notifications/cancelled"sv) {
    if (!suspended_calls_.cancel(frame.text(frame.request_id)))
      server_requests_.cancel(std::move(frame));
    return;
  }
  if (!origin && frame.subscription_id.present()) {
    origin = in_flight_.named_by(frame.text(frame.subscription_id));
    if (!origin) {  // of a stream that was given up
      ++statistics_.dropped_notifications;
      return;
    }
  }
  if (!origin && frame.method == "notifications/message"sv &&
      in_flight_.pass_log_message_on(frame, side) && side == Era::modern)
    return;
  if (origin && !is_session_notification(frame.method)) {
    if (in_flight_.pass_on(*origin, frame)) return;
    // There is no connection of its client. With --orphans finish, and of a job, it is the
    // session's.
    if (options_.orphans == Orphans::cancel && !in_flight_.is_job(*origin)) {
      ++statistics_.dropped_notifications;
      return;
    }
  }
  if (frame.method == "notifications/tools/list_changed"sv) translator_.tools().forget();
  if (side == Era::legacy && is_told_by_listen(frame)) return;
  std::string key = coalesce_key(frame);
  feed_.publish(std::move(frame.bytes), frame.method, std::move(key));
}

/// Until the legacy session is open the modern one may tell the same.
bool Router::is_told_by_listen(const Frame& notification) const {
  const Session& session = context_.session;
  const SubscriptionFilter* const told = session.side(Era::modern).listened_to();
  return session.ring_source() == Era::modern && told != nullptr && told->matches(notification);
}

void Router::session_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  ++statistics_.malformed_messages;
  if (origin) in_flight_.note_malformed(*origin, reason);
  context_.log.peer(LogLevel::warning, "malformed message",
                    "a message from upstream ({}) was dropped: {}",
                    origin ? "on a request's stream" : "on the server stream", reason);
}

void Router::session_ended(UpstreamId id, Ending ending) {
  if (in_flight_.end(id, ending)) return;
  if (ending.failure) {
    context_.log.peer(LogLevel::warning, "notification failed",
                      "a notification or an answer did not reach the upstream: {}",
                      log_text(*ending.failure));
    session_failed(*ending.failure);
  }
  frames_.message_ended(id);
}

/// Another session may serve clients, or fill the ring, than when this was looked at last.
void Router::take_sides() {
  if (const Era now = context_.session.ring_source(); std::exchange(ring_source_, now) != now)
    translator_.tools().forget();
  listens_.sides_changed();
}

void Router::session_open() {
  take_sides();
  input_rounds_.session_open();
  frames_.session_open();
}

void Router::session_closed(Era side) {
  frames_.session_closed(side);
  input_rounds_.session_closed();
}

void Router::session_away(Era side) { frames_.session_away(side); }

void Router::session_refused(Era side, const Failure& failure) {
  Failure refusal = failure;
  refusal.delivered = Delivered::no;
  frames_.fail_all(refusal, side);
  if (side == Era::modern) input_rounds_.fail_waiting(refusal);
}

void Router::session_failed(const Failure& failure) {
  statistics_.failed(context_.loop.wall_time(), failure.kind, failure.message);
}

bool Router::wants_session(Era side) const {
  return !shutting_down_ && options_.handshake == Handshake::eager &&
         context_.session.side_for(Era::legacy) == side;
}

bool Router::frames_wait(Era side) const {
  return frames_.has_request_for(side) || (side == Era::modern && input_rounds_.wait_for_session());
}

SessionSettings Router::settings() const {
  SessionSettings settings = restorable_.settings();
  if (!listens_.are_native()) settings.subscriptions = subscriptions();
  return settings;
}

/// The resources that clients of both eras want to be told of.
std::vector<std::string> Router::subscriptions() const {
  std::vector<std::string> all = restorable_.settings().subscriptions;
  for (const std::string& uri : listens_.uris()) {
    if (!restorable_.subscriptions().contains(uri)) all.push_back(uri);
  }
  return all;
}

std::vector<UpstreamId> Router::unanswered() const {
  std::vector<UpstreamId> ids;
  in_flight_.each([&ids](UpstreamId id, const PendingRequest& request) {
    if (request.is_upstream && request.method != "initialize"sv) ids.push_back(id);
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

void Router::take_settings(const SessionSettings& settings) { restorable_.take(settings); }

void Router::session_replaced(Era side, const Reopening& reopening,
                              const std::vector<std::string>& list_changes) {
  translator_.tools().forget();
  if (side == Era::modern && context_.session.ring_source() == Era::legacy) {
    listens_.tell_changed();  // for other clients nothing has changed
    return;
  }
  server_requests_.session_replaced();
  suspended_calls_.session_replaced();
  const std::string_view method = "notifications/bridge/session_reopened";
  feed_.publish(
      own_notification(method, fmt::format(R"({{"reason":"{}","at":"{}"}})",
                                           name_of(reopening.reason), timestamp(reopening.at))),
      method);
  publish_changes(list_changes,
                  listens_.bypass_ring() ? settings().subscriptions : subscriptions());
}

void Router::listen_resumed(const SubscriptionFilter& filter) {
  translator_.tools().forget();
  if (listens_.tell_changed()) return;
  publish_changes(context_.session.server_for(Era::modern)->declared_list_changes(),
                  {filter.resources.begin(), filter.resources.end()});
}

/// What may have changed while nobody could tell.
void Router::publish_changes(const std::vector<std::string>& lists,
                             const std::vector<std::string>& uris) {
  for (const std::string& method : lists) feed_.publish(own_notification(method), method, method);
  for (const std::string& uri : uris) {
    const std::string_view method = "notifications/resources/updated";
    feed_.publish(own_notification(method, fmt::format(R"({{"uri":{}}})", quote(uri))), method,
                  fmt::format("{} {}", method, uri));
  }
}

}  // namespace bridge
