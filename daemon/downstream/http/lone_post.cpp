#include "downstream/http/lone_post.hpp"

#include <limits>
#include <utility>

#include "downstream/http/fan_out.hpp"
#include "downstream/http/frontend_clients.hpp"
#include "json/reply.hpp"
#include "router/lost_notifications.hpp"

namespace bridge {
namespace {

/// Bytes of ring entries given to a listen's connection at a time; the rest stays in the ring.
constexpr std::size_t listen_window = 64u << 10;

}  // namespace

void LonePost::send(Delivery delivery) {
  switch (delivery.kind) {
    case Delivery::Kind::message: break;  // a POST carries only what is about its requests
    case Delivery::Kind::about:
      context_.fan_out->publish_about(identity_, delivery.frame, stage_ == Stage::for_later);
      if (awaits(delivery.request_id)) send_before_answer(delivery.frame);
      break;
    case Delivery::Kind::entry:  // the fan-out's subscribers get it from the ring
      if (!awaits(delivery.request_id) || !send_before_answer(delivery.frame)) return;
      if (connection_ != nullptr)
        sent_entries_.push_back({delivery.entry, connection_->position()});
      break;
    case Delivery::Kind::response:
      context_.fan_out->publish_answer(identity_, delivery.frame, stage_ == Stage::for_later);
      answer(delivery.request_id, std::move(delivery.frame));
      break;
  }
}

void LonePost::note_lost(std::uint64_t entries) {
  report_lost(entries, identity_.id, context_.counts, context_.log);
}

void LonePost::acknowledge_read() {
  if (connection_ != nullptr && !sent_entries_.empty())
    take_told_before(connection_->acknowledged());
}

void LonePost::take_told_before(std::uint64_t position) {
  for (; !sent_entries_.empty() && sent_entries_.front().end <= position; sent_entries_.pop_front())
    context_.feed.ring().take(sent_entries_.front().entry);
}

void LonePost::load_changed() {
  const std::size_t limit = asked_.listens ? listen_window : context_.options.client_buffer;
  const std::size_t bytes = queued_bytes();
  if (congested_ ? bytes > limit / 2 : bytes <= limit) return;
  congested_ = !congested_;
  context_.events.client_congestion(identity_.id, congested_);
}

// Deferred: the router may be writing to this client at this moment.
void LonePost::caller_left(bool has_read_all) {
  if (has_read_all) take_told_before(std::numeric_limits<std::uint64_t>::max());
  if (leaving_cancels_) {
    leaving_.schedule();
  } else {
    load_changed();  // unsent bytes now wait for no caller
  }
}

void LonePost::cancel(const std::string& raw_id) {
  context_.events.client_line(identity_.id, cancellation_of(raw_id));
}

void LonePost::leave() {
  context_.events.client_left(identity_.id);
  context_.clients->post_over(*this);
}

void LonePost::finish() {
  leaving_.cancel();
  context_.clients->post_over(*this);
}

}  // namespace bridge
