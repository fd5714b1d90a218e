#include "downstream/http/session_stream.hpp"

#include <algorithm>
#include <utility>

#include "downstream/http/downstream_session.hpp"
#include "downstream/http/frontend_clients.hpp"
#include "http/sse_parser.hpp"

namespace bridge {
namespace {

/// A stream whose reader takes nothing for this long is stuck.
constexpr std::chrono::seconds stuck_time{5};
/// How soon a client may return to a stream that has ended: `retry`.
constexpr std::uint64_t stream_retry_ms = 500;

std::string event_id_text(EventId id) { return id == EventId{} ? std::string() : to_text(id); }

}  // namespace

EventStream::EventStream(FrontendContext& context, HttpConnection& connection,
                         HttpResponse::Headers headers)
    : context_(context), connection_(connection) {
  HttpResponse response{200, "text/event-stream", {}, std::move(headers)};
  // no-transform: a proxy that compresses would delay events. X-Accel-Buffering: so would nginx.
  response.headers.emplace_back("Cache-Control", "no-cache, no-transform");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  connection_.begin_stream(response);
  context_.streams.insert(this);
  comment("open");
  last_event_ = last_sent_;
  context_.clients->sweep_by(last_sent_ + context_.options.keepalive);
  if (const auto end = quiet_end()) context_.clients->sweep_by(*end);
}

EventStream::~EventStream() { context_.streams.erase(this); }

void EventStream::send(std::string_view event) {
  write(event);
  last_event_ = last_sent_;
}

void EventStream::send_message(EventId id, std::string_view message, std::string_view type) {
  send(sse_event(event_id_text(id), type, message));
}

void EventStream::announce(EventId id, bool primes) {
  send(primes ? sse_priming(event_id_text(id), stream_retry_ms)
              : sse_retry(event_id_text(id), stream_retry_ms));
}

void EventStream::send_again(const EventStore::Event& event, const RingFilter* filter) {
  if (!event.message.empty()) {
    send_message(event.id, event.message);
    return;
  }
  const auto before = static_cast<Sequence>(value_of(event.sequence) - 1);
  context_.feed.ring().each_after(before, [&](const RingEntry& entry) {
    if (entry.sequence == event.sequence && (filter == nullptr || (*filter)(entry)))
      send_message(event.id, message_of(entry));
    return false;
  });
}

void EventStream::replay(const EventStore& store, EventId last, const RingFilter* filter) {
  store.each_after(last, [&](const EventStore::Event& event) { send_again(event, filter); });
}

void EventStream::write(std::string_view event) {
  const bool behind = connection_.unsent() > 0;
  connection_.write_stream(event);
  last_sent_ = context_.loop.now();
  // Bytes that are unsent only because the turn has not ended do not count.
  overrun_ =
      behind && connection_.is_blocked() && connection_.unsent() > context_.options.stream_buffer;
}

bool EventStream::is_stuck(std::size_t queued) {
  if (!overrun_ && !(connection_.is_blocked() && queued > context_.options.stream_buffer))
    return false;
  const auto timeout = std::min<std::chrono::milliseconds>(stuck_time, context_.options.stall);
  if (connection_.is_blocked_for(timeout)) return true;
  const SteadyTime since =
      connection_.is_blocked() ? connection_.last_written() : context_.loop.now();
  context_.clients->sweep_by(since + timeout);
  return connection_.unsent() > 2 * context_.options.client_buffer + context_.options.max_frame;
}

void EventStream::comment(std::string_view text) { write(sse_comment(text)); }

std::optional<SteadyTime> EventStream::quiet_end() const {
  const auto idle = context_.options.sse_idle;
  return idle.count() > 0 ? std::optional(last_event_ + idle) : std::nullopt;
}

void EventStream::end() { connection_.end_stream(); }

namespace {

/// Bytes given to the connection at a time; the rest stays queued until those are sent.
constexpr std::size_t window = 64u << 10;
/// When to ask for acknowledgements after sending: a live peer has acknowledged by then.
constexpr std::chrono::milliseconds acknowledged_after{200};

Sequence following(Sequence sequence) { return static_cast<Sequence>(value_of(sequence) + 1); }

}  // namespace

SessionStream::SessionStream(FrontendContext& context, DownstreamSession& session)
    : context_(context), session_(session) {}

SessionStream::~SessionStream() {
  if (!stream_) return;
  leave_ring(stream_->connection().peer_has_all());
  stream_->drop();
}

/// HTTP+SSE of 2024-11-05 has no resumption.
bool SessionStream::has_ids() const {
  return session_.kind() == DownstreamSession::Kind::streamable;
}

EventStore& SessionStream::store() const { return session_.store(); }

void SessionStream::send(EventId id, std::string_view message) {
  if (has_ids()) {
    stream_->send_message(id, message);
  } else {
    stream_->send_message({}, message, "message");
  }
}

void SessionStream::open(HttpConnection& connection, HttpResponse::Headers headers,
                         std::optional<EventId> last, bool primes, std::string_view first_event) {
  close({});
  // Before a client is fed, what the others have read must be acknowledged.
  context_.feed.acknowledge_read();
  stream_ = std::make_unique<EventStream>(context_, connection, std::move(headers));
  connection.set_responder(this);
  const bool is_ours = last && last->stream == number && store().has_given_out(*last);
  const bool resumed = is_ours && store().reaches_back_to(*last);
  if (is_ours) drop_received(*last);
  if (has_ids())
    stream_->announce(resumed ? EventId{} : store().next_id(number), primes && !resumed);
  if (!first_event.empty()) stream_->send(first_event);
  join(resumed);
  if (is_ours) replay(*last, resumed);
  pump();
  session_.stream_changed(true);
}

void SessionStream::join(bool resumed) {
  if (feed_ == RingFeed::none) return;
  reader_ = context_.feed.ring().join(context_.loop.wall_time());
  reader_->filter = filter_.get();
  if (!resumed || sent_from_ring_ == Sequence{}) return;
  // What was sent before is replayed from the store; what came since is for this client, also if
  // another one took it.
  const Sequence next = following(sent_from_ring_);
  reader_->joined = std::min(reader_->joined, next);
  reader_->next = std::max(reader_->next, next);
}

/// If events it has missed are lost, a new stream begins, but the responses are sent.
void SessionStream::replay(EventId last, bool resumed) {
  store().each_after(last, [&](const EventStore::Event& event) {
    if ((resumed || !event.answers.empty()) && !is_queued_again(event.id))
      stream_->send_again(event, filter_.get());
  });
}

void SessionStream::push(std::string message, std::string_view answers) {
  queued_bytes_ += message.size();
  queue_.push_back({std::move(message), context_.feed.ring().newest(), std::string(answers)});
  session_.load_changed();
  pump();
}

void SessionStream::push_ahead(std::string message, std::string_view answers) {
  queued_bytes_ += message.size();
  queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(sent_),
                {std::move(message), Sequence{}, std::string(answers)});
  session_.load_changed();
  pump();
}

