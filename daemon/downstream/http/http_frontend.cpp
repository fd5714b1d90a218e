#include "downstream/http/http_frontend.hpp"

#include <algorithm>
#include <utility>

#include "base/start_error.hpp"
#include "downstream/http/downstream_session.hpp"
#include "downstream/http/posted_messages.hpp"
#include "http/request.hpp"
#include "http/sse_parser.hpp"
#include "json/reply.hpp"

namespace bridge {

namespace {

/// Far over the limit of all buffers, connections may be unread for this long.
constexpr std::chrono::seconds unread_time{1};

constexpr std::string_view last_words = "the bridge is shutting down";
constexpr std::string_view words_at_upgrade = "the bridge is being upgraded";

/// Removes the entry from its table; destroyed at the end of the turn.
template <class Table, class Key>
void reap_from(EventLoop& loop, Table& table, const Key& key) {
  if (auto node = table.extract(key)) loop.reap(std::move(node.mapped()));
}

/// Null: without TLS.
std::unique_ptr<TlsServer> tls_of(const FrontendOptions& frontend) {
  if (frontend.certificate.empty()) return nullptr;
  return std::make_unique<TlsServer>(frontend.certificate, frontend.private_key);
}

}  // namespace

HttpFrontend::HttpFrontend(EventLoop& loop, Deferred& flush, ClientIdSource& ids,
                           NotificationFeed& feed, ByteBudget& budget, ClientEvents& events,
                           Log& log, FrontendOptions options, FrontendReports reports,
                           std::optional<ListeningSocket> socket)
    : context_{*this, loop, ids, feed, budget, events, log, std::move(options)},
      fan_out_(context_),
      reports_(std::move(reports)),
      access_(routes(), context_.options),
      socket_(std::move(socket)),
      sweep_timer_(loop, [this] { sweep(); }) {
  const FrontendOptions& frontend = context_.options;
  context_.fan_out = &fan_out_;
  auto tls = tls_of(frontend);
  ListeningPort port = frontend.inherited_listener
                           ? ListeningPort::kept(*frontend.inherited_listener)
                       : frontend.address ? ListeningPort::open(*frontend.address)
                                          : ListeningPort::none();
  if (port.descriptor >= 0) url_ = (tls ? "https://" : "http://") + port.authority;
  server_ = std::make_unique<HttpServer>(
      HttpConnectionContext{loop, budget, context_.counts, *this, flush, frontend.max_frame,
                            frontend.stall},
      std::move(port), std::move(tls),
      std::min(frontend.wanted_connections(), frontend.max_connections), log);
  if (!socket_) return;
  // An abstract socket has no file permissions.
  context_.options.peers.own_user_only = socket_->is_abstract();
  keeper_.emplace(loop, log, *socket_,
                  [this] { server_->start_local(socket_->take_descriptor()); });
}

HttpFrontend::~HttpFrontend() = default;

void HttpFrontend::session_over(const DownstreamSession& session) {
  reap_from(context_.loop, sessions_, session.name());
}

void HttpFrontend::post_over(const Post& post) {
  reap_from(context_.loop, posts_, post.identity().id);
}

void HttpFrontend::start() {
  server_->start();
  if (socket_) {
    server_->start_local(socket_->take_descriptor());
    keeper_->start();
  }
  for (const std::string& url : urls())
    context_.log.event(LogLevel::info, "http frontend", "HTTP frontend on {}", url);
  if (url_.empty()) return;
  // The line of earlier versions, for scripts that read the port from it; bridge/status has it.
  context_.log.event(LogLevel::info, "http frontend", "HTTP face on {}/mcp", url_);
}

std::vector<std::string> HttpFrontend::urls() const {
  std::vector<std::string> all;
  if (!url_.empty()) all.push_back(url_ + "/mcp");
  if (socket_) all.push_back("http+unix://" + percent_encoded(socket_->name()) + "/mcp");
  return all;
}

ListeningSocket::Saved HttpFrontend::save_socket() const {
  return socket_ ? socket_->save(server_->local_listener()) : ListeningSocket::Saved{};
}

void HttpFrontend::reload() {
  const FrontendOptions& frontend = context_.options;
  if (frontend.certificate.empty()) return;
  try {
    server_->set_tls(tls_of(frontend));
  } catch (const StartError& error) {
    context_.log.event(LogLevel::error, "reload", "SIGHUP: the certificate stays as it was: {}",
                       error.what());
  }
}

void HttpFrontend::stop_accepting() {
  if (keeper_) keeper_->stop();
  server_->stop_accepting();
}

/// Events kept for resumption give way to messages under way, the largest store first.
void HttpFrontend::drop_kept_events() {
  std::vector<EventStore*> stores{&fan_out_.store()};
  for (auto& [name, session] : sessions_) stores.push_back(&session->store());
  std::sort(stores.begin(), stores.end(),
            [](const EventStore* a, const EventStore* b) { return a->bytes() > b->bytes(); });
  for (EventStore* store : stores) {
    if (!context_.budget.over()) break;
    store->give_way();
  }
}

void HttpFrontend::flush() {
  if (context_.budget.over() && !budget_used_up_since_) {
    budget_used_up_since_ = context_.loop.now();
    drop_kept_events();
    sweep_timer_.set_at_latest(*budget_used_up_since_ + context_.options.stall);
  }
  if (!context_.budget.over()) budget_used_up_since_.reset();
  if (context_.budget.far_over()) sweep_timer_.set_at_latest(context_.loop.now() + unread_time);
  server_->flush();
}

std::vector<Post*> HttpFrontend::posts() const {
  std::vector<Post*> all;
  for (const auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) all.push_back(post.get());
  }
  for (const auto& [id, post] : posts_) all.push_back(post.get());
  return all;
}

