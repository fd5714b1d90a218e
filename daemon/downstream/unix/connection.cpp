#include "downstream/unix/connection.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "router/lost_notifications.hpp"

namespace bridge {
namespace {

/// Reads of one connection per turn; then the other connections have theirs.
constexpr int reads_per_turn = 2;
/// Whole buffers read from a peer that has closed: more than a socket holds.
constexpr int max_last_reads = 16;
/// How long feeding a new client waits for its first frame, which may say that it must not be fed
/// (BEHAVIOUR, "Eras: a modern client").
constexpr std::chrono::milliseconds first_frame_time{50};
constexpr std::size_t pieces_per_write = 64;
/// With all buffers full, a client that holds no more than this is still read: its control requests
/// and small calls do not fill them, and larger responses are paused.
constexpr std::size_t always_read = 64u << 10;

}  // namespace

ClientFeed::ClientFeed(ConnectionContext& context, Outbox& outbox, std::function<void()> overdue)
    : context_(context), outbox_(outbox), first_frame_(context.loop, std::move(overdue)) {}

void ClientFeed::restore(RingFeed kind, bool has_begun) {
  kind_ = kind;
  has_begun_ = has_begun;
}

void ClientFeed::await_first_frame() { first_frame_.set_after(first_frame_time); }

bool ClientFeed::begin() {
  if (std::exchange(has_begun_, true)) return false;
  first_frame_.clear();
  if (kind_ == RingFeed::none) return false;
  join();
  return true;
}

bool ClientFeed::set(RingFeed kind) {
  if (std::exchange(kind_, kind) == kind) return false;
  if (kind == RingFeed::none) {
    outbox_.stop_reading();
    return false;
  }
  if (!has_begun_) return false;
  join();
  take();
  return true;
}

void ClientFeed::give_back() {
  outbox_.give_back();
  kind_ = RingFeed::none;
}

void ClientFeed::acknowledge() {
  outbox_.acknowledge();
  take();
}

void ClientFeed::end(bool has_read_all) {
  if (has_read_all) outbox_.acknowledge();
  take();
  first_frame_.clear();
}

Connection::Connection(ConnectionContext& context, ClientEvents& events, ClientEnds ends,
                       ClientIdentity identity)
    : context_(context),
      events_(events),
      identity_(std::move(identity)),
      socket_(context.loop, ends, [this](DescriptorWatch::Event event) { on_ready(event); }),
      splitter_(context.limits.max_frame),
      outbox_(context.feed.ring()),
      feed_(context, outbox_, [this] { begin_feed(); }),
      share_(context.budget),
      unread_(context.shares, identity_.user()),
      stall_(context.loop, [this] {
        if (phase_ == Phase::lingering) {
          look_whether_read();
        } else {
          give_up();
        }
      }) {}

void Connection::give_up() {
  ++context_.counts.stalled;
  context_.log.peer(LogLevel::warning, "client stalled", {.client = identity_.id},
                    "a client has read nothing for {} ms with {} bytes queued, and {} of a message "
                    "received; disconnected",
                    context_.limits.stall.count(), outbox_.bytes(), splitter_.pending_bytes());
  leave(false);
}

std::optional<SteadyTime> Connection::unread_since() const {
  const bool is_waiting = outbox_.bytes() > 0 || splitter_.pending_bytes() > always_read;
  return is_waiting && phase_ != Phase::over ? std::optional(last_progress_) : std::nullopt;
}

bool Connection::may_read() const {
  return phase_ == Phase::open && !input_paused_ && !context_.paused && has_room();
}

/// Whether what is held, by this client and in all, lets more of its bytes in.
bool Connection::has_room() const {
  const bool over = context_.budget.over();
  if (!over && !context_.is_tight) return true;
  const std::size_t waiting = events_.waiting_bytes(identity_.id);
  // A message that was begun is read to its end before all buffers are full.
  return over ? share_.held() + waiting <= always_read
              : outbox_.memory() + waiting <= unread_.limit();
}

void Connection::start() {
  outbox_.take_position(context_.loop.wall_time());
  events_.client_connected(*this);
  feed_.await_first_frame();
  read_ready();
}

Connection::Saved Connection::save() const {
  const ClientEnds ends = socket_.ends();
  return {ends.in,       identity_,           phase_,           feed_.kind(),   feed_.has_begun(),
          input_paused_, socket_.was_reset(), splitter_.rest(), outbox_.save(), ends.out};
}

void Connection::restore(Saved saved) {
  phase_ = saved.phase;
  feed_.restore(saved.feed, saved.feed_begun);
  input_paused_ = saved.input_paused;
  socket_.set_reset(saved.reset);
  splitter_.restore(std::move(saved.input));
  outbox_.restore(std::move(saved.outbox));
  last_progress_ = context_.loop.now();
  if (phase_ == Phase::lingering) {
    stall_.set_after(linger_step_);
    return;
  }
  if (!feed_.has_begun()) feed_.await_first_frame();
  update_load();
  mark();
  wait_for_input();
}

/// The first frame has arrived, or is overdue: only now is it known whether to feed the client.
void Connection::begin_feed() {
  if (phase_ != Phase::over && feed_.begin()) mark();
}

void Connection::on_ready(DescriptorWatch::Event event) {
  switch (event) {
    case DescriptorWatch::Event::readable: read_ready(); break;
    case DescriptorWatch::Event::hung_up:
      if (socket_.has_hung_up()) {
        hung_up();
      } else {
        wait_for_input();
      }
      break;
    case DescriptorWatch::Event::writable:
      socket_.note_room();
      mark();
      break;
  }
}

void Connection::wait_for_input() {
  if (phase_ == Phase::over || phase_ == Phase::lingering) return;
  const bool reads = may_read();
  // A hang-up must be noticed also while nothing is read.
  socket_.want(reads ? DescriptorWatch::Event::readable : DescriptorWatch::Event::hung_up);
  if (reads || phase_ != Phase::open || has_room()) return;
  context_.held_back = true;
  context_.budget.await_room();
}

void Connection::limit_changed() {
  if (phase_ == Phase::over) return;
  update_load();
  wait_for_input();
}

void Connection::resume_reading() {
  if (phase_ == Phase::open) wait_for_input();
}

bool Connection::pause_input(bool paused) {
  if (std::exchange(input_paused_, paused) && !paused) resume_reading();
  return true;
}

void Connection::read_ready() {
  auto& buffer = context_.read_buffer;
  for (int reads = 0; reads < reads_per_turn && may_read(); ++reads) {
    const ssize_t length = socket_.receive(buffer.data(), buffer.size());
    if (length > 0) {
      const auto size = static_cast<std::size_t>(length);
      context_.counts.received_bytes += size;
      if (outbox_.bytes() == 0) last_progress_ = context_.loop.round_began();
      lines_received(std::string_view(buffer.data(), size));
      update_load();
      if (size < buffer.size()) break;  // the queue is empty, or almost
    } else if (length == 0) {
      end_of_input();
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      socket_.set_reset(true);  // ECONNRESET: the client left without having read all
      leave(false);
    }
  }
  wait_for_input();
}

void Connection::lines_received(std::string_view chunk) {
  while (auto line = splitter_.next(chunk)) {
    if (phase_ != Phase::open) return;
    if (auto* const whole = std::get_if<ReceivedText>(&*line)) {
      events_.client_line(identity_.id, std::move(*whole));
      begin_feed();
    } else if (std::holds_alternative<LineSplitter::Oversized>(*line)) {
      events_.client_oversized_line(identity_.id);
    }
  }
}

void Connection::end_of_input() {
  if (socket_.has_hung_up()) {
    leave(!outbox_.has_unacknowledged() || socket_.has_read_all());
    return;
  }
  if (auto last = splitter_.finish(); last && std::holds_alternative<ReceivedText>(*last))
    events_.client_line(identity_.id, std::get<ReceivedText>(std::move(*last)));
  begin_feed();
  phase_ = Phase::half_closed;
  update_load();
  events_.client_half_closed(identity_.id);
}

void Connection::acknowledge_read() {
  if (phase_ == Phase::over || !outbox_.has_unacknowledged()) return;
  if (socket_.has_read_all() && !socket_.has_hung_up()) feed_.acknowledge();
}

// A full close: complete lines that the socket still holds are handled, up to max_last_reads
// buffers of a peer that keeps sending without reading.
void Connection::hung_up() {
  auto& buffer = context_.read_buffer;
  for (int reads = 0; reads < max_last_reads; ++reads) {
    const ssize_t length = socket_.receive(buffer.data(), buffer.size());
    if (length > 0) {
      context_.counts.received_bytes += static_cast<std::size_t>(length);
      lines_received(std::string_view(buffer.data(), static_cast<std::size_t>(length)));
    } else if (length == 0 || errno != EINTR) {
      if (length < 0 && errno != EAGAIN) socket_.set_reset(true);
      break;
    }
  }
  leave(socket_.has_read_all());
}

void Connection::leave(bool has_read_all) {
  if (phase_ == Phase::over) return;
  const bool router_knows = phase_ == Phase::open || phase_ == Phase::half_closed;
  feed_.end(has_read_all);
  phase_ = Phase::over;
  unread_.release();
  stall_.clear();
  mark();
  if (router_knows) events_.client_left(identity_.id);
}

void Connection::abandon() {
  if (phase_ == Phase::over) return;
  acknowledge_read();
  phase_ = Phase::finishing;  // the router is not told
  leave(socket_.has_hung_up() && socket_.has_read_all());
}

// What a client of the Unix socket is sent, and whether it has read it.

void Connection::send(Delivery delivery) {
  if (delivery.order == AnswerOrder::ahead) {
    outbox_.push_ahead(std::move(delivery.frame));
  } else {
    if (outbox_.bytes() == 0) last_progress_ = context_.loop.round_began();
    outbox_.push(std::move(delivery.frame), delivery.entry);
  }
  update_load();
  mark();
}

void Connection::set_feed(RingFeed feed) {
  if (feed_.set(feed)) mark();
}

void Connection::finish() {
  if (phase_ == Phase::over) return;
  phase_ = Phase::finishing;
  outbox_.stop_at_newest();
  mark();
  wait_for_input();
}

void Connection::mark() {
  if (!std::exchange(marked_, true)) context_.dirty.push_back(this);
  context_.flush.schedule();
}

void Connection::flush() {
  marked_ = false;
  if (phase_ == Phase::over || socket_.is_full()) return;
  // After further writes an empty queue says nothing about what was written before.
  acknowledge_read();
  std::array<iovec, pieces_per_write> pieces{};
  for (;;) {
    const std::size_t count = outbox_.gather(pieces.data(), pieces.size());
    note_lost(outbox_.take_lost());
    if (count == 0) break;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) wanted += pieces[i].iov_len;
    const ssize_t written = socket_.write(pieces.data(), count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) {
      if (errno == ECONNRESET) socket_.set_reset(true);  // the kernel reports it only once
      hung_up();  // EPIPE: handles what the client still sent, and checks whether it had read all
      return;
    }
    if (written > 0) {
      context_.counts.sent_bytes += static_cast<std::size_t>(written);
      outbox_.consume(static_cast<std::size_t>(written));
      if (outbox_.bytes() > 0) last_progress_ = context_.loop.now();
      if (stall_.is_set()) stall_.set_after(context_.limits.stall);
    }
    if (written < 0 || static_cast<std::size_t>(written) < wanted) {
      const std::size_t left = wanted - (written < 0 ? 0 : static_cast<std::size_t>(written));
      if (!socket_.make_room(left)) break;
    }
  }
  update_load();
  if (context_.is_tight) wait_for_input();
  // The freed room may have let the last responses in: they are written first.
  if (phase_ == Phase::finishing && !socket_.is_full() && !marked_) linger();
}

