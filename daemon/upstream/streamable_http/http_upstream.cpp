#include "upstream/streamable_http/http_upstream.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "auth/make_token_source.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds delete_time{2};

}  // namespace

SessionDelete::SessionDelete(HttpContext& context, std::function<void()> done)
    : context_(context),
      done_(std::move(done)),
      deadline_(context_.now() + delete_time),
      transfer_(context.curl(), *this) {
  begin();
}

void SessionDelete::begin() {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - context_.now());
  CURL* const h = transfer_.prepare(context_.handles().take_handle(), context_.stream_headers({}));
  set_get(h);
  curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  transfer_.start();
}

void SessionDelete::transfer_progressed(bool done, int result) {
  if (!done) return;
  if (result == CURLE_OK && transfer_.redirection().follow(context_.post_url(), transfer_.head())) {
    begin();
  } else {
    done_();
  }
}

HttpUpstream::HttpUpstream(EventLoop& loop, HttpOptions options, const AuthOptions& auth,
                           ByteBudget& budget, Log& log)
    : curl_(loop),
      token_(make_token_source(loop, curl_, auth, options, log),
             [this](const std::optional<Failure>& failure) { token_arrived(failure); }),
      context_(curl_, std::move(options), token_, name_of(auth.origin()), budget, log),
      room_(loop, [this] { look_for_room(); }),
      unsent_(loop, budget, [this] { drop_overdue(); }),
      exchanges_(context_, *this),
      stream_(loop, context_, *this),
      soon_(loop, [this] { report_soon(); }) {
  traits_ = {.kind = "http", .target = context_.options().target};
  counts_ = &context_.counts();
  // Not at once: between two looks other descriptors have their turn.
  budget.on_release([this] { room_.set_at_latest(context_.now()); });
}

HttpUpstream::~HttpUpstream() = default;

std::vector<std::string> HttpUpstream::secrets() const { return context_.secrets(); }

void HttpUpstream::send(Outgoing&& message) {
  const UpstreamId id = message.id;
  if (token_.is_there() && unsent_.may_start(message)) {
    unsent_.started(message);
    exchanges_.begin_exchange(std::move(message));
  } else if (unsent_.push(std::move(message))) {
    begin_unsent_with_token();
  } else {
    undelivered_.add(
        id, {.failure = failure_of(ErrorKind::overloaded, Delivered::no,
                                   "too many notifications and answers wait for the upstream")});
    soon_.schedule();
  }
}

void HttpUpstream::begin_unsent_with_token() {
  if (unsent_.empty()) return;
  if (token_.is_there()) {
    begin_unsent();
  } else {
    token_.fetch();
  }
}

void HttpUpstream::begin_unsent() {
  while (auto message = unsent_.pop()) {
    unsent_.started(*message);
    exchanges_.begin_exchange(std::move(*message));
  }
}

/// They are not given back: those before them show that another try would only wait again.
void HttpUpstream::drop_overdue() {
  for (const UpstreamId id : unsent_.take_overdue()) {
    undelivered_.add(
        id, {.failure = failure_of(ErrorKind::timeout, Delivered::no,
                                   "the upstream did not accept the messages before it in time")});
  }
  soon_.schedule();
}

// Waiting messages are sent first, even if the token is short-lived.
void HttpUpstream::token_arrived(const std::optional<Failure>& failure) {
  if (!failure) {
    if (const auto event_id = std::exchange(resumed_after_, std::nullopt)) stream_.open(*event_id);
    begin_unsent();
    return;
  }
  for (Outgoing& message : unsent_.take_all()) {
    const UpstreamId id = message.id;
    events_->message_ended(id, {.failure = failure, .unanswered = std::move(message)});
  }
}

void HttpUpstream::remove(UpstreamId id) {
  const Exchange* const exchange = exchanges_.find(id);
  if (exchange == nullptr) return;
  const bool is_request = exchange->sent().is_request();
  unsent_.message_ended(exchange->sent().message());
  exchanges_.remove(id);
  if (!is_request) begin_unsent_with_token();
}

void HttpUpstream::abandon(UpstreamId id) {
  remove(id);
  unsent_.forget(id);
  undelivered_.forget(id);
}

std::optional<Outgoing> HttpUpstream::take_back(UpstreamId id) {
  Exchange* const exchange = exchanges_.find(id);
  if (exchange == nullptr || !exchange->sent().is_request()) return std::nullopt;
  std::optional<Outgoing> message = exchange->take_back();
  if (message) remove(id);
  return message;
}

