#include "router/client_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/crossing/forms.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

constexpr int most_listings = 3;

}  // namespace

ClientFrames::ClientFrames(const RouterContext& context, ByteBudget& budget,
                           RestorableState& restorable, const KnownTools& tools,
                           RequestChecks& checks, RequestsInFlight& in_flight, Listens& listens,
                           Crossings& crossings, ControlRequests& control)
    : context_(context),
      budget_(budget),
      tools_(tools),
      checks_(checks),
      in_flight_(in_flight),
      crossings_(crossings),
      control_(control),
      answers_(context, restorable, checks, in_flight, listens),
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
  // One that fails at once ends within the loop below, which continues with the next.
  if (caller.is_starting) return;
  caller.is_starting = true;
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
    if (client != nullptr && answers_.answer_front(*client)) continue;
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
    const bool continues = request.frame.has_input_answers;
    if (client != nullptr && crossings_.take_retry(*client, request)) continue;
    if (is_judged && client != nullptr &&
        checks_.refuse_over_rate(*client, request.frame, 1, continues))
      continue;
    in_flight_.start_call(caller, std::move(request));
  }
  caller.is_starting = false;
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

bool ClientFrames::start_initialize(Client& client) {
  if (answers_.answer_initialize(client)) return true;
  Session& session = context_.session;
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
      EraSession& session = session_of_front(caller);
      const SteadyTime due = expires(caller.waiting.front(), session);
      if (due > now) {
        expiry_.set_at_latest(due);
        break;
      }
      const Failure failure = failure_without(session);
      session.opener().note_overdue();
      const Frame refused = caller.waiting.take_front().frame;
      note_unserved(refused, failure);
      refuse(caller, refused, failure);
    }
    context_.clients.finish_if_done(caller);
  });
  if (notifications_.expire()) expiry_.set_at_latest(now + context_.session_timeout());
}

}  // namespace bridge
