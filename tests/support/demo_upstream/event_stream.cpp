#include "event_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tcp_socket.hpp"

namespace demo {
namespace {

constexpr std::size_t kMaxUnsentBytes = 256U << 20U;
constexpr std::size_t kMaxStoredBytes = 16U << 20U;
constexpr std::size_t kMaxStoredEvents = 1000;
constexpr std::size_t kWriteBytes = 64U << 10U;

}  // namespace

std::string data_lines(std::string_view data) {
  std::string lines;
  lines.reserve(data.size() + 8);
  for (;;) {
    const auto end = data.find('\n');
    lines += "data: ";
    lines += data.substr(0, end);
    lines += '\n';
    if (end == std::string_view::npos) return lines;
    data.remove_prefix(end + 1);
  }
}

EventStream::EventStream(std::string key, StreamRules rules)
    : key_(std::move(key)), rules_(rules) {}

bool EventStream::append(std::string_view message, std::string_view event) {
  const std::lock_guard lock(mutex_);
  std::string bytes;
  if (!event.empty()) bytes = fmt::format("event: {}\n", event);
  if (rules_.event_ids) bytes += fmt::format("id: {}-{}\n", key_, last_number_ + 1);
  return push(bytes + data_lines(message) + '\n');
}

bool EventStream::append_raw(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  return push(std::string(bytes));
}

bool EventStream::push(std::string bytes) {
  if (finished_ || (ticket_ == 0 && !rules_.event_ids)) return false;
  if (!rules_.event_ids && bytes_ + bytes.size() > kMaxUnsentBytes) return false;
  bytes_ += bytes.size();
  events_.push_back({++last_number_, std::move(bytes)});
  while (rules_.event_ids && events_.size() > 1 &&
         (events_.size() > kMaxStoredEvents || bytes_ > kMaxStoredBytes)) {
    bytes_ -= events_.front().bytes.size();
    events_.pop_front();
  }
  // One signal is enough until the connection has caught up.
  if (ticket_ != 0 && last_number_ == next_) wakeup_.signal();
  return true;
}

void EventStream::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  wakeup_.signal();
}

bool EventStream::detach(BodyEnd how) {
  const std::lock_guard lock(mutex_);
  if (ticket_ == 0) return false;
  detach_ = how;
  wakeup_.signal();
  return true;
}

std::uint64_t EventStream::attach(int descriptor, std::optional<std::uint64_t> after) {
  const std::lock_guard lock(mutex_);
  if (ticket_ != 0 && !detach_ && !tcp::peer_is_gone(descriptor_)) return 0;
  // A connection that is still attached finds its ticket invalid and ends.
  wakeup_.signal();
  ticket_ = ++tickets_;
  descriptor_ = descriptor;
  detach_.reset();
  prime_ = rules_.event_ids && !after;
  next_ = std::min(after.value_or(last_number_), last_number_) + 1;
  return ticket_;
}

bool EventStream::attached() {
  const std::lock_guard lock(mutex_);
  return ticket_ != 0 && !detach_ && !tcp::peer_is_gone(descriptor_);
}

void EventStream::on_abandoned(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  abandoned_ = std::move(callback);
}

std::string EventStream::priming() const {
  return fmt::format("id: {}-{}\nretry: {}\ndata: \n\n", key_, next_ - 1, rules_.retry_ms);
}

EventStream::Batch EventStream::take(std::uint64_t ticket, std::size_t max_events) {
  const std::lock_guard lock(mutex_);
  Batch batch;
  if (ticket_ != ticket) {
    batch.end = BodyEnd::kGone;
    return batch;
  }
  if (prime_) batch.bytes = priming();
  prime_ = false;
  if (detach_) {
    batch.end = *detach_;
    return batch;
  }
  const auto first = events_.empty() ? last_number_ + 1 : events_.front().number;
  next_ = std::max(next_, first);
  while (next_ <= last_number_ && batch.events < max_events && batch.bytes.size() < kWriteBytes) {
    auto& event = events_[next_ - events_.front().number];
    batch.bytes += event.bytes;
    ++batch.events;
    ++next_;
    if (rules_.event_ids) continue;
    bytes_ -= event.bytes.size();
    events_.pop_front();
  }
  if (finished_ && next_ > last_number_) batch.end = BodyEnd::kClose;
  return batch;
}

void EventStream::leave(std::uint64_t ticket, BodyEnd end) {
  std::function<void()> abandoned;
  {
    const std::lock_guard lock(mutex_);
    if (ticket_ != ticket) {
      // This connection may have consumed the signal that was meant for its successor.
      wakeup_.signal();
      return;
    }
    ticket_ = 0;
    detach_.reset();
    if (rules_.event_ids) return;
    events_.clear();
    bytes_ = 0;
    if (end == BodyEnd::kGone) abandoned = abandoned_;
  }
  if (abandoned) abandoned();
}

BodyEnd EventStream::write_to(Sink& sink, std::uint64_t ticket, StreamPart part) {
  for (;;) {
    const auto batch = take(ticket, part.max_events);
    if (!batch.bytes.empty() && !sink.write(batch.bytes)) return BodyEnd::kGone;
    part.max_events -= batch.events;
    if (part.max_events == 0) return part.after;
    if (batch.end) return *batch.end;
    if (batch.events == 0 && !wakeup_.wait(sink.descriptor())) return BodyEnd::kGone;
  }
}

BodyWriter stream_body(std::shared_ptr<EventStream> stream, std::uint64_t ticket, StreamPart part) {
  // Detaches even if the body is never requested because the client left before the header.
  struct Attachment {
    std::shared_ptr<EventStream> stream;
    std::uint64_t ticket;
    BodyEnd end = BodyEnd::kGone;

    Attachment(std::shared_ptr<EventStream> of, std::uint64_t number)
        : stream(std::move(of)), ticket(number) {}
    ~Attachment() { stream->leave(ticket, end); }
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
  };
  auto attachment = std::make_shared<Attachment>(std::move(stream), ticket);
  return [attachment = std::move(attachment), part](Sink& sink) {
    attachment->end = attachment->stream->write_to(sink, attachment->ticket, part);
    return attachment->end;
  };
}

}  // namespace demo
