#include "router/client_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"
#include "router/crossing/forms.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

constexpr std::chrono::seconds handing_over_time{30};
constexpr int most_listings = 3;

}  // namespace

ClientNotifications::ClientNotifications(const RouterContext& context, ByteBudget& budget,
                                         std::function<void(Client&)> handed_over)
    : context_(context),
      budget_(budget),
      handed_over_(std::move(handed_over)),
      too_slow_(context.loop, [this] { stop_waiting(); }) {}

void ClientNotifications::send_notification(Client& client, std::string body) {
  const SteadyTime now = context_.loop.now();
  EraSession& session = context_.session.serving(client.era);
  client.notification = {context_.upstream.notify(std::move(body), session), now};
  too_slow_.set_at_latest(now + handing_over_time);
}

bool ClientNotifications::client_left(const Client& client, std::deque<std::string> rest) {
  if (rest.empty()) return false;
  OrphanedQueue& queue = orphaned_.emplace_back(budget_);
  queue.bodies = std::move(rest);
  queue.client = client.era;
  queue.left_at = context_.loop.now();
  for (const std::string& body : queue.bodies) queue.share.add(body.size());
  if (client.notification) {
    queue.under_way = client.notification->id;
  } else if (context_.session.serving(client.era).is_open()) {
    send_next(std::prev(orphaned_.end()));
  } else {
    return true;
  }
  return false;
}

/// Sends the next notification of this queue; removes an empty queue. Returns the queue after it.
ClientNotifications::Queues::iterator ClientNotifications::send_next(Queues::iterator queue) {
  if (queue->bodies.empty()) return orphaned_.erase(queue);
  std::string body = std::move(queue->bodies.front());
  queue->bodies.pop_front();
  queue->share.remove(body.size());
  queue->under_way =
      context_.upstream.notify(std::move(body), context_.session.serving(queue->client));
  return std::next(queue);
}

void ClientNotifications::notification_ended(UpstreamId id) {
  const auto queue = std::find_if(orphaned_.begin(), orphaned_.end(),
                                  [id](const auto& one) { return one.under_way == id; });
  if (queue != orphaned_.end()) {
    queue->under_way.reset();
    if (context_.session.serving(queue->client).is_open()) send_next(queue);
    return;
  }
  Client* its = nullptr;
  bool others_are_under_way = false;
  for (const auto& [client_id, client] : context_.clients) {
    if (!client->notification) continue;
    if (client->notification->id == id) {
      its = client.get();
    } else {
      others_are_under_way = true;
    }
  }
  if (its == nullptr) return;
  its->notification.reset();
  if (!others_are_under_way) too_slow_.clear();
  handed_over_(*its);
}

/// A notification that takes too long no longer delays its client's next frame.
void ClientNotifications::stop_waiting() {
  const SteadyTime now = context_.loop.now();
  for (const auto& [id, client] : context_.clients) {
    if (!client->notification) continue;
    const SteadyTime due = client->notification->since + handing_over_time;
    if (due > now) {
      too_slow_.set_at_latest(due);
      continue;
    }
    client->notification.reset();
    handed_over_(*client);
  }
}

void ClientNotifications::session_open() {
  for (auto queue = orphaned_.begin(); queue != orphaned_.end();)
    queue = queue->under_way || !context_.session.serving(queue->client).is_open()
                ? std::next(queue)
                : send_next(queue);
}

bool ClientNotifications::expire() {
  const SteadyTime then = context_.loop.now() - context_.options.connect_wait;
  orphaned_.remove_if([&](const OrphanedQueue& queue) {
    if (queue.under_way || queue.left_at > then) return false;
    context_.statistics.dropped_notifications += queue.bodies.size();
    return true;
  });
  return std::any_of(orphaned_.begin(), orphaned_.end(),
                     [](const OrphanedQueue& queue) { return !queue.under_way; });
}

ClientFrames::ClientFrames(const RouterContext& context, ByteBudget& budget,
                           RestorableState& restorable, const KnownTools& tools,
                           RequestChecks& checks, RequestsInFlight& in_flight, Listens& listens,
                           Crossings& crossings, ControlRequests& control)
    : context_(context),
      budget_(budget),
      restorable_(restorable),
      tools_(tools),
      checks_(checks),
      in_flight_(in_flight),
      listens_(listens),
      crossings_(crossings),
      control_(control),
      served_(context.clients, context.options.sequential),
      slots_(context.options.max_inflight),
      user_slots_(context.permissions, in_flight),
      notifications_(context, budget, [this](Client& client) { start_waiting(client); }),
      expiry_(context.loop, [this] { expire(); }),
      recording_(context.loop, [this] { start_recorded(); }),
      relief_(context.loop, [this] {
        context_.clients.each_caller([this](Caller& caller) { start_waiting(caller); });
      }) {
  budget.on_relief([this] {
    if (std::exchange(waits_for_memory_, false)) relief_.schedule();
  });
}

