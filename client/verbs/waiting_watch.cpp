#include "verbs/waiting_watch.hpp"

#include <utility>

#include "json/message.hpp"
#include "verbs/waiting_hint.hpp"

namespace client {
namespace {

constexpr std::string_view status_id = "1";

}  // namespace

WaitingWatch::WaitingWatch(Milliseconds timeout, Connect connect, Say say)
    : timeout_(timeout), connect_(std::move(connect)), say_(std::move(say)) {}

void WaitingWatch::take_sent(std::string_view bytes) { expect_answer(requests_.take_sent(bytes)); }

void WaitingWatch::take_end_of_sending() { expect_answer(requests_.take_end_of_sending()); }

void WaitingWatch::take_received(std::string_view bytes) {
  requests_.take_received(bytes);
  if (!requests_.empty()) return;
  look_at_.reset();
  look_.reset();
  said_ = false;
}

Deadline WaitingWatch::deadline() const {
  return Deadline::earlier(look_at_.value_or(Deadline()), look_ ? look_until_ : Deadline());
}

void WaitingWatch::wake() {
  if (look_) take_look();
  if (look_ && look_until_.passed()) look_.reset();  // a daemon that does not answer
  if (look_at_ && look_at_->passed()) begin_look();
}

void WaitingWatch::expect_answer(bool is_new) {
  if (is_new && !look_at_ && !said_) look_at_ = Deadline::after(timeout_);
}

void WaitingWatch::begin_look() {
  look_at_.reset();
  look_.reset();
  FileDescriptor daemon = connect_();
  if (!daemon) return;
  look_.emplace(std::move(daemon), -1);
  look_until_ = Deadline::after(timeout_);
  // What waits in the daemon stays there for those who take it.
  look_->queue(json::make_notification("bridge/peek", ""));
  look_->queue(json::make_request(status_id, "bridge/status", ""));
  take_look();
}

void WaitingWatch::take_look() {
  const Deadline at_once = Deadline::after(Milliseconds(0));
  Conversation::Event event = look_->next(at_once);
  for (; event == Conversation::Event::line; event = look_->next(at_once)) {
    const json::Message message = json::parse_message(look_->line());
    if (message.kind != json::Message::Kind::response || message.id != status_id) continue;
    const auto hint = describe_wait(message.result);
    look_.reset();
    if (!hint) return;
    look_at_.reset();
    said_ = true;
    return say_(*hint);
  }
  if (event != Conversation::Event::timed_out) look_.reset();
}

}  // namespace client
