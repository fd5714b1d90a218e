#include "upstream/streamable_http/answer_reader.hpp"

#include <algorithm>
#include <utility>

#include "upstream/streamable_http/answer_meaning.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// How much of an error response is kept.
constexpr std::size_t max_error_body = 256u << 10;
/// Up to so many times ByteBudget::small() the space of a body is reserved as it begins; it takes
/// memory only as it fills.
constexpr std::size_t expected_at_once = 16;

}  // namespace

AnswerReader::AnswerReader(HttpContext& context, HttpTransfer& transfer, const Outgoing& message)
    : context_(context),
      transfer_(transfer),
      message_(message),
      held_(context.room(), context.budget(), message.id, context.options().max_frame) {
  held_.count(0, message_.body.size());
}

void AnswerReader::begin_stream(const std::string& last_event_id) {
  stream_ = std::make_unique<AnswerStream>(context_.options().max_frame, last_event_id);
}

std::string_view AnswerReader::last_event() const {
  if (!can_continue() || has_messages() || !message_.notes.stateful) return {};
  return stream_->parser.last_event_id();
}

std::size_t AnswerReader::announced() const {
  const ResponseHead& head = transfer_.head();
  return head.is_success()
             ? std::min<std::size_t>(head.content_length.value_or(0), context_.options().max_frame)
             : 0;
}

void AnswerReader::begin_body() {
  if (transfer_.head().is_event_stream()) {
    if (!stream_) begin_stream({});
  } else if (const std::size_t size = announced();
             size <= expected_at_once * context_.budget().small()) {
    transfer_.expect_body(size);
  }
}

bool AnswerReader::has_enough(bool is_settled) {
  if (transfer_.head().is_encoded()) return false;
  if (messages_.bytes() > most_undelivered) return true;
  // Over HTTP/2 one that is not read holds up its whole connection.
  if (context_.options().http2 || is_settled) return false;
  const std::size_t size = stream_ ? 0 : announced();
  if (!held_.has_room(accumulated(), size)) {
    transfer_.mark_ready();
    return true;
  }
  // Not earlier: the place in the heap may be that of an answer which is gone by now.
  if (size > 0 && held_.granted() >= size) transfer_.expect_body(size);
  return false;
}

std::optional<Failure> AnswerReader::read_bytes(std::string_view bytes) {
  const ResponseHead& head = transfer_.head();
  const std::size_t max_frame = context_.options().max_frame;
  if (stream_ && head.is_success()) {  // a refusal of the GET is not part of the stream
    stream_->parser.feed(bytes, *this);
    if (has_oversized_event_) {
      return failure_of(
          ErrorKind::too_large, Delivered::unknown,
          fmt::format(
              "an event of the upstream's answer is over the limit of {} bytes (--max-frame)",
              max_frame));
    }
    if (!is_flood(head.is_encoded(), messages_.bytes(), max_frame)) return std::nullopt;
  } else if (transfer_.keep_body(bytes, head.is_success() ? max_frame : max_error_body) ||
             !head.is_success()) {
    return std::nullopt;
  }
  return answer_too_large(max_frame);
}

void AnswerReader::take_body() {
  something_came_ = true;
  messages_.add_any(transfer_.take_body());
}

void AnswerReader::count_held() {
  held_.count(accumulated(), message_.body.size() + messages_.bytes());
}

void AnswerReader::drop_response() {
  transfer_.take_body();
  held_.end();
  held_.count(accumulated(), message_.body.size());
}

void AnswerReader::end_answer() {
  held_.end();
  held_.count(0, 0);
}

void AnswerReader::set_paused(bool paused) {
  is_paused_ = paused;
  held_.set_paused(paused);
  transfer_.pause(paused);
}

void AnswerReader::on_event(std::string, ReceivedText data) {
  auto event_before = stream_->take_event();
  const bool is_short = data.bytes.size() <= longest_error;
  if (!event_before || !messages_.add(std::move(data), *std::move(event_before))) return;
  is_final_ = something_came_ || !is_short;
  something_came_ = true;
}

void AnswerReader::on_retry(std::chrono::milliseconds delay) {
  stream_->continuation.set_retry(delay);
}

}  // namespace bridge