void ClientFrames::client_left(Client& client) {
  slots_.caller_left(client);
  user_slots_.caller_left(client);
  std::deque<std::string> notifications;
  while (!client.waiting.empty()) {
    WaitingFrame waiting = client.waiting.take_front();
    if (waiting.frame.is_request()) {
      context_.statistics.count_end(class_of(waiting.frame.method), Outcome::left);
    } else {
      notifications.push_back(std::move(waiting.frame.bytes));
    }
  }
  if (shut_down_) return;
  if (notifications_.client_left(client, std::move(notifications)))
    expiry_.set_at_latest(context_.loop.now() + context_.session_timeout());
}

void ClientFrames::drop_waiting(Caller& caller) {
  slots_.caller_left(caller);
  user_slots_.caller_left(caller);
  caller.waits_for_slot = caller.waits_for_user_slot = false;
  while (!caller.waiting.empty()) caller.waiting.take_front();
}

void ClientFrames::resume() {
  paused_ = false;
  give_free_slots();
  context_.clients.each_caller([this](Caller& caller) { start_waiting(caller); });
}

void ClientFrames::client_continued(Client& client, std::vector<std::string> waiting) {
  served_.connected(client);
  const SteadyTime now = context_.loop.now();
  for (std::string& bytes : waiting) {
    auto parsed = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&parsed)) client.waiting.push(std::move(*frame), now);
  }
  if (!client.waiting.empty() && !session_of_front(client).is_open())
    expiry_.set_at_latest(now + context_.session_timeout());
}

void ClientFrames::choose_served() {
  if (Client* client = served_.choose()) start_waiting(*client);
}

void ClientFrames::queue_frame(Caller& caller, Frame&& frame, std::unique_ptr<JobRequest> job) {
  if (shut_down_) {
    refuse(caller, frame, *shut_down_);
    return;
  }
  const std::size_t limit = context_.options.client_buffer;
  if (!caller.waiting.empty() && caller.waiting.held() + WaitingFrames::charge_of(frame) > limit) {
    refuse(caller, frame,
           failure_of(ErrorKind::overloaded, Delivered::no,
                      fmt::format("too many requests are waiting: over {} bytes (--client-buffer)",
                                  limit)));
    if (!frame.is_request()) {
      context_.log.peer(LogLevel::warning, "notification of a client dropped",
                        {.client = caller.client()->id()},
                        "a client's notification was dropped: its frames fill --client-buffer");
    }
    return;
  }
  const SteadyTime now = context_.loop.round_began();
  const bool is_open = session_of(caller, frame).is_open();
  caller.waiting.push(std::move(frame), now, std::move(job));
  if (!is_open) expiry_.set_at_latest(now + context_.session_timeout());
  if (context_.audit != nullptr && context_.audit->is_required() && caller.acts_for_user()) {
    if (const Client* const client = caller.client()) {
      unrecorded_.push_back(client->id());
    } else {
      unrecorded_jobs_ = true;
    }
    recording_.schedule();
    return;
  }
  start_waiting(caller);
}

void ClientFrames::start_recorded() {
  context_.audit->begin_all();
  for (const ClientId id : std::exchange(unrecorded_, {})) {
    if (Client* const client = context_.clients.find_client(id)) start_waiting(*client);
  }
  if (!std::exchange(unrecorded_jobs_, false)) return;
  context_.clients.each_caller([this](Caller& caller) {
    if (caller.client() == nullptr) start_waiting(caller);
  });
}

bool ClientFrames::cancel(Caller& caller, std::string_view raw_id) {
  const WaitingFrame* const found = caller.waiting.find_request(raw_id);
  if (found == nullptr) return false;
  if (found->frame.method != "initialize"sv) {
    const WaitingFrame dropped = caller.waiting.take_request(raw_id);
    context_.statistics.count_end(class_of(dropped.frame.method), Outcome::cancelled);
    caller.no_answer(dropped.frame.text(dropped.frame.id));
    context_.clients.finish_if_done(caller);
  }
  return true;
}

