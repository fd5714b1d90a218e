#include "upstream/http_sse/sse_upstream.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "upstream/streamable_http/failures.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {
namespace {

/// For the answer's head, then for the `endpoint` event, which comes first.
constexpr std::chrono::seconds head_timeout{10};
constexpr std::chrono::seconds endpoint_timeout{5};

/// Scheme, host and port: a path and query may be secret.
std::string origin_of(std::string_view url) {
  const auto authority = url.find("://");
  if (authority == url.npos) return std::string(url.substr(0, url.find_first_of("?#")));
  const std::string_view host =
      url.substr(authority + 3, url.find_first_of("/?#", authority + 3) - authority - 3);
  return fmt::format("{}{}", url.substr(0, authority + 3), host.substr(host.rfind('@') + 1));
}

}  // namespace

SseStream::SseStream(EventLoop& loop, HttpContext& context, SseUpstream& owner)
    : context_(context),
      owner_(owner),
      timeout_(
          loop,
          [this] {
            end_stream(failure_of(
                ErrorKind::timeout, Delivered::no,
                "HTTP+SSE: the upstream's event stream did not begin with an endpoint in time"));
          }),
      parser_(context.options().max_frame),
      share_(context.budget()),
      transfer_(context.curl(), *this) {
  begin_get();
}

void SseStream::begin_get() {
  parser_.restart();
  token_generation_ = context_.token().generation();
  // The handle is not given back because of its URL and keep-alive settings.
  CurlHandle handle = context_.handles().take_handle();
  curl_easy_setopt(handle.get(), CURLOPT_CURLU, nullptr);
  curl_easy_setopt(handle.get(), CURLOPT_URL, context_.options().url.c_str());
  set_stream(transfer_.prepare(std::move(handle), context_.stream_headers({})));
  timeout_.set_after(context_.options().connect_timeout + head_timeout);
  transfer_.start();
}

void SseStream::close() {
  state_ = State::closed;
  timeout_.clear();
  transfer_.close();
  messages_.clear();
  parser_.restart();
  count_held();
}

void SseStream::head_line_received(bool complete) {
  if (complete) transfer_.mark_ready();
}

bool SseStream::body_received(std::string_view bytes) {
  context_.counts().received_bytes += bytes.size();
  if (transfer_.head().status != 200 || !transfer_.head().is_event_stream())
    return transfer_.keep_body(bytes, max_refusal);
  context_.note_activity();
  parser_.feed(bytes, *this);
  count_held();
  if (!messages_.empty() || named_endpoint_) transfer_.mark_ready();
  return !is_flood(transfer_.head().is_encoded(), messages_.bytes(), context_.options().max_frame);
}

void SseStream::on_event(std::string type, ReceivedText data) {
  if (type == "endpoint") {
    if (state_ == State::opening && !named_endpoint_) named_endpoint_ = std::move(data.bytes);
  } else if (type.empty() || type == "message") {
    messages_.add(std::move(data));
  }
}

void SseStream::on_oversized_event() {
  context_.log().peer(LogLevel::warning, "oversized event",
                      "an event of the upstream was over --max-frame ({} bytes) and was skipped",
                      context_.options().max_frame);
}

void SseStream::on_oversized_event_end(std::string_view beginning, std::string_view end) {
  messages_.add_oversized(beginning, end);
}

// A handler may close this.
void SseStream::transfer_progressed(bool done, int result) {
  if (state_ == State::opening && named_endpoint_) take_endpoint(*named_endpoint_);
  while (is_open()) {
    auto message = messages_.next_message();
    if (!message) break;
    owner_.stream_message(std::move(*message));
  }
  for (const UpstreamId id : messages_.take_oversized_answers()) owner_.http_.end_oversized(id);
  if (state_ == State::closed) return;
  count_held();
  if (!done) {
    if (state_ == State::opening) timeout_.set_after(endpoint_timeout);
    look_for_room();
    return;
  }
  if (state_ == State::opening && result == CURLE_OK &&
      transfer_.redirection().follow(context_.options().url, transfer_.head())) {
    begin_get();
  } else {
    end_stream(failure_of_end(result));
  }
}