void HttpUpstream::settle(const AnsweredRequests& answered) {
  answered.each([this](UpstreamId id) {
    Exchange* const exchange = exchanges_.find(id);
    if (exchange == nullptr) return;
    exchange->settle();
    if (!exchange->state().has_ended()) {
      exchanges_.watch(*exchange);
    } else if (!exchange->answer().has_messages()) {
      remove(id);
    }
  });
}

void HttpUpstream::treat(UpstreamId id, Treatment how) {
  Exchange* const exchange = exchanges_.find(id);
  if (exchange == nullptr) return;
  exchange->treat(how);
  exchanges_.watch(*exchange);
}

void HttpUpstream::session_over() {
  context_.forget_session();
  end_session();
}

/// Whatever is under way in the session is neither continued nor answered elsewhere.
void HttpUpstream::end_session() {
  exchanges_.change_all([](Exchange& exchange) {
    if (exchange.sent().is_stateful()) exchange.session_over();
  });
  stream_.close();
  resumed_after_.reset();
  is_in_session_ = false;
  set_stream_state(ServerStream::off);
}

bool HttpUpstream::session_opened(const OpenedSession& session) {
  if (!session.is_stateful) {
    context_.set_stateless_version(std::string(session.version));
    return true;
  }
  if (is_in_session_) end_session();  // the answer to `initialize` has named the new one
  context_.set_protocol_version(std::string(session.version));
  is_in_session_ = true;
  set_stream_state(ServerStream::waiting);
  if (session.left == nullptr) {
    stream_.open();
  } else {
    context_.set_session_id(std::string(session.left->id));
    resumed_after_ = std::string(session.left->last_event_id);
    // Otherwise the message that checks the session fetches a token.
    if (token_.is_there()) stream_.open(*std::exchange(resumed_after_, std::nullopt));
  }
  // Not reported from within this call.
  if (stream_.state() != ServerStream::waiting) soon_.schedule();
  return true;
}

void HttpUpstream::refresh_connections() {
  context_.curl().end_idle_connections();
  stream_.reopen();
}

// Takes over what the head of an answer says about session and connection.
void HttpUpstream::learn_from(const Exchange& exchange) {
  const ResponseHead& head = exchange.head();
  if (exchange.names_session()) {
    if (fits_header(head.session_id, header_limit::session_id)) {
      context_.set_session_id(head.session_id);
    } else {
      context_.log().peer(LogLevel::warning, "unusable session id",
                          "the upstream's Mcp-Session-Id is not valid in a header: ignored");
    }
  }
  if (head.status != 0 && !head.keep_alive_timeout) {
    context_.set_max_idle(HttpContext::usual_max_idle);
  } else if (head.keep_alive_timeout) {
    context_.set_max_idle(
        std::max(std::chrono::seconds(1), *head.keep_alive_timeout - std::chrono::seconds(1)));
  }
}

void HttpUpstream::exchange_progressed(UpstreamId id) {
  Exchange* exchange = exchanges_.find(id);
  if (exchange == nullptr) return;
  learn_from(*exchange);
  if (exchange->sent().was_reached()) {
    stream_.retry_soon();
    if (std::exchange(unreachable_, false)) events_->upstream_reachable();
  }
  while ((exchange = exchanges_.find(id)) != nullptr) {
    auto message = exchange->answer().next_message();
    if (!message) break;
    settle(events_->upstream_message(id, std::move(*message)));
  }
  if (exchange != nullptr && !exchange->state().has_ended()) {
    exchanges_.watch(*exchange);
  } else if (exchange != nullptr) {
    exchange_ended(*exchange);
  }
  exchanges_.note_buffers();
}

void HttpUpstream::look_for_room() {
  exchanges_.look_for_room();
  stream_.look_for_room();
}

void HttpUpstream::exchange_ended(Exchange& exchange) {
  const UpstreamId id = exchange.id();
  if (exchange.state().is_settled()) {
    remove(id);
    return;
  }
  Ending ending = exchange.take_ending();
  if (try_another_token(exchange, ending)) {
    remove(id);
    send(std::move(*ending.unanswered));
    return;
  }
  unreachable_ = unreachable_ || (ending.failure && ending.failure->delivered == Delivered::no &&
                                  ending.failure->status == 0);
  remove(id);
  events_->message_ended(id, std::move(ending));
}

/// Once per message: 401, or 403 for another scope (BEHAVIOUR, "Authorization").
bool HttpUpstream::try_another_token(Exchange& exchange, Ending& ending) {
  if (!ending.failure || !ending.unanswered) return false;
  const int status = ending.failure->status;
  if (status != 401 && status != 403) return false;
  if (ending.unanswered->notes.authorizations != 0 || !exchange.refuse_token()) {
    if (status == 401) token_.note_failure();
    return false;
  }
  ++ending.unanswered->notes.authorizations;
  return true;
}