/// Sends the next message; false if there is none.
bool SessionStream::send_next() {
  Ring& ring = context_.feed.ring();
  const bool has_queued = queued() > 0;
  const Sequence until = has_queued ? queue_[sent_].behind : ring.newest();
  if (const RingEntry* entry = reader_ ? ring.next_for(*reader_, until, lost_entries_) : nullptr) {
    const EventId id = store().next_id(number);
    if (has_ids()) store().keep(id, entry->sequence);
    send(id, message_of(*entry));
    sent_from_ring_ = std::max(sent_from_ring_, entry->sequence);
    Ring::advance(*reader_, *entry);
    return true;
  }
  if (!has_queued) return false;
  Queued& next = queue_[sent_];
  queued_bytes_ -= next.message.size();
  const EventId id = store().next_id(number);
  send(id, next.message);
  if (!has_ids()) {
    queue_.pop_front();
    return true;
  }
  if (next.sent_as) store().remove(*next.sent_as);
  store().keep(id, next.message, next.answers);
  next.sent_as = id;
  next.end = stream_->connection().position();
  unacknowledged_bytes_ += next.message.size();
  ++sent_;
  return true;
}

void SessionStream::forget_acknowledged() {
  if (!stream_ || sent_ == 0) return;
  const std::uint64_t acknowledged = stream_->connection().acknowledged();
  const std::size_t before = sent_;
  for (; sent_ > 0 && queue_.front().end <= acknowledged; --sent_) {
    unacknowledged_bytes_ -= queue_.front().message.size();
    queue_.pop_front();
  }
  if (sent_ != before) session_.load_changed();
}