void ClientFrames::request_ended(const Call& call) {
  give_free_slots();
  give_free_slots_of_user(call.user);
  if (call.caller != nullptr) start_waiting(*call.caller);
}

void ClientFrames::slot_freed(Caller& caller) {
  give_free_slots();
  give_free_slots_of_user(caller.user);
  start_waiting(caller);
}

/// Starts or answers the caller's frames, in order, until one has to wait.
void ClientFrames::start_waiting(Caller& caller) {
  Client* const client = caller.client();
  const auto may_start = [&] {
    return !paused_ && served_.is_served(caller) && !caller.waiting.empty() &&
           (client == nullptr || !client->notification);
  };
  while (may_start()) {
    const Frame& frame = caller.waiting.front().frame;
    if (client != nullptr && frame.is_request() && frame.method == "initialize"sv) {
      if (!start_initialize(*client)) break;
      continue;
    }
    if (!session_of(caller, frame).is_open()) {
      if (!start_without_session(caller)) break;
      continue;
    }
    if (!frame.is_request()) {
      start_notification(*client);
      continue;
    }
    if (waits_for_tools(caller)) break;
    if (client != nullptr && answer_front(*client)) continue;
    // With all buffers full, clients that read are served one request at a time.
    if (budget_.far_over() &&
        (caller.congested() || in_flight_.calls().slots_used_by(caller) > 0)) {
      waits_for_memory_ = true;
      break;
    }
    if (leaves_answers_unread(caller)) break;
    if (in_flight_.calls().slots_used_by(caller) >= context_.options.client_inflight ||
        !user_slots_.admits(caller) || !slots_.admits(caller, in_flight_.calls().slots_used()))
      break;
    WaitingFrame request = caller.waiting.take_front();
    if (context_.audit != nullptr && caller.acts_for_user() &&
        checks_.refuse_unrecorded(caller, request.frame, request.job.get()))
      continue;
    const bool is_judged = context_.permissions.is_on();
    if (is_judged && checks_.refuse_denied(caller, request.frame, request.job.get())) continue;
    if (client != nullptr && crossings_.take_retry(*client, request)) continue;
    if (is_judged && client != nullptr && checks_.refuse_over_rate(*client, request.frame))
      continue;
    in_flight_.start_call(caller, std::move(request));
  }
  context_.clients.finish_if_done(caller);
}

/// Clients that do not read take half of the slots at most, and one each: their paused answers keep
/// them. A request of the caller is in flight, whose end starts the next.
bool ClientFrames::leaves_answers_unread(const Caller& caller) const {
  constexpr std::size_t unread = 64u << 10;
  if (in_flight_.calls().slots_used() < context_.options.max_inflight / 2) return false;
  const Client* const client = caller.client();
  return client != nullptr && !client->in_flight.empty() && client->channel.queued_bytes() > unread;
}

/// A connected client's notification, which its next frame waits for.
void ClientFrames::start_notification(Client& client) {
  Frame notification = client.waiting.take_front().frame;
  if (client.judged_before_change && checks_.is_denied(client, notification)) {
    ++context_.statistics.dropped_notifications;
  } else if (!is_unknown_to(context_.session.serving(client.era), notification)) {
    notifications_.send_notification(client, std::move(notification.bytes));
  }
}

/// Whether the caller's first request waits for the list of tools, which is then fetched. False if
/// that is not possible: then an unknown tool is denied.
bool ClientFrames::waits_for_tools(const Caller& caller) {
  if (!checks_.needs_tools(caller)) return false;
  is_listing_ = is_listing_ || control_.list_tools(
                                   [this](const std::string& response) { tools_listed(response); });
  return is_listing_;
}

/// Starts the requests that have waited for the list, or denies them. A list that was not kept, or
/// has changed meanwhile, is fetched most_listings times in a row.
void ClientFrames::tools_listed(const std::string& response) {
  is_listing_ = false;
  std::string failed = find_member(response, "error") ? response : std::string();
  listings_ = failed.empty() && !tools_.list().is_whole() ? listings_ + 1 : 0;
  if (listings_ == most_listings) {
    listings_ = 0;
    failed = error_reply("null", failure_of(ErrorKind::overloaded, Delivered::no,
                                            "it is too long to be kept, or changes all the time"));
  }
  context_.clients.each_caller([&](Caller& caller) {
    while (!failed.empty() && checks_.needs_tools(caller)) {
      const Frame denied = caller.waiting.take_front().frame;
      context_.request_log.deny(caller, denied.method, denied.text(denied.id),
                                context_.permissions.refusal_without_tools(failed));
    }
    start_waiting(caller);
  });
}