void HttpUpstream::give_up_unsent(const Failure& failure) {
  for (Outgoing& message : unsent_.take_requests()) {
    const UpstreamId id = message.id;
    undelivered_.add(id, {.failure = failure, .unanswered = std::move(message)});
  }
  soon_.schedule();
}

void HttpUpstream::report_soon() {
  undelivered_.tell(*events_);
  report_stream();
}

void HttpUpstream::set_stream_state(ServerStream state) {
  const bool was_open = context_.has_server_stream();
  context_.set_server_stream(state);
  if (was_open == context_.has_server_stream()) return;
  exchanges_.change_all([](Exchange& exchange) { exchange.server_stream_changed(); });
}

void HttpUpstream::report_stream() {
  const ServerStream state = stream_.state();
  if (context_.server_stream() != state) {
    set_stream_state(state);
    events_->server_stream_changed(state);
  }
  if (const auto verdict = stream_.take_refusal()) events_->server_stream_refused(*verdict);
}

void HttpUpstream::stream_progressed() {
  if (stream_.take_loss()) events_->upstream_lost_session();
  if (stream_.state() == ServerStream::open && std::exchange(unreachable_, false))
    events_->upstream_reachable();
  report_stream();
  while (auto message = stream_.messages().next_message())
    settle(events_->upstream_message(std::nullopt, std::move(*message)));
  for (const UpstreamId id : stream_.messages().take_oversized_answers()) end_oversized(id);
}

void HttpUpstream::end_oversized(UpstreamId id) {
  Exchange* const exchange = exchanges_.find(id);
  if (exchange == nullptr || !exchange->sent().is_request() || exchange->state().is_settled())
    return;
  exchange->fail(answer_too_large(context_.options().max_frame));
  exchange_progressed(id);
}

void HttpUpstream::reconfigure(const UpstreamOptions& options) {
  context_.reconfigure(options.http);
  token_.reload();
}

void HttpUpstream::end_all(const Failure& failure) {
  std::deque<Outgoing> waiting = unsent_.take_all();
  for (const UpstreamId id : exchanges_.ids()) {
    Exchange* const exchange = exchanges_.find(id);
    if (exchange == nullptr) continue;
    exchange->fail(failure);
    exchange_progressed(id);
  }
  for (Outgoing& message : waiting) {
    const UpstreamId id = message.id;
    Ending ending{.failure = failure, .session = SessionVerdict::lost};
    ending.failure->delivered = Delivered::no;
    if (message.kind != OutgoingKind::response) ending.unanswered = std::move(message);
    events_->message_ended(id, std::move(ending));
  }
}

void HttpUpstream::end(std::function<void()> done) {
  unsent_.take_all();
  undelivered_.clear();
  for (const UpstreamId id : exchanges_.ids()) remove(id);
  stream_.close();
  is_in_session_ = is_in_session_ && keeps_session_;
  if (keeps_session_ || context_.session_id().empty()) {
    done();
    return;
  }
  session_delete_ = std::make_unique<SessionDelete>(context_, std::move(done));
}

// Sessions that outlive the daemon or its process.

std::optional<SessionReference> HttpUpstream::session_reference() const {
  if (!is_in_session_) return std::nullopt;
  return SessionReference{context_.session_id(), stream_.last_event_id()};
}

bool HttpUpstream::names_session() const {
  return is_in_session_ && !context_.session_id().empty();
}

bool HttpUpstream::stream_resumes() const {
  return stream_.state() == ServerStream::open && !stream_.last_event_id().empty();
}

bool HttpUpstream::survives_upgrade(std::optional<UpstreamId> id) const {
  if (!id) return unsent_.empty() && !exchanges_.has_unfinished(stream_resumes());
  const Exchange* const exchange = exchanges_.find(*id);
  return exchange != nullptr && exchange->survives_upgrade(stream_resumes());
}

std::vector<SavedMessage> HttpUpstream::save_messages() const {
  std::vector<SavedMessage> all;
  for (const UpstreamId id : exchanges_.ids()) {
    if (survives_upgrade(id)) all.push_back(exchanges_.find(id)->save_message());
  }
  return all;
}

bool HttpUpstream::restore(SavedMessage&& message) {
  if (!is_in_session_) return false;
  exchanges_.restore(std::move(message));
  return true;
}

ReportedEvents HttpUpstream::reported_events(UpstreamId id) const {
  const Exchange* const exchange = exchanges_.find(id);
  if (exchange == nullptr) return {};
  return {exchange->answer().last_event(), exchange->answer().event_before()};
}

}  // namespace bridge