void SseStream::take_endpoint(const std::string& named) {
  if (!fits_header(named, header_limit::url)) {
    end_stream(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream speaks the older transport HTTP+SSE, but names an endpoint that is not a URL: it is not visible ASCII"));
    return;
  }
  const std::string url =
      same_origin_url(transfer_.redirection().place(context_.options().url), named);
  if (url.empty()) {
    end_stream(definitive_failure_of(
        ErrorKind::malformed,
        fmt::format("the upstream speaks the older transport HTTP+SSE, but names an endpoint of "
                    "another origin than its own, {}: messages are sent to {} only",
                    printable(context_.without_secrets(origin_of(named)), 100),
                    context_.options().target)));
    return;
  }
  timeout_.clear();
  state_ = State::open;
  owner_.stream_opened(url);
}

Failure SseStream::failure_of_end(int result) const {
  if (is_open()) {
    return failure_of(ErrorKind::closed, Delivered::unknown, "the upstream's event stream broke");
  }
  const ResponseHead& head = transfer_.head();
  const bool has_status =
      head.complete && head.status != 200 && result == CURLE_BAD_CONTENT_ENCODING;
  if (result != CURLE_OK && !has_status) {
    Failure failure = failure_of_response(
        context_, head, result, {reached_by(transfer_.handle(), transfer_.was_connected(), false)});
    failure.delivered = Delivered::no;
    return failure;
  }
  if (head.status != 200) {
    Failure failure = failure_of_status(context_, head, transfer_.body());
    failure.delivered = Delivered::no;
    return failure;
  }
  if (!head.is_event_stream()) {
    return failure_of(ErrorKind::malformed, Delivered::no,
                      fmt::format("the upstream has no event stream: content type '{}'",
                                  printable(head.content_type(), 80)));
  }
  return failure_of(ErrorKind::closed, Delivered::no,
                    "HTTP+SSE: the upstream's event stream ended before it named an endpoint");
}

void SseStream::end_stream(Failure failure) {
  close();
  owner_.stream_ended(std::move(failure));
}

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
      room_(loop, [this] {
        if (stream_) stream_->look_for_room();
      }) {
  budget.on_release([this] { room_.set_at_latest(loop_.now()); });
  traits_.target = http_.target();
  counts_ = &http_.context().counts();
  set_mode(only_sse ? Mode::only_sse : Mode::unknown);
  http_.set_events(*this);
}

void SseUpstream::set_mode(Mode mode) {
  mode_ = mode;
  traits_.kind = speaks_sse() && mode_ != Mode::trying ? "sse" : "http";
  traits_.may_be_modern = traits_.has_answer_streams = !speaks_sse();
  if (mode_ != Mode::http) return;
  // For good: from now on this is not asked.
  transport_ = &http_;
  http_.set_events(*events_);
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
      stream_ = std::make_unique<SseStream>(loop_, http_.context(), *this);
    }
  });
}

void SseUpstream::close_stream() {
  if (!stream_) return;
  stream_->close();
  loop_.reap(std::move(stream_));
}

/// The initialize that waited for the stream ends with this failure.
void SseUpstream::opening_failed(Failure failure) {
  Outgoing message = *std::exchange(initialize_, std::nullopt);
  const UpstreamId id = message.id;
  Ending ending;
  if (mode_ == Mode::trying) {
    // Not HTTP+SSE either: the first answer counts.
    set_mode(Mode::unknown);
    ending = *std::exchange(first_ending_, std::nullopt);
    // Unless there is an event stream, with a fault.
    if (stream_ && stream_->has_begun()) {
      if (!failure.definitive)
        failure.message +=
            fmt::format(" (a POST was answered with HTTP {})", ending.failure->status);
      failure.definitive = true;
      failure.kind = ErrorKind::malformed;
      ending.failure = std::move(failure);
    }
  } else {
    // A server of HTTP+SSE may have been replaced by a new one.
    if (mode_ == Mode::found_sse && failure.status >= 400 && failure.status < 500) {
      set_mode(Mode::unknown);
      http_.context().set_endpoint({});
    }
    ending.failure = std::move(failure);
  }
  ending.unanswered = std::move(message);
  events_->message_ended(id, std::move(ending));
}