/// Answers a request that takes no slot. False if the upstream is asked.
bool ClientFrames::answer_front(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (takes_id_of_listen(client, frame)) {
    const Frame refused = client.waiting.take_front().frame;
    context_.request_log.answer_error(
        client, refused, json_rpc::invalid_request,
        "Invalid Request: the id is that of a request that is open; the notifications "
        "of a subscriptions/listen name it");
    return true;
  }
  if (frame.method == "server/discover"sv) {
    const Frame asked = client.waiting.take_front().frame;
    const ServerDescription& server = *session_of(client, asked).server();
    context_.request_log.answer_result(client, asked,
                                       server.discover_result(context_.session.target()));
    return true;
  }
  if (frame.method == "subscriptions/listen"sv) return start_listen(client);
  return answer_unsubscribe(client) || answer_for_upstream(client);
}

bool ClientFrames::start_initialize(Client& client) {
  Session& session = context_.session;
  EraSession& serving = session.serving_initialize();
  if (const ServerDescription* server = serving.server()) {
    const Frame frame = client.waiting.take_front().frame;
    const std::string_view params = frame.text(frame.params);
    if (serving.sender().is_stateful())
      log_undeclared(client, find_member(params, "capabilities").value_or("{}"));
    context_.request_log.answer_result(client, frame,
                                       server->initialize_result_for(protocol_version_of(params)));
    return true;
  }
  if (!session.wants_initialize()) {
    session.require();
    return false;
  }
  if (context_.audit != nullptr &&
      checks_.refuse_unrecorded(client, client.waiting.front().frame)) {
    client.waiting.take_front();
    return true;
  }
  expiry_.set_at_latest(client.waiting.front().since + context_.session_timeout());
  in_flight_.open_session(client, client.waiting.take_front());
  return true;
}

/// The session keeps the capabilities it was opened with: logs, once each, which others a client
/// declares.
void ClientFrames::log_undeclared(const Client& client, std::string_view capabilities) {
  constexpr std::size_t most_logged = 64;
  if (capabilities.size() > longest_capabilities) return;
  const std::string_view opened_with =
      find_member(context_.session.opened_with(), "capabilities").value_or("{}");
  std::string names;
  bool is_news = false;
  for (const std::string& name : capabilities_beyond(opened_with, capabilities)) {
    if (logged_undeclared_.size() < most_logged)
      is_news = logged_undeclared_.insert(name).second || is_news;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!is_news) return;
  std::string all =
      capabilities_of_both(capabilities_of_both(opened_with, undeclared_), capabilities);
  context_.log.peer(
      LogLevel::warning, "capabilities not declared", {.client = client.id()},
      "a client declares {}, but the session was opened without: the server may offer less; to "
      "declare all, start with --client-capabilities '{}'",
      names, all);
  if (all.size() <= longest_capabilities) undeclared_ = std::move(all);
}

/// Gives free slots of this user to its waiting callers in turn.
void ClientFrames::give_free_slots_of_user(const User& user) {
  while (!paused_) {
    // A started request may end at once and lead here again.
    Caller* const caller = user_slots_.next(user);
    if (caller == nullptr) return;
    start_waiting(*caller);
    user_slots_.turn_is_over(user);
  }
}

bool UserSlots::admits(Caller& caller) {
  if (!permissions_.is_on()) return true;
  const PolicyRule* const rule = permissions_.rule_for(caller, caller.waiting.front().job.get());
  if (rule == nullptr || !rule->inflight) return true;
  SlotQueue& queue =
      queues_.try_emplace(caller.user, *rule->inflight, &Caller::waits_for_user_slot).first->second;
  queue.set_slots(*rule->inflight);
  return queue.admits(caller, in_flight_.calls().slots_used_by(caller.user));
}

Caller* UserSlots::next(const User& user) {
  const auto found = queues_.find(user);
  if (found == queues_.end()) return nullptr;
  Caller* const caller = found->second.next(in_flight_.calls().slots_used_by(user));
  if (caller == nullptr && found->second.empty()) queues_.erase(found);
  return caller;
}

