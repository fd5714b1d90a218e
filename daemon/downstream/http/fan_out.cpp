#include "downstream/http/fan_out.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "downstream/http/posted_messages.hpp"
#include "http/sse_parser.hpp"

namespace bridge {

class FanOut::Subscriber final : public HttpResponder {
 public:
  Subscriber(FanOut& owner, HttpConnection& connection, HttpResponse::Headers headers)
      : owner_(owner), stream_(owner.context_, connection, std::move(headers)) {
    connection.set_responder(this);
  }

  EventStream& stream() { return stream_; }

  void connection_drained() override {}
  void connection_lost(bool) override { owner_.remove(*this); }
  bool ends_with_input() const override { return true; }

 private:
  FanOut& owner_;
  EventStream stream_;
};

FanOut::FanOut(FrontendContext& context)
    : context_(context),
      store_(context.options.stream_buffer, context.budget),
      instance_(random_number()),
      seen_(context.feed.ring().newest()) {}

FanOut::~FanOut() = default;

void FanOut::subscribe(HttpConnection& connection, HttpResponse::Headers headers,
                       std::string_view last_event_id) {
  if (!std::exchange(used_, true)) seen_ = context_.feed.ring().newest();
  auto subscriber = std::make_unique<Subscriber>(*this, connection, std::move(headers));
  EventStream& stream = subscriber->stream();
  Subscriber* key = subscriber.get();
  subscribers_.emplace(key, std::move(subscriber));
  const auto last = parse_event_id(last_event_id);
  const bool may_look = context_.events.http_callers_may_look();
  if (may_look && last && last->stream == instance_ && store_.reaches_back_to(*last)) {
    stream.replay(store_, *last, filter_.get());
  } else {
    stream.announce(next_id(), false);
  }
}

void FanOut::publish_answer(const ClientIdentity& caller, const std::string& message,
                            bool is_later) {
  if (!is_later && !context_.options.fans_out_all) return;
  if (caller.grant) return;
  if (caller.kind == FrontendContext::local_http && context_.events.has_policy()) return;
  publish(message);
}

void FanOut::publish(const std::string& message) {
  if (!used_) return;
  if (!context_.events.http_callers_may_look()) return;
  const EventId id = next_id();
  store_.keep(id, message);
  send_to_all(id, message);
}

void FanOut::publish_about(const ClientIdentity& caller, const std::string& message,
                           bool is_later) {
  if (used_ && !is_request_text(message)) publish_answer(caller, message, is_later);
}

bool FanOut::has_onlooker() const {
  return context_.options.fans_out_all && !subscribers_.empty() &&
         context_.events.http_callers_may_look();
}

void FanOut::show_request(const std::string& line) {
  if (context_.options.fans_out_all) publish(line);
}

std::optional<SteadyTime> FanOut::end_quiet(SteadyTime now) {
  std::optional<SteadyTime> next;
  std::vector<Subscriber*> quiet;
  for (auto& [key, subscriber] : subscribers_) {
    const auto end = subscriber->stream().quiet_end();
    if (!end) break;
    if (*end <= now) {
      quiet.push_back(key);
    } else {
      next = next ? std::min(*next, *end) : end;
    }
  }
  for (Subscriber* one : quiet) {
    one->stream().end();
    remove(*one);
  }
  return next;
}

void FanOut::ring_grew() {
  if (!used_) return;
  context_.feed.ring().each_after(seen_, [this](const RingEntry& entry) {
    seen_ = entry.sequence;
    if (filter_ != nullptr && !(*filter_)(entry)) return true;
    const EventId id = next_id();
    store_.keep(id, entry.sequence);
    send_to_all(id, message_of(entry));
    return true;
  });
}

void FanOut::send_to_all(EventId id, std::string_view message) {
  if (subscribers_.empty()) return;
  const std::string event = sse_event(to_text(id), {}, message);
  std::vector<Subscriber*> overrun;
  for (auto& [key, subscriber] : subscribers_) {
    subscriber->stream().send(event);
    if (subscriber->stream().is_overrun()) overrun.push_back(key);
  }
  for (Subscriber* one : overrun) {
    context_.log.peer(
        LogLevel::warning, "stream dropped",
        "a subscriber of /mcp/stream was dropped: it does not read (--http-stream-buffer)");
    one->stream().drop();
    remove(*one);
  }
}

void FanOut::remove(Subscriber& subscriber) {
  if (auto node = subscribers_.extract(&subscriber)) context_.loop.reap(std::move(node.mapped()));
}

void FanOut::close_all(std::string_view last_comment) {
  for (auto& [key, subscriber] : subscribers_) {
    subscriber->stream().comment(last_comment);
    subscriber->stream().end();
  }
  subscribers_.clear();
}

void FanOut::restore(Saved saved) {
  instance_ = saved.instance;
  seen_ = saved.seen;
  used_ = saved.used;
  store_.restore(std::move(saved.store));
}

}  // namespace bridge
