#include "upstream/streamable_http/http_upstream.hpp"

#include <algorithm>
#include <utility>

#include "jsonrpc/oversized_answer.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {
namespace {

/// How long the buffers may be full before an answer that is accumulating has to end.
constexpr std::chrono::seconds relief_timeout{1};

}  // namespace

HttpUpstream::HttpUpstream(EventLoop& loop, HttpOptions options, const AuthOptions& auth,
                           ByteBudget& budget, Log& log)
    : curl_(loop),
      context_(curl_, std::move(options), budget, log),
      tokens_(make_token_source(loop, curl_, auth, context_.options(), log)),
      deliveries_(budget),
      stream_(loop, context_, *this),
      clock_(loop, [this] { check_time(); }),
      short_clock_(loop, [this] { check_time(); }),
      soon_(loop, [this] { report_soon(); }),
      relief_(loop, [this] { end_largest_answer(); }) {
  context_.know_secrets_of(*tokens_);
}

HttpUpstream::~HttpUpstream() = default;

Exchange* HttpUpstream::find(UpstreamId id) {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? nullptr : found->second.get();
}

// What waits is bounded: requests by the router, the others here.
void HttpUpstream::send(Outgoing message) {
  const UpstreamId id = message.id;
  const bool may_start =
      has_token() && (message.kind == OutgoingKind::request || deliveries_.may_start());
  if (may_start) {
    begin_exchange(std::move(message));
  } else if (message.kind == OutgoingKind::request) {
    awaiting_token_.push_back(std::move(message));
    fetch_token();
  } else if (!deliveries_.push(std::move(message))) {
    refuse(id);
  } else {
    start_deliveries();
  }
}

// Not to be told from within a call of ours.
void HttpUpstream::refuse(UpstreamId id) {
  refused_.push_back(id);
  soon_.schedule();
}

void HttpUpstream::start_deliveries() {
  if (deliveries_.empty()) return;
  if (!has_token()) {
    fetch_token();
    return;
  }
  while (auto message = deliveries_.pop()) begin_exchange(std::move(*message));
}

void HttpUpstream::begin_exchange(Outgoing message) {
  const UpstreamId id = message.id;
  if (message.kind != OutgoingKind::request) deliveries_.started();
  ExchangeOwner& owner = *this;
  auto exchange = std::make_unique<Exchange>(context_, owner, std::move(message));
  Exchange& started = *exchange;
  exchanges_[id] = std::move(exchange);
  started.start();
  watch_time(started);
}

void HttpUpstream::remove(UpstreamId id) {
  auto node = exchanges_.extract(id);
  if (node.empty()) return;
  if (!node.mapped()->is_request()) {
    deliveries_.ended();
    start_deliveries();
  }
  node.mapped()->close();
  context_.curl().loop().reap(std::move(node.mapped()));
  if (exchanges_.empty()) short_clock_.clear();
}

void HttpUpstream::abandon(UpstreamId id) {
  remove(id);
  deliveries_.forget(id);
  std::erase_if(awaiting_token_, [id](const Outgoing& waiting) { return waiting.id == id; });
}

void HttpUpstream::settle(const AnsweredRequests& answered) {
  answered.each([this](UpstreamId id) {
    Exchange* const exchange = find(id);
    if (exchange == nullptr) return;
    exchange->settle();
    if (!exchange->has_ended()) {
      watch_time(*exchange);
    } else if (!exchange->has_messages()) {
      remove(id);
    }
  });
}

void HttpUpstream::pause(UpstreamId id, bool paused) {
  Exchange* const exchange = find(id);
  if (exchange == nullptr) return;
  exchange->pause(paused);
  watch_time(*exchange);
}

void HttpUpstream::session_over() {
  context_.forget_session();
  for (const auto& [id, exchange] : exchanges_) {
    exchange->session_over();
    watch_time(*exchange);
  }
  stream_.close();
  set_stream_state(ServerStream::off);
}

void HttpUpstream::session_opened(const std::string& protocol_version) {
  context_.set_protocol_version(protocol_version);
  stream_.open();
  set_stream_state(ServerStream::waiting);
  // Not to be told from within this call.
  if (stream_.state() != ServerStream::waiting) soon_.schedule();
}

void HttpUpstream::refresh_connections() {
  context_.curl().end_idle_connections();
  stream_.reopen();
}