void ClientFrames::policy_changed(Client* only) {
  if (only != nullptr) {
    user_slots_.caller_left(*only);
    only->waits_for_user_slot = false;
    only->judged_before_change = !only->waiting.empty();
    start_waiting(*only);
    return;
  }
  user_slots_.clear();
  context_.clients.each_caller([](Caller& caller) {
    caller.waits_for_user_slot = false;
    if (Client* const client = caller.client())
      client->judged_before_change = !client->waiting.empty();
  });
  context_.clients.each_caller([this](Caller& caller) { start_waiting(caller); });
}

/// Answers an unsubscribe of a resource that other clients still want. False if it is none.
bool ClientFrames::answer_unsubscribe(Client& client) {
  const Frame& frame = client.waiting.front().frame;
  if (frame.method != "resources/unsubscribe"sv) return false;
  const std::string uri = RestorableState::subject_of(frame);
  if (listens_.is_subscribed(uri)) {
    restorable_.accepted(frame, client.id());
  } else if (!restorable_.subscriptions().still_wanted_without(uri, client.id())) {
    return false;
  }
  context_.request_log.answer_result(client, client.waiting.take_front().frame, "{}");
  return true;
}

/// Gives free slots to waiting callers in turn, one request each.
void ClientFrames::give_free_slots() {
  while (!paused_) {
    Caller* const caller = slots_.next(in_flight_.calls().slots_used());
    if (caller == nullptr) return;
    start_waiting(*caller);
    slots_.turn_is_over();
  }
}

void ClientFrames::fail_all(const Failure& failure, const EraSession* session) {
  context_.clients.each_caller([&](Caller& caller) {
    const auto waits_for_it = [&] {
      return !caller.waiting.empty() &&
             (session == nullptr || context_.session.eras().exclude_both() ||
              &session_of_front(caller) == session);
    };
    while (waits_for_it()) refuse(caller, caller.waiting.take_front().frame, failure);
    context_.clients.finish_if_done(caller);
  });
}

void ClientFrames::shut_down(const Failure& failure) {
  shut_down_ = failure;
  fail_all(failure);
}

bool ClientFrames::has_request_for(const EraSession& session) const {
  bool has_one = false;
  context_.clients.each_caller([&](const Caller& caller) {
    has_one = has_one || (served_.is_served(caller) && caller.waiting.has_request() &&
                          &session_of_front(caller) == &session);
  });
  return has_one && !shut_down_;
}

std::size_t ClientFrames::waiting() const {
  std::size_t count = 0;
  context_.clients.each_caller([&](const Caller& caller) { count += caller.waiting.size(); });
  return count;
}

// Clients' requests that the bridge answers itself.

/// A listen's id identifies its notifications to the client, until the listen ends.
bool ClientFrames::takes_id_of_listen(const Client& client, const Frame& request) const {
  const std::string_view id = request.text(request.id);
  if (listens_.has(client, id)) return true;
  return request.method == "subscriptions/listen"sv && in_flight_.calls().has(client, id);
}

/// A listen takes no slot, and a token for each request that it causes.
bool ClientFrames::start_listen(Client& client) {
  const Frame frame = client.waiting.take_front().frame;
  if (context_.audit != nullptr && checks_.refuse_unrecorded(client, frame)) return true;
  const std::size_t caused =
      context_.permissions.is_on() ? listens_.count_new_subscriptions(frame) : 0;
  if (checks_.refuse_by_policy(client, frame, 1 + caused)) return true;
  if (client.listens < context_.options.client_inflight) {
    listens_.add_listen(client, frame);
  } else {
    refuse(client, frame,
           failure_of(ErrorKind::overloaded, Delivered::no,
                      "too many subscriptions/listen of one client (--client-inflight)"));
  }
  return true;
}

/// Does the work of a method that a server of another era does not have. False if the upstream is
/// asked.
bool ClientFrames::answer_for_upstream(Client& client) {
  const Frame& front = client.waiting.front().frame;
  EraSession& session = session_of(client, front);
  if (is_ambiguous(front, session)) {
    const Frame refused = client.waiting.take_front().frame;
    context_.request_log.answer_error(client, refused, json_rpc::invalid_request,
                                      "Invalid Request: duplicate member in params");
    return true;
  }
  const auto own = answer_across(front, session);
  if (!own) return false;
  const Frame frame = client.waiting.take_front().frame;
  if (!own->error.empty()) {
    context_.request_log.answer_error(client, frame, own->error);
    return true;
  }
  if (context_.audit != nullptr && checks_.refuse_unrecorded(client, frame)) return true;
  if (checks_.refuse_by_policy(client, frame)) return true;
  restorable_.accepted(frame, client.id());
  if (frame.method == "resources/subscribe"sv &&
      client.subscribing < context_.options.client_inflight) {
    listens_.answer_subscribe(client, frame);
  } else {
    listens_.update();
    context_.request_log.answer_result(client, frame, own->result);
  }
  return true;
}