void SseUpstream::abandon(UpstreamId id) {
  http_.abandon(id);
  undelivered_.forget(id);
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

bool SseUpstream::session_opened(const OpenedSession& session) {
  if (!speaks_sse()) {
    if (session.left != nullptr) set_mode(Mode::http);
    return http_.session_opened(session);
  }
  if (session.left != nullptr) return false;
  http_.context().set_protocol_version(std::string(session.version));
  session_opened_ = true;
  soon_.schedule();
  return true;
}

std::optional<SessionReference> SseUpstream::session_reference() const {
  return speaks_sse() ? std::nullopt : http_.session_reference();
}

bool SseUpstream::survives_upgrade(std::optional<UpstreamId> id) const {
  const bool can = id ? !speaks_sse() : !initialize_;
  return can && http_.survives_upgrade(id);
}

void SseUpstream::catch_up() {
  if (std::exchange(session_forgotten_, false)) http_.end_all(stream_closed());
  undelivered_.tell(*events_);
  if (std::exchange(session_opened_, false)) {
    events_->server_stream_changed(has_open_stream() ? ServerStream::open : ServerStream::none);
  }
}

/// There is no session to send it in.
void SseUpstream::refuse(Outgoing message) {
  const UpstreamId id = message.id;
  Ending ending{.failure = failure_of(ErrorKind::closed, Delivered::no,
                                      "the upstream's event stream is not open"),
                .session = SessionVerdict::lost};
  if (message.kind != OutgoingKind::response) ending.unanswered = std::move(message);
  undelivered_.add(id, std::move(ending));
  soon_.schedule();
}

void SseUpstream::end(std::function<void()> done) {
  if (keeps_session_) http_.keep_session();
  initialize_.reset();
  undelivered_.clear();
  close_stream();
  http_.end(std::move(done));
}

AnsweredRequests SseUpstream::upstream_message(std::optional<UpstreamId> origin,
                                               ReceivedText message) {
  if (mode_ == Mode::unknown) set_mode(Mode::http);
  return events_->upstream_message(origin, std::move(message));
}

bool SseUpstream::asks_for_fallback(const Ending& ending) const {
  if (mode_ != Mode::unknown || !ending.failure || !ending.unanswered ||
      !ending.unanswered->opens_session)
    return false;
  const int status = ending.failure->status;
  return (status == 400 || status == 404 || status == 405) && ending.failure->error_object.empty();
}

void SseUpstream::message_ended(UpstreamId id, Ending ending) {
  if (asks_for_fallback(ending)) {
    set_mode(Mode::trying);
    Outgoing initialize = *std::exchange(ending.unanswered, std::nullopt);
    first_ending_ = std::move(ending);
    open_stream(std::move(initialize));
    return;
  }
  events_->message_ended(id, std::move(ending));
}

void SseUpstream::server_stream_changed(ServerStream state) {
  if (!speaks_sse()) events_->server_stream_changed(state);
}

void SseUpstream::server_stream_refused(SessionVerdict verdict) {
  if (!speaks_sse()) events_->server_stream_refused(verdict);
}

void SseUpstream::stream_opened(const std::string& endpoint) {
  if (mode_ == Mode::trying) {
    set_mode(Mode::found_sse);
    first_ending_.reset();
    log_.event(LogLevel::info, "older transport",
               "the upstream speaks the older transport HTTP+SSE");
  }
  http_.context().set_endpoint(endpoint);
  events_->upstream_reachable();
  if (auto initialize = std::exchange(initialize_, std::nullopt))
    http_.send(std::move(*initialize));
}

void SseUpstream::stream_message(ReceivedText message) {
  http_.settle(events_->upstream_message(std::nullopt, std::move(message)));
}

void SseUpstream::stream_ended(Failure failure) {
  if (initialize_) {
    const bool unauthorized = failure.status == 401 || failure.status == 403;
    if (unauthorized && !token_renewed_ && stream_->refuse_token()) {
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
