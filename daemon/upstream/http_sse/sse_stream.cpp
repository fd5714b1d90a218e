#include "upstream/http_sse/sse_stream.hpp"

#include <curl/curl.h>

#include <utility>

#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// For the answer's head, and then for the `endpoint` event, which comes first.
constexpr std::chrono::seconds head_timeout{10};
constexpr std::chrono::seconds endpoint_timeout{5};

}  // namespace

SseStream::SseStream(EventLoop& loop, HttpContext& context, SseStreamOwner& owner)
    : context_(context),
      owner_(owner),
      timeout_(
          loop,
          [this] {
            end(failure_of(ErrorKind::timeout, Delivered::no,
                           "the upstream's event stream did not begin with an endpoint in time"));
          }),
      parser_(context.options().max_frame),
      transfer_(context.curl(), *this) {
  begin_get();
}

void SseStream::begin_get() {
  parser_ = SseParser(context_.options().max_frame);
  token_generation_ = context_.token().generation();
  // The handle is not given back: it has its own URL and keep-alive settings.
  CurlHandle handle = context_.handles().take();
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
  if (!messages_.empty() || named_endpoint_) transfer_.mark_ready();
  return true;
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

// Whoever is told something may close it.
void SseStream::transfer_progressed(bool done, int result) {
  if (state_ == State::opening && named_endpoint_) take_endpoint(*named_endpoint_);
  while (is_open()) {
    auto message = messages_.next();
    if (!message) break;
    owner_.sse_stream_message(std::move(*message));
  }
  while (state_ != State::closed) {
    const auto id = messages_.next_oversized_answer();
    if (!id) break;
    owner_.sse_stream_oversized_answer(*id);
  }
  if (state_ == State::closed) return;
  if (!done) {
    if (state_ == State::opening) timeout_.set_after(endpoint_timeout);
    return;
  }
  if (state_ == State::opening && result == CURLE_OK &&
      transfer_.redirection().follow(context_.options().url, transfer_.head())) {
    begin_get();
  } else {
    end(failure_of_end(result));
  }
}

void SseStream::take_endpoint(const std::string& named) {
  if (!fits_header(named, header_limit::url)) {
    end(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream names an endpoint that is no URL: not all of it is visible ASCII"));
    return;
  }
  const std::string url =
      same_origin_url(transfer_.redirection().place(context_.options().url), named);
  if (url.empty()) {
    end(failure_of(ErrorKind::malformed, Delivered::no,
                   "the upstream names an endpoint that is not of its own origin"));
    return;
  }
  timeout_.clear();
  state_ = State::open;
  owner_.sse_stream_open(url);
}

Failure SseStream::failure_of_end(int result) const {
  if (is_open()) {
    return failure_of(ErrorKind::closed, Delivered::unknown, "the upstream's event stream broke");
  }
  if (result != CURLE_OK) {
    return failure_of_transfer(context_, result,
                               {reached_by(transfer_.handle(), transfer_.was_connected(), false)});
  }
  const ResponseHead& head = transfer_.head();
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
                    "the upstream's event stream ended before it named an endpoint");
}

void SseStream::end(Failure failure) {
  const ResponseHead& head = transfer_.head();
  const TokenChallenge challenge{head.status, head.www_authenticate,
                                 context_.options().proxy.empty() && transfer_.is_peer_public()};
  close();
  owner_.sse_stream_ended(std::move(failure), challenge);
}

}  // namespace bridge