/// The connection is gone: what was not acknowledged is sent again on the next one.
void SessionStream::put_back_unacknowledged() {
  forget_acknowledged();
  queued_bytes_ += std::exchange(unacknowledged_bytes_, 0);
  if (std::exchange(sent_, 0) > 0) session_.load_changed();
}

/// The client has received these, whatever the kernel reported.
void SessionStream::drop_received(EventId last) {
  std::erase_if(queue_, [&](const Queued& one) {
    if (!one.sent_as || one.sent_as->number > last.number) return false;
    queued_bytes_ -= one.message.size();
    return true;
  });
  session_.load_changed();
}

bool SessionStream::is_queued_again(EventId id) const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [id](const Queued& one) { return one.sent_as == id; });
}

void SessionStream::pump() {
  if (!stream_) return;
  // Ask before writing more: afterwards earlier bytes can no longer be told apart.
  acknowledge_read();
  forget_acknowledged();
  const std::size_t before = queued();
  while (stream_->connection().unsent() < window && send_next()) {
  }
  session_.note_lost(std::exchange(lost_entries_, 0));
  if (queued() != before) {
    session_.load_changed();
    context_.clients->sweep_by(context_.loop.now() + acknowledged_after);
  }
  drop_if_stuck();
}

// A slow reader is not stuck: its queue is bounded as for any client.
void SessionStream::drop_if_stuck() {
  forget_acknowledged();
  if (!stream_ || !stream_->is_stuck(queued() > 1 ? queued_bytes_ : 0)) return;
  context_.log.peer(LogLevel::warning, "stream dropped",
                    "an HTTP session's stream was dropped: it is not read (--http-stream-buffer)");
  ++context_.counts.stalled;
  stream_->drop();
  connection_lost(false);
}

void SessionStream::set_feed(RingFeed feed) {
  if (feed_ == feed) return;
  const bool takes_now = feed == RingFeed::takes;
  feed_ = feed;
  if (feed == RingFeed::none) {
    reader_.reset();
  } else if (stream_ && !reader_) {
    join(false);
  }
  if (takes_now && reader_) context_.feed.ring().take(*reader_);
  session_.load_changed();
}

void SessionStream::acknowledge_read() {
  if (!stream_ || !reader_ || reader_->acknowledged == reader_->next) return;
  if (!stream_->connection().peer_has_all()) return;
  reader_->acknowledged = reader_->next;
  if (feed_ == RingFeed::takes) context_.feed.ring().take(*reader_);
}

void SessionStream::leave_ring(bool has_read_all) {
  if (!reader_) return;
  if (has_read_all) reader_->acknowledged = reader_->next;
  if (feed_ == RingFeed::takes) context_.feed.ring().take(*reader_);
  reader_.reset();
}

void SessionStream::connection_lost(bool has_read_all) {
  leave_ring(has_read_all);
  put_back_unacknowledged();
  stream_.reset();
  session_.stream_changed(false);
}

void SessionStream::close(std::string_view last_comment) {
  if (!stream_) return;
  acknowledge_read();
  if (!last_comment.empty()) stream_->comment(last_comment);
  stream_->end();
  leave_ring(stream_->connection().peer_has_all());
  put_back_unacknowledged();
  stream_.reset();
}

SessionStream::Saved SessionStream::save() const { return {feed_, sent_from_ring_, queue_}; }

void SessionStream::restore(Saved saved) {
  feed_ = saved.feed;
  sent_from_ring_ = saved.sent_from_ring;
  queue_ = std::move(saved.queued);
  for (const Queued& one : queue_) queued_bytes_ += one.message.size();
}

}  // namespace bridge
