#include "downstream/http/frontend_clients.hpp"

#include <algorithm>
#include <utility>

#include "downstream/http/fan_out.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// Far over the limit of all buffers, connections may be unread for this long.
constexpr std::chrono::seconds unread_time{1};

/// Removes the entry from its table; destroyed at the end of the turn.
template <class Table, class Key>
void reap_from(EventLoop& loop, Table& table, const Key& key) {
  if (auto node = table.extract(key)) loop.reap(std::move(node.mapped()));
}

}  // namespace

FrontendClients::FrontendClients(FrontendContext& context, HttpServer& server)
    : context_(context), server_(server), sweep_timer_(context.loop, [this] { sweep(); }) {}

void FrontendClients::session_over(const DownstreamSession& session) {
  reap_from(context_.loop, sessions_, session.name());
}

void FrontendClients::post_over(const LonePost& post) {
  reap_from(context_.loop, lone_posts_, post.identity().id);
}

DownstreamSession* FrontendClients::find_session(const ClientIdentity& caller,
                                                 const std::string& name,
                                                 std::optional<DownstreamSession::Kind> kind) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second->is_over()) return nullptr;
  if (kind && found->second->kind() != *kind) return nullptr;
  const ClientIdentity& its = found->second->identity();
  const bool is_same_grant = its.grant.has_value() == caller.grant.has_value() &&
                             (!its.grant || its.grant->id() == caller.grant->id());
  if (its.user() != caller.user() || !is_same_grant) return nullptr;
  found->second->used();
  return found->second.get();
}

DownstreamSession* FrontendClients::add_session(DownstreamSession::Kind kind,
                                                const ClientIdentity& caller, std::string agent) {
  const auto living = std::count_if(sessions_.begin(), sessions_.end(),
                                    [](const auto& entry) { return !entry.second->is_over(); });
  if (static_cast<std::size_t>(living) >= context_.options.max_sessions && !end_longest_unused())
    return nullptr;
  auto session = std::make_unique<DownstreamSession>(context_, kind, make_session_name(),
                                                     std::move(agent), context_.new_client(caller));
  DownstreamSession& added = *session;
  sessions_.emplace(added.name(), std::move(session));
  sweep_by(context_.loop.now() + context_.options.session_idle);
  context_.announce(added);
  return &added;
}

DownstreamSession& FrontendClients::restore_session(DownstreamSession::Saved saved) {
  auto session = std::make_unique<DownstreamSession>(context_, std::move(saved), server_);
  DownstreamSession& restored = *session;
  sweep_by(restored.last_used() + context_.options.session_idle);
  sessions_.emplace(restored.name(), std::move(session));
  return restored;
}

LonePost& FrontendClients::add_post(LonePost::Leaving leaving, const ClientIdentity& caller,
                                    std::string agent) {
  auto post =
      std::make_unique<LonePost>(context_, leaving, std::move(agent), context_.new_client(caller));
  return *lone_posts_.emplace(post->identity().id, std::move(post)).first->second;
}

void FrontendClients::close_all(std::string_view last_comment) {
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, last_comment);
  for (Post* post : posts()) post->close(last_comment, refusal);
  for (auto& [name, session] : sessions_) session->stream().close(last_comment);
}

std::vector<const SessionPost*> FrontendClients::close_for_upgrade(std::string_view last_comment) {
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, last_comment);
  std::vector<SessionPost*> of_sessions;
  for (const auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) of_sessions.push_back(post.get());
  }
  std::vector<const SessionPost*> left;
  for (SessionPost* const post : of_sessions) {
    if (!post->survives_upgrade()) {
      post->close(last_comment, refusal);
      continue;
    }
    if (post->can_resume()) post->detach(last_comment);
    left.push_back(post);
  }
  for (auto& [id, post] : lone_posts_) post->close(last_comment, refusal);
  for (auto& [name, session] : sessions_) session->stream().close(last_comment);
  return left;
}

std::size_t FrontendClients::open_streams() const {
  const auto of_sessions = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second->stream().is_open();
  });
  const auto listens = std::count_if(lone_posts_.begin(), lone_posts_.end(),
                                     [](const auto& entry) { return entry.second->listens(); });
  return static_cast<std::size_t>(of_sessions + listens);
}

std::size_t FrontendClients::unfetched_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, session] : sessions_) bytes += session->stream().unfetched_bytes();
  return bytes;
}

/// Events kept for resumption give way to messages under way, the largest store first.
void FrontendClients::drop_kept_events() {
  std::vector<EventStore*> stores{&context_.fan_out->store()};
  for (auto& [name, session] : sessions_) stores.push_back(&session->store());
  std::sort(stores.begin(), stores.end(),
            [](const EventStore* a, const EventStore* b) { return a->bytes() > b->bytes(); });
  for (EventStore* store : stores) {
    if (!context_.budget.over()) break;
    store->give_way();
  }
}

void FrontendClients::note_budget() {
  if (context_.budget.over() && !budget_used_up_since_) {
    budget_used_up_since_ = context_.loop.now();
    drop_kept_events();
    sweep_timer_.set_at_latest(*budget_used_up_since_ + context_.options.stall);
  }
  if (!context_.budget.over()) budget_used_up_since_.reset();
  if (context_.budget.far_over()) sweep_timer_.set_at_latest(context_.loop.now() + unread_time);
}

