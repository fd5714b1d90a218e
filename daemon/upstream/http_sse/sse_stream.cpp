#include "upstream/http_sse/sse_stream.hpp"

#include <curl/curl.h>

#include <utility>

#include "jsonrpc/oversized_answer.hpp"
#include "text/json_text.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// For the answer's head, and then for the `endpoint` event, which comes first.
constexpr std::chrono::seconds head_patience{10};
constexpr std::chrono::seconds endpoint_patience{5};
constexpr std::size_t max_refusal = 64u << 10;

}  // namespace

struct SseStream::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    auto& stream = *static_cast<SseStream*>(self);
    const std::string_view line(data, size * count);
    if (stream.head_.line(line)) stream.context_.curl().mark_ready(stream);
    return size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& stream = *static_cast<SseStream*>(self);
    const std::string_view bytes(data, size * count);
    stream.context_.counts().received_bytes += bytes.size();
    if (stream.head_.status == 200 && stream.head_.is_event_stream()) {
      stream.context_.note_activity();
      stream.parser_.feed(bytes, stream);
      if (!stream.messages_.empty() || !stream.oversized_answers_.empty() || stream.named_endpoint_)
        stream.context_.curl().mark_ready(stream);
    } else if (stream.body_.size() + bytes.size() <= max_refusal) {
      stream.body_.append(bytes);
    } else {
      return 0;
    }
    return bytes.size();
  }
};

SseStream::SseStream(EventLoop& loop, HttpContext& context, SseStreamOwner& owner)
    : context_(context),
      owner_(owner),
      patience_(
          loop,
          [this] {
            end(failure_of(ErrorKind::timeout, Delivered::no,
                           "the upstream's event stream did not begin with an endpoint in time"));
          }),
      parser_(context.options().max_frame) {}

SseStream::~SseStream() { release_handle(); }

void SseStream::release_handle() {
  if (!handle_) return;
  if (std::exchange(running_, false)) context_.curl().remove(handle_.get(), *this);
  handle_.reset();  // not given back: it has its own URL and keep-alive settings
}

void SseStream::open() {
  ++opening_;
  redirection_ = Redirection{};
  begin_get();
}

void SseStream::begin_get() {
  head_ = ResponseHead{};
  body_.clear();
  parser_ = SseParser(context_.options().max_frame);
  token_generation_ = context_.token_generation();
  handle_ = context_.take_handle();
  headers_ = context_.stream_headers({});
  CURL* const h = handle_.get();
  curl_easy_setopt(h, CURLOPT_CURLU, nullptr);
  curl_easy_setopt(h, CURLOPT_URL, context_.options().url.c_str());
  redirection_.apply(h);
  set_stream(h, headers_);
  set_receivers(h, &Callbacks::header, &Callbacks::body, this);
  patience_.set_after(context_.options().connect_timeout + head_patience);
  running_ = true;
  context_.curl().add(h, *this);
}

void SseStream::close() {
  ++opening_;
  patience_.clear();
  release_handle();
  messages_.clear();
  oversized_answers_.clear();
  named_endpoint_.reset();
  endpoint_.clear();
}

void SseStream::on_event(std::string type, std::string data) {
  if (type == "endpoint") {
    if (endpoint_.empty() && !named_endpoint_) named_endpoint_ = std::move(data);
    return;
  }
  if ((!type.empty() && type != "message") || data.empty() || data == "{}") return;
  make_single_line(data);
  messages_.push_back(std::move(data));
}

void SseStream::on_oversized_event() {
  context_.log().peer(LogLevel::warning, "oversized event",
                      "an event of the upstream was over --max-frame ({} bytes) and was skipped",
                      context_.options().max_frame);
}

void SseStream::on_oversized_event_end(std::string_view beginning, std::string_view end) {
  if (const auto id = id_of_oversized_answer(beginning, end))
    oversized_answers_.push_back(static_cast<UpstreamId>(*id));
}

void SseStream::transfer_progressed(bool done, int result) {
  if (done) running_ = false;
  const std::uint64_t opening = opening_;
  if (!is_open() && !named_endpoint_ && !done) {
    patience_.set_after(endpoint_patience);
    return;
  }
  if (named_endpoint_ && !take_endpoint()) return;
  while (opening == opening_ && is_open() && !messages_.empty()) {
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    owner_.sse_stream_message(std::move(message));
  }
  while (opening == opening_ && !oversized_answers_.empty()) {
    const UpstreamId id = oversized_answers_.front();
    oversized_answers_.pop_front();
    owner_.sse_stream_oversized_answer(id);
  }
  if (!done || opening != opening_) return;
  if (!is_open() && result == CURLE_OK && redirection_.follow(context_.options().url, head_)) {
    release_handle();
    begin_get();
    return;
  }
  end(failure_of_end(result));
}

/// False if that was the end of the stream.
bool SseStream::take_endpoint() {
  const std::string named = *std::exchange(named_endpoint_, std::nullopt);
  if (!fits_header(named, header_limit::url)) {
    end(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream names an endpoint that is no URL: not all of it is visible ASCII"));
    return false;
  }
  const std::string url = same_origin_url(redirection_.place(context_.options().url), named);
  if (url.empty()) {
    end(failure_of(ErrorKind::malformed, Delivered::no,
                   "the upstream names an endpoint that is not of its own origin"));
    return false;
  }
  patience_.clear();
  endpoint_ = url;
  const std::uint64_t opening = opening_;
  owner_.sse_stream_open(endpoint_);
  return opening == opening_;
}

Failure SseStream::failure_of_end(int result) const {
  if (is_open()) {
    return failure_of(ErrorKind::closed, Delivered::unknown, "the upstream's event stream broke");
  }
  if (result != CURLE_OK) {
    return failure_of_transfer(context_, result,
                               {reached_by(handle_.get(), was_connected(), false)});
  }
  if (head_.status != 200) {
    Failure failure = failure_of_status(context_, head_, body_);
    failure.delivered = Delivered::no;
    return failure;
  }
  if (!head_.is_event_stream()) {
    return failure_of(ErrorKind::malformed, Delivered::no,
                      fmt::format("the upstream has no event stream: content type '{}'",
                                  printable(head_.content_type, 80)));
  }
  return failure_of(ErrorKind::closed, Delivered::no,
                    "the upstream's event stream ended before it named an endpoint");
}

void SseStream::end(Failure failure) {
  const std::string challenge = head_.www_authenticate;
  close();
  owner_.sse_stream_ended(std::move(failure), challenge);
}

}  // namespace bridge