// The client sees the end now. If it was sent notifications the connection stays until it is known
// whether it has read them. No event reports that: with both sides shut down poll() always says
// POLLHUP, so it is checked after 1 ms, 2 ms, 4 ms and so on. (A reader of a pipe sees the end only
// afterwards.)
void Connection::linger() {
  acknowledge_read();
  if (!outbox_.has_unacknowledged() || feed_.kind() == RingFeed::reads) {
    leave(true);
    return;
  }
  phase_ = Phase::lingering;
  socket_.shut_down();
  stall_.set_after(linger_step_);
}

void Connection::look_whether_read() {
  const bool has_read_all = socket_.has_read_all();
  linger_step_ *= 2;
  if (has_read_all || socket_.has_left() || linger_step_ > context_.limits.stall) {
    leave(has_read_all);
  } else {
    stall_.set_after(linger_step_);
  }
}

void Connection::update_load() {
  share_.set(outbox_.memory() + splitter_.pending_bytes());
  unread_.set(outbox_.memory());
  const std::size_t limit = context_.is_tight ? std::min(context_.limits.buffer, unread_.limit())
                                              : context_.limits.buffer;
  // A single frame is accepted whatever its size, while there is room.
  const bool over =
      outbox_.bytes() > limit && (outbox_.frames() > 1 || limit < context_.limits.buffer);
  const bool drained = outbox_.bytes() <= limit / 2;
  if (congested_ ? !drained : !over) return;
  congested_ = !congested_;
  if (congested_) {
    stall_.set_after(context_.limits.stall);
  } else if (phase_ != Phase::lingering) {
    stall_.clear();
  }
  if (phase_ == Phase::open || phase_ == Phase::half_closed) {
    events_.client_congestion(identity_.id, congested_);
  }
}

void Connection::note_lost(std::uint64_t entries) {
  report_lost(entries, identity_.id, context_.counts, context_.log);
}

}  // namespace bridge
