#include "upstream/http_sse/sse_upstream.hpp"

#include <utility>

#include "upstream/upstream_options.hpp"

namespace bridge {
namespace {

Failure stream_closed() {
  return failure_of(ErrorKind::closed, Delivered::unknown,
                    "the upstream's event stream was closed before the answer came");
}

}  // namespace

SseUpstream::SseUpstream(EventLoop& loop, const HttpOptions& options, const AuthOptions& auth,
                         ByteBudget& budget, Log& log, bool only_sse)
    : loop_(loop),
      log_(log),
      http_(loop, options, auth, budget, log),
      soon_(loop, [this] { catch_up(); }),
      mode_(only_sse ? Mode::sse : Mode::unknown) {
  http_.set_events(*this);
}

void SseUpstream::send(Outgoing&& message) {
  if (!speaks_sse() || has_open_stream()) {
    http_.send(std::move(message));
  } else if (message.opens_session) {
    open_stream(std::move(message));
  } else {
    refuse(std::move(message));
  }
}

void SseUpstream::open_stream(Outgoing initialize) {
  initialize_ = std::move(initialize);
  token_renewed_ = false;
  const UpstreamId id = initialize_->id;
  http_.context().token().with([this, id](const std::optional<Failure>& failure) {
    if (!initialize_ || initialize_->id != id) return;
    if (failure) {
      opening_failed(*failure);
    } else {
      close_stream();
      SseStreamOwner& owner = *this;
      stream_ = std::make_unique<SseStream>(loop_, http_.context(), owner);
    }
  });
}

void SseUpstream::close_stream() {
  if (!stream_) return;
  stream_->close();
  loop_.reap(std::move(stream_));
}

/// The initialize that waited for the stream ends with this.
void SseUpstream::opening_failed(Failure failure) {
  Outgoing message = *std::exchange(initialize_, std::nullopt);
  const UpstreamId id = message.id;
  Ending ending;
  if (mode_ == Mode::trying) {
    // It is no old server either: what it said first counts.
    mode_ = Mode::unknown;
    ending = *std::exchange(first_ending_, std::nullopt);
    // Unless it is one, but what it says cannot be used.
    if (failure.definitive && failure.kind == ErrorKind::malformed)
      ending.failure = std::move(failure);
  } else {
    // What was an old server may have become a new one.
    if (found_by_fallback_ && failure.status >= 400 && failure.status < 500) {
      mode_ = Mode::unknown;
      http_.context().set_endpoint({});
    }
    ending.failure = std::move(failure);
  }
  ending.unanswered = std::move(message);
  events_->upstream_ended(id, std::move(ending));
}

void SseUpstream::abandon(UpstreamId id) {
  http_.abandon(id);
  untold_.forget(id);
  if (initialize_ && initialize_->id == id) {
    initialize_.reset();
    close_stream();
  }
}

// The stream is the session.
void SseUpstream::session_over() {
  http_.session_over();
  if (!speaks_sse()) return;
  if (has_open_stream()) {
    session_forgotten_ = true;
    soon_.schedule();
  }
  close_stream();
}

void SseUpstream::session_opened(const std::string& protocol_version) {
  if (!speaks_sse()) {
    http_.session_opened(protocol_version);
    return;
  }
  http_.context().set_protocol_version(protocol_version);
  session_opened_ = true;
  soon_.schedule();
}

std::optional<SessionReference> SseUpstream::session_reference() const {
  return speaks_sse() ? std::nullopt : http_.session_reference();
}

bool SseUpstream::session_continued(const std::string& protocol_version,
                                    const SessionReference& reference) {
  if (speaks_sse()) return false;
  mode_ = Mode::http;
  return http_.session_continued(protocol_version, reference);
}

void SseUpstream::catch_up() {
  if (std::exchange(session_forgotten_, false)) http_.end_all(stream_closed());
  untold_.tell(*events_);
  if (std::exchange(session_opened_, false)) {
    events_->server_stream_changed(has_open_stream() ? ServerStream::open : ServerStream::none);
  }
}

/// There is no session that it could be sent in.
void SseUpstream::refuse(Outgoing message) {
  const UpstreamId id = message.id;
  Ending ending{.failure = failure_of(ErrorKind::closed, Delivered::no,
                                      "the upstream's event stream is not open"),
                .session = SessionVerdict::lost};
  if (message.kind != OutgoingKind::response) ending.unanswered = std::move(message);
  untold_.add(id, std::move(ending));
  soon_.schedule();
}

void SseUpstream::end(std::function<void()> done) {
  initialize_.reset();
  untold_.clear();
  close_stream();
  http_.end(std::move(done));
}

AnsweredRequests SseUpstream::upstream_message(std::optional<UpstreamId> origin,
                                               ReceivedText message) {
  if (mode_ == Mode::unknown) mode_ = Mode::http;
  return events_->upstream_message(origin, std::move(message));
}

bool SseUpstream::asks_for_fallback(const Ending& ending) const {
  if (mode_ != Mode::unknown || !ending.failure || !ending.unanswered ||
      !ending.unanswered->opens_session)
    return false;
  const int status = ending.failure->status;
  return (status == 400 || status == 404 || status == 405) && ending.failure->error_object.empty();
}

void SseUpstream::upstream_ended(UpstreamId id, Ending ending) {
  if (asks_for_fallback(ending)) {
    mode_ = Mode::trying;
    Outgoing initialize = *std::exchange(ending.unanswered, std::nullopt);
    first_ending_ = std::move(ending);
    open_stream(std::move(initialize));
    return;
  }
  events_->upstream_ended(id, std::move(ending));
}

void SseUpstream::server_stream_changed(ServerStream state) {
  if (!speaks_sse()) events_->server_stream_changed(state);
}

void SseUpstream::server_stream_refused() {
  if (!speaks_sse()) events_->server_stream_refused();
}

void SseUpstream::sse_stream_open(const std::string& endpoint) {
  if (mode_ == Mode::trying) {
    mode_ = Mode::sse;
    found_by_fallback_ = true;
    first_ending_.reset();
    log_.event(LogLevel::info, "older transport",
               "the upstream speaks the older transport HTTP+SSE");
  }
  http_.context().set_endpoint(endpoint);
  events_->upstream_reachable();
  if (auto initialize = std::exchange(initialize_, std::nullopt))
    http_.send(std::move(*initialize));
}

void SseUpstream::sse_stream_message(ReceivedText message) {
  http_.settle(events_->upstream_message(std::nullopt, std::move(message)));
}

void SseUpstream::sse_stream_ended(Failure failure, const TokenChallenge& challenge) {
  if (initialize_) {
    const bool unauthorized = failure.status == 401 || failure.status == 403;
    if (unauthorized && !token_renewed_ &&
        http_.context().token().refused(stream_->token_generation(), challenge)) {
      Outgoing initialize = *std::exchange(initialize_, std::nullopt);
      open_stream(std::move(initialize));
      token_renewed_ = true;
      return;
    }
    opening_failed(std::move(failure));
    return;
  }
  events_->upstream_lost_session();
  http_.end_all(failure);
}

}  // namespace bridge