// What the head of an answer tells about the session and the connection.
void HttpUpstream::learn_from(const Exchange& exchange) {
  const ResponseHead& head = exchange.head();
  // A late answer may name a session that is over.
  if (!head.session_id.empty() && head.is_success() && exchange.is_of_this_session() &&
      (exchange.opens_session() || context_.session_id().empty())) {
    if (fits_header(head.session_id, header_limit::session_id)) {
      context_.set_session_id(head.session_id);
    } else {
      context_.log().peer(LogLevel::warning, "unusable session id",
                          "the upstream's Mcp-Session-Id cannot stand in a header: not used");
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
  Exchange* exchange = find(id);
  if (exchange == nullptr) return;
  learn_from(*exchange);
  if (exchange->was_reached()) {
    stream_.retry_soon();
    if (std::exchange(unreachable_, false)) events_->upstream_reachable();
  }
  while ((exchange = find(id)) != nullptr) {
    auto message = exchange->next_message();
    if (!message) break;
    settle(events_->upstream_message(id, std::move(*message)));
  }
  if (exchange != nullptr && exchange->has_ended()) {
    const bool settled = exchange->is_settled();
    Ending ending = exchange->take_ending();
    if (!settled && try_another_token(*exchange, ending)) {
      remove(id);
      send(std::move(*ending.unanswered));
      return;
    }
    unreachable_ = unreachable_ || (ending.failure && ending.failure->delivered == Delivered::no &&
                                    ending.failure->status == 0);
    remove(id);
    if (!settled) events_->upstream_ended(id, std::move(ending));
  } else if (exchange != nullptr) {
    watch_time(*exchange);
  }
  drop_largest_answer();
}

// Reading from clients has already stopped. If that does not help, the largest answer that is
// accumulating ends: soon, since it may be complete in a moment, or at once if many of them grow
// far over the limit.
void HttpUpstream::drop_largest_answer() {
  if (!context_.budget().over()) return;
  const auto accumulating =
      std::count_if(exchanges_.begin(), exchanges_.end(),
                    [](const auto& entry) { return entry.second->accumulated() > 0; });
  if (accumulating > 1 && context_.budget().far_over()) {
    relief_.set_at_latest(context_.now());
  } else if (accumulating > 0) {
    relief_.set_at_latest(context_.now() + relief_timeout);
  }
}

void HttpUpstream::end_largest_answer() {
  if (!context_.budget().over()) return;
  Exchange* largest = nullptr;
  for (const auto& [id, exchange] : exchanges_) {
    if (exchange->accumulated() > 0 &&
        (largest == nullptr || exchange->accumulated() > largest->accumulated())) {
      largest = exchange.get();
    }
  }
  if (largest == nullptr) return;
  Failure failure;
  failure.kind = ErrorKind::overloaded;
  failure.message = "the bridge's buffers are full (--max-buffered)";
  largest->fail(std::move(failure));
  exchange_progressed(largest->id());
  if (context_.budget().over()) relief_.set_at_latest(context_.now());
}

void HttpUpstream::check_time() {
  const auto now = context_.now();
  SteadyTime next = SteadyTime::max();
  std::vector<UpstreamId> ended;
  for (const auto& [id, exchange] : exchanges_) {
    exchange->check_time(now, next);
    if (exchange->has_ended()) ended.push_back(id);
  }
  for (const UpstreamId id : ended) exchange_progressed(id);
  if (next != SteadyTime::max()) clock_.set_at_latest(next);
}

void HttpUpstream::watch_time(const Exchange& exchange) {
  const SteadyTime deadline = exchange.deadline();
  if (deadline == SteadyTime::max()) return;
  (exchange.ends_soon() ? short_clock_ : clock_).set_at_latest(deadline);
}

void HttpUpstream::give_up_unsent(const Failure& failure) {
  given_up_ = failure;
  soon_.schedule();
}

void HttpUpstream::report_soon() {
  if (given_up_) {
    for (Outgoing& message : std::exchange(awaiting_token_, {}))
      give_back(std::move(message), *given_up_);
  }
  for (const UpstreamId id : std::exchange(refused_, {})) {
    Ending ending;
    ending.failure = failure_of(ErrorKind::overloaded, Delivered::no,
                                "too many notifications and answers wait for the upstream");
    events_->upstream_ended(id, std::move(ending));
  }
  report_stream();
}

void HttpUpstream::set_stream_state(ServerStream state) {
  reported_ = state;
  const bool is_open = state == ServerStream::open;
  if (is_open == context_.has_server_stream()) return;
  context_.set_server_stream(is_open);
  for (const auto& [id, exchange] : exchanges_) {
    exchange->server_stream_changed();
    watch_time(*exchange);
  }
}

void HttpUpstream::report_stream() {
  const ServerStream state = stream_.state();
  if (reported_ != state) {
    set_stream_state(state);
    events_->server_stream_changed(state);
  }
  if (stream_.take_refusal()) events_->server_stream_refused();
}

void HttpUpstream::stream_progressed() {
  if (stream_.state() == ServerStream::open && std::exchange(unreachable_, false))
    events_->upstream_reachable();
  report_stream();
  while (auto message = stream_.messages().next())
    settle(events_->upstream_message(std::nullopt, std::move(*message)));
  while (const auto id = stream_.messages().next_oversized_answer()) end_oversized(*id);
}

void HttpUpstream::end_oversized(UpstreamId id) {
  Exchange* const exchange = find(id);
  if (exchange == nullptr || !exchange->is_request() || exchange->is_settled()) return;
  exchange->fail(answer_too_large(context_.options().max_frame));
  exchange_progressed(id);
}

void HttpUpstream::stream_lost_session() { events_->upstream_lost_session(); }

void HttpUpstream::reconfigure(const UpstreamOptions& options) {
  context_.reconfigure(options.http);
  tokens_->reload();
}

void HttpUpstream::end_all(const Failure& failure) {
  std::deque<Outgoing> waiting = deliveries_.take_all();
  std::move(awaiting_token_.begin(), awaiting_token_.end(), std::back_inserter(waiting));
  awaiting_token_.clear();
  std::vector<UpstreamId> ids;
  for (const auto& [id, exchange] : exchanges_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const UpstreamId id : ids) {
    Exchange* const exchange = find(id);
    if (exchange == nullptr) continue;
    exchange->fail(failure);
    exchange_progressed(id);
  }
  for (Outgoing& message : waiting) {
    const UpstreamId id = message.id;
    Ending ending;
    ending.failure = failure;
    ending.failure->delivered = Delivered::no;
    ending.session = SessionVerdict::lost;
    if (message.kind != OutgoingKind::response) ending.unanswered = std::move(message);
    events_->upstream_ended(id, std::move(ending));
  }
}

void HttpUpstream::end(std::function<void()> done) {
  deliveries_.clear();
  refused_.clear();
  while (!exchanges_.empty()) remove(exchanges_.begin()->first);
  awaiting_token_.clear();
  stream_.close();
  if (context_.session_id().empty()) {
    done();
    return;
  }
  session_delete_ = std::make_unique<SessionDelete>(context_, std::move(done));
}

}  // namespace bridge