void HttpFrontend::end_in_time(DownstreamSession& session, SessionEnd why) {
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
bool HttpFrontend::end_longest_unused() {
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
void HttpFrontend::sweep() {
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

  if (const auto time = fan_out_.end_quiet(now)) later(*time);
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
std::optional<SteadyTime> HttpFrontend::make_room(SteadyTime now) {
  if (!context_.budget.over()) return std::nullopt;
  if (context_.budget.far_over() && server_->end_largest_unread(unread_time))
    return now + std::chrono::milliseconds(1);
  const SteadyTime due = budget_used_up_since_.value_or(now) + context_.options.stall;
  if (now < due) return due;
  std::size_t most = 0;
  DownstreamSession* session = nullptr;
  Post* largest = nullptr;
  for (auto& [name, one] : sessions_) {
    if (one->is_over() || one->unfetched_bytes() <= most) continue;
    most = one->unfetched_bytes();
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

void HttpFrontend::ring_grew() {
  fan_out_.ring_grew();
  for (auto& [name, session] : sessions_) session->stream().pump();
}

void HttpFrontend::acknowledge_read() {
  for (auto& [name, session] : sessions_) session->stream().acknowledge_read();
  for (auto& [id, post] : posts_) post->acknowledge_read();
}

void HttpFrontend::close_all() {
  fan_out_.close_all(last_words);
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, last_words);
  for (Post* post : posts()) post->close(last_words, refusal);
  for (auto& [name, session] : sessions_) session->stream().close(last_words);
  server_->close_all();
}

// Sessions of the frontend, and the streams that callers open.

namespace {

/// MCP 2026-07-28, Streamable HTTP, "Earlier Streamable HTTP Revisions".
HttpResponse not_of_this_revision() {
  HttpResponse response =
      error_response(405, json_rpc::bridge_error,
                     "Method Not Allowed: MCP 2026-07-28 has no sessions; POST alone is answered");
  response.headers.emplace_back("Allow", "POST, OPTIONS");
  return response;
}

/// The stream of a POST has ended, and its client has all of it. Clients that resume it (the SDKs
/// do after a cancellation) take 405 as "no stream"; after an empty stream, 404 or 409 they go on.
HttpResponse stream_is_over() {
  HttpResponse response = error_response(405, json_rpc::bridge_error,
                                         "Method Not Allowed: this stream has ended, and there is "
                                         "nothing after this Last-Event-ID");
  response.headers.emplace_back("Allow", "POST, DELETE, OPTIONS");
  return response;
}

}  // namespace

DownstreamSession* HttpFrontend::find_session(const FrontendRequest& request,
                                              const std::string& name,
                                              std::optional<DownstreamSession::Kind> kind) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second->is_over()) return nullptr;
  if (kind && found->second->kind() != *kind) return nullptr;
  if (found->second->identity().user() != FrontendContext::caller_of(request.connection).user())
    return nullptr;
  found->second->used();
  return found->second.get();
}

/// Null at the limit of sessions.
DownstreamSession* HttpFrontend::add_session(DownstreamSession::Kind kind,
                                             const FrontendRequest& request) {
  const auto living = std::count_if(sessions_.begin(), sessions_.end(),
                                    [](const auto& entry) { return !entry.second->is_over(); });
  if (static_cast<std::size_t>(living) >= context_.options.max_sessions && !end_longest_unused())
    return nullptr;
  auto session = std::make_unique<DownstreamSession>(context_, kind, make_session_name(),
                                                     user_agent(request.head),
                                                     context_.new_client(request.connection));
  DownstreamSession& added = *session;
  sessions_.emplace(added.name(), std::move(session));
  sweep_by(context_.loop.now() + context_.options.session_idle);
  context_.announce(added);
  return &added;
}

/// Why no further stream is opened for this caller; nullopt if one may be.
std::optional<HttpResponse> HttpFrontend::stream_refusal(const RequestHead& head) const {
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  const auto of_sessions = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second->stream().is_open();
  });
  const auto listens = std::count_if(posts_.begin(), posts_.end(),
                                     [](const auto& entry) { return entry.second->listens(); });
  if (fan_out_.size() + static_cast<std::size_t>(of_sessions + listens) <
      context_.options.max_streams)
    return std::nullopt;
  return full_response("too many streams are open (--http-max-streams)");
}