void ClientFrames::refuse(Caller& caller, const Frame& refused, const Failure& failure) {
  if (refused.is_request()) {
    context_.request_log.answer_with(caller, refused.method, refused.text(refused.id), failure);
  } else {
    ++context_.statistics.dropped_notifications;
  }
}

// Clients' frames without a session: which ones open it, how long they wait, and how they end.

/// Only a request opens a session; a notification waits for it.
bool ClientFrames::start_without_session(Caller& caller) {
  Session& session = context_.session;
  const Frame& front = caller.waiting.front().frame;
  if (context_.options.handshake != Handshake::client || !caller.needs_initialize(front) ||
      session_of(caller, front).server() != nullptr || session.is_coming()) {
    if (caller.waiting.has_request()) session.require(caller.era_of(front));
    return false;
  }
  const Frame refused = caller.waiting.take_front().frame;
  if (refused.is_request()) {
    refuse(caller, refused,
           failure_of(ErrorKind::not_initialized, Delivered::no, "session not initialized"));
  }
  return true;
}

void ClientFrames::session_open() {
  if (const auto failed = std::exchange(unserved_, 0); failed > 0) {
    context_.log.peer(LogLevel::info, "requests served",
                      "there is a session again; {} requests have failed without one", failed);
  }
  notifications_.session_open();
  give_free_slots();
  context_.clients.each_caller([this](Caller& caller) { start_waiting(caller); });
  expiry_.clear();
  expire();  // the other side may not be open
}

void ClientFrames::session_closed(const EraSession& session) {
  not_open_since_[&session] = context_.loop.now();
  context_.clients.each_caller([this](Caller& caller) { start_waiting(caller); });
}

void ClientFrames::session_away(const EraSession& session) {
  const SteadyTime now = context_.loop.now();
  not_open_since_[&session] = now;
  expiry_.set_at_latest(now + context_.session_timeout());
}

void ClientFrames::session_awaits_login() { expiry_.set_at_latest(context_.loop.now()); }

/// When a frame has waited long enough for its session.
SteadyTime ClientFrames::expires(const WaitingFrame& waiting, const EraSession& session) const {
  const auto since = not_open_since_.find(&session);
  const bool was_open = since != not_open_since_.end();
  return (was_open ? std::max(waiting.since, since->second) : waiting.since) +
         context_.session_timeout();
}

/// For frames that have waited for this session for too long.
Failure ClientFrames::failure_without(const EraSession& session) const {
  const Session& all = context_.session;
  const auto& last = session.last_failure();
  Failure failure =
      last ? *last
           : all.last_failure().value_or(failure_of(ErrorKind::timeout, Delivered::no,
                                                    "the upstream has not opened a session"));
  failure.delivered = Delivered::no;
  failure.message += fmt::format(" (waited {} ms, {})", context_.session_timeout().count(),
                                 all.login_wait() ? "--login-wait" : "--connect-wait");
  return failure;
}

/// Logged once until there is a session; status and metrics count all.
void ClientFrames::note_unserved(const Frame& refused, const Failure& failure) {
  if (!refused.is_request() || ++unserved_ > 1) return;
  context_.log.peer(LogLevel::warning, "requests fail",
                    "requests fail until there is a session: {}", log_text(failure));
}

/// Answers frames that have waited too long for a session.
void ClientFrames::expire() {
  const SteadyTime now = context_.loop.now();
  if (const auto next =
          in_flight_.expire_initialize(failure_without(context_.session.serving_initialize())))
    expiry_.set_at_latest(*next);
  context_.clients.each_caller([&](Caller& caller) {
    if (!served_.is_served(caller)) return;
    while (!caller.waiting.empty() && !session_of_front(caller).is_open()) {
      const EraSession& session = session_of_front(caller);
      const SteadyTime due = expires(caller.waiting.front(), session);
      if (due > now) {
        expiry_.set_at_latest(due);
        break;
      }
      const Failure failure = failure_without(session);
      const Frame refused = caller.waiting.take_front().frame;
      note_unserved(refused, failure);
      refuse(caller, refused, failure);
    }
    context_.clients.finish_if_done(caller);
  });
  if (notifications_.expire()) expiry_.set_at_latest(now + context_.session_timeout());
}

}  // namespace bridge
