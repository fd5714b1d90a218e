#include "event/descriptor_watch.hpp"

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <utility>

namespace bridge {

// Shared with the handlers under way, which outlive the watch for as long as the loop needs to
// deliver their cancellation.
struct DescriptorWatch::State {
  State(EventLoop& given, int descriptor, std::function<void(Event)> action)
      : stream(given.context(), descriptor), loop(given), ready(std::move(action)) {}

  asio::posix::stream_descriptor stream;
  EventLoop& loop;
  std::function<void(Event)> ready;
  std::array<bool, 3> waiting{};
  bool registered_for_writing = false;  ///< by Asio, for good
  std::uint32_t generation = 0;         ///< handlers of an older one are cancelled
  bool alive = true;
};

namespace {

asio::posix::descriptor_base::wait_type wait_type_of(DescriptorWatch::Event event) {
  switch (event) {
    case DescriptorWatch::Event::readable: return asio::posix::descriptor_base::wait_read;
    case DescriptorWatch::Event::writable: return asio::posix::descriptor_base::wait_write;
    case DescriptorWatch::Event::hung_up: break;
  }
  return asio::posix::descriptor_base::wait_error;
}

}  // namespace

DescriptorWatch::DescriptorWatch(EventLoop& loop, int descriptor, std::function<void(Event)> ready)
    : descriptor_(descriptor),
      state_(std::make_shared<State>(loop, descriptor, std::move(ready))) {}

DescriptorWatch::~DescriptorWatch() {
  state_->alive = false;
  std::error_code ignored;
  if (state_->stream.is_open()) state_->stream.close(ignored);
}

void DescriptorWatch::want(Event event) {
  State& shared = *state_;
  bool& waiting = shared.waiting[static_cast<std::size_t>(event)];
  if (waiting) return;
  // Once Asio has waited for writing it is told of every socket that can be written to, each time
  // it waits for reading: a turn of the loop for nothing. Registered anew it forgets that.
  const bool nothing_under_way = shared.waiting == std::array<bool, 3>{};
  if (event != Event::writable && shared.registered_for_writing && nothing_under_way) {
    shared.stream.assign(shared.stream.release());
    shared.registered_for_writing = false;
  }
  waiting = true;
  shared.registered_for_writing = shared.registered_for_writing || event == Event::writable;
  state_->stream.async_wait(
      wait_type_of(event),
      [state = state_, event, generation = state_->generation](const std::error_code& error) {
        if (generation != state->generation) return;
        state->waiting[static_cast<std::size_t>(event)] = false;
        if (error || !state->alive) return;
        const EventLoop::Turn turn(state->loop);
        state->ready(event);
      });
}

void DescriptorWatch::cancel() {
  ++state_->generation;
  state_->waiting.fill(false);
  std::error_code ignored;
  state_->stream.cancel(ignored);
}

int DescriptorWatch::release() {
  ++state_->generation;
  state_->alive = false;
  state_->stream.release();
  return descriptor_;
}

}  // namespace bridge