std::optional<HttpResponse> HttpFrontend::open_stream(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (names_modern_version(head)) return not_of_this_revision();
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  const std::string name = head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(request, name, DownstreamSession::Kind::streamable);
  if (session == nullptr) return session_not_found();
  auto last = parse_event_id(head.header("last-event-id"));
  if (last && last->stream != SessionStream::number) {
    if (resume_post(request, *session, *last)) return std::nullopt;
    if (session->store().has_given_out(*last)) return stream_is_over();
    last.reset();  // of an unknown stream
  }
  // A reader that resumes has lost its connection, even if that still looks open on this side: it
  // takes over.
  if (session->stream().is_open() && !last)
    return error_response(409, json_rpc::bridge_error,
                          "Conflict: this session has a stream already");
  if (!session->stream().is_open()) {
    if (auto refusal = stream_refusal(head)) return refusal;
  }
  session->stream().open(request.connection, access_.cors_headers(head), last,
                         primes_streams(head));
  return std::nullopt;
}

/// Resumes the stream of a POST on this connection, or sends the rest of it; false if nothing is
/// left of it.
bool HttpFrontend::resume_post(FrontendRequest& request, DownstreamSession& session, EventId last) {
  HttpResponse::Headers headers = access_.cors_headers(request.head);
  if (Post* post = session.post_of_stream(last.stream)) {
    post->resume(request.connection, std::move(headers), last);
    session.can_be_asked_now();
    return true;
  }
  if (!session.store().has_after(last)) return false;
  EventStream stream(context_, request.connection, std::move(headers));
  stream.replay(session.store(), last);
  stream.end();
  return true;
}

std::optional<HttpResponse> HttpFrontend::open_fan_out(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (request.connection.local_peer() != nullptr && context_.events.has_policy()) {
    return error_response(403, json_rpc::bridge_error,
                          "Forbidden: with a policy this stream is for callers of the port; open a "
                          "session's stream");
  }
  if (auto refusal = stream_refusal(head)) return refusal;
  fan_out_.subscribe(request.connection, access_.cors_headers(head), head.header("last-event-id"));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFrontend::open_old_sse(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (auto refusal = stream_refusal(head)) return refusal;
  DownstreamSession* session = add_session(DownstreamSession::Kind::old_sse, request);
  if (session == nullptr) return full_response("too many sessions (--http-max-sessions)");
  session->stream().open(request.connection, access_.cors_headers(head), std::nullopt, false,
                         sse_event({}, "endpoint", "/message?sessionId=" + session->name()));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFrontend::end_session(FrontendRequest& request) {
  if (names_modern_version(request.head)) return not_of_this_revision();
  const std::string name = request.head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(request, name);
  if (session == nullptr) return session_not_found();
  session->end();
  return HttpResponse{204, {}, {}, {}};
}

/// A caller that accepts a stream can come back for the rest of it.
void HttpFrontend::pause() {
  for (auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) {
      if (!post->survives_upgrade()) post->become_stream();
    }
  }
}

void HttpFrontend::close_for_upgrade() {
  pause();
  fan_out_.close_all(words_at_upgrade);
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, words_at_upgrade);
  for (Post* post : posts()) {
    if (!post->survives_upgrade()) {
      post->close(words_at_upgrade, refusal);
    } else if (post->can_resume()) {
      post->detach(words_at_upgrade);
    }
  }
  for (auto& [name, session] : sessions_) session->stream().close(words_at_upgrade);
  const std::vector<Post*> left = posts();
  server_->close_others([&left](const HttpConnection& connection) {
    return std::any_of(left.begin(), left.end(),
                       [&connection](const Post* post) { return post->moves_with(connection); });
  });
}

HttpFrontend::Saved HttpFrontend::save() const {
  Saved saved{context_.last_post, fan_out_.save(), {}};
  for (const auto& [name, session] : sessions_) {
    if (session->survives_upgrade({})) saved.sessions.push_back(session->save());
  }
  return saved;
}

std::vector<ClientChannel*> HttpFrontend::restore(Saved saved) {
  context_.last_post = saved.last_post;
  fan_out_.restore(std::move(saved.fan_out));
  std::vector<ClientChannel*> clients;
  for (DownstreamSession::Saved& one : saved.sessions) {
    auto session = std::make_unique<DownstreamSession>(context_, std::move(one), *server_);
    sweep_by(session->last_used() + context_.options.session_idle);
    clients.push_back(session.get());
    sessions_.emplace(session->name(), std::move(session));
  }
  return clients;
}

}  // namespace bridge