std::vector<Post*> FrontendClients::posts() const {
  std::vector<Post*> all;
  for (const auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) all.push_back(post.get());
  }
  for (const auto& [id, post] : lone_posts_) all.push_back(post.get());
  return all;
}

void FrontendClients::end_in_time(DownstreamSession& session, SessionEnd why) {
  if (why == SessionEnd::idle) {
    context_.log.event(LogLevel::debug, "http session idle",
                       "an HTTP session was not used for {} ms and has ended",
                       context_.options.session_idle.count());
  } else {
    ++context_.counts.stalled;
    context_.log.peer(
        LogLevel::warning, "client stalled", {.client = session.identity().id},
        "an HTTP session has ended: nothing was taken for {} ms (--client-stall) with "
        "{} bytes waiting for it (--client-buffer)",
        context_.options.stall.count(), session.queued_bytes());
  }
  session.end();
}

/// With --http-max-sessions used up, ends the session that was unused for longest, of those with
/// nothing open and nothing under way. False if there is none.
bool FrontendClients::end_longest_unused() {
  DownstreamSession* longest = nullptr;
  for (auto& [name, session] : sessions_) {
    if (session->is_unused() && (longest == nullptr || session->last_used() < longest->last_used()))
      longest = session.get();
  }
  if (longest == nullptr) return false;
  context_.log.peer(LogLevel::info, "http session made room",
                    "an HTTP session has ended to make room for another (--http-max-sessions): it "
                    "was not used for {} ms",
                    std::chrono::duration_cast<std::chrono::milliseconds>(context_.loop.now() -
                                                                          longest->last_used())
                        .count());
  longest->end();
  return true;
}

/// Everything with a deadline: comments on quiet streams, callers that have waited too long, unused
/// sessions.
void FrontendClients::sweep() {
  const SteadyTime now = context_.loop.now();
  std::optional<SteadyTime> next;
  const auto later = [&next](SteadyTime time) { next = next ? std::min(*next, time) : time; };

  for (Post* post : posts()) {
    post->sweep(now);
    if (const auto time = post->due()) later(*time);
  }

  // Streams that are nearly due are handled too: fewer wake-ups.
  const auto interval = context_.options.keepalive;
  const std::vector<EventStream*> streams(context_.streams.begin(), context_.streams.end());
  for (EventStream* stream : streams) {
    if (stream->last_sent() + interval / 2 <= now) stream->comment("keep-alive");
    later(stream->last_sent() + interval);
  }

  if (const auto time = context_.fan_out->end_quiet(now)) later(*time);
  for (auto& [name, session] : sessions_) {
    session->stream().drop_if_stuck();
    if (const auto time = session->end_quiet_stream(now)) later(*time);
    const auto due = session->due();
    if (!due) continue;
    if (due->time <= now) {
      end_in_time(*session, due->why);
    } else {
      later(due->time);
    }
  }
  if (const auto time = make_room(now)) later(*time);
  if (next) sweep_timer_.set_at_latest(*next);
}

/// With buffers far over their limit, ends the connection with most unread bytes at once: whole
/// responses, whose requests have ended. With all buffers full for a while, frees the largest heap:
/// the unfetched messages of a session, the collected responses of a POST, or the queue of a POST
/// without a session whose stream is read too slowly. Returns when to check again.
std::optional<SteadyTime> FrontendClients::make_room(SteadyTime now) {
  if (!context_.budget.over()) return std::nullopt;
  if (context_.budget.far_over() && server_.end_largest_unread(unread_time))
    return now + std::chrono::milliseconds(1);
  const SteadyTime due = budget_used_up_since_.value_or(now) + context_.options.stall;
  if (now < due) return due;
  std::size_t most = 0;
  DownstreamSession* session = nullptr;
  Post* largest = nullptr;
  for (auto& [name, one] : sessions_) {
    if (one->is_over() || one->stream().unfetched_bytes() <= most) continue;
    most = one->stream().unfetched_bytes();
    session = one.get();
  }
  for (Post* post : posts()) {
    if (post->reclaimable_bytes() <= most) continue;
    most = post->reclaimable_bytes();
    largest = post;
  }
  if (most == 0) return now + context_.options.stall;  // other parts have to make room first
  if (largest != nullptr) {
    largest->give_up();
  } else {
    context_.log.peer(LogLevel::warning, "http session ended",
                      "an HTTP session has ended: {} bytes of answers were not fetched, and "
                      "--max-buffered is used up",
                      most);
    session->end();
  }
  return now + std::chrono::milliseconds(1);  // its memory is released at the end of this turn
}

void FrontendClients::ring_grew() {
  for (auto& [name, session] : sessions_) session->stream().pump();
}

void FrontendClients::acknowledge_read() {
  for (auto& [name, session] : sessions_) session->stream().acknowledge_read();
  for (auto& [id, post] : lone_posts_) post->acknowledge_read();
}

}  // namespace bridge
