#pragma once

// Asio as the event loop uses it. Included only by the sources of event/.
#define ASIO_STANDALONE
#define ASIO_NO_DEPRECATED
#define ASIO_DISABLE_THREADS
// Asio 1.22 derives this from the headers that were included before its own.
#ifndef ASIO_HAS_STD_ALIGNED_ALLOC
#define ASIO_HAS_STD_ALIGNED_ALLOC 1
#endif

#include <asio/basic_waitable_timer.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <vector>

#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// Asio's part of an EventLoop, which owns it.
struct EventLoop::Kernel final : asio::io_context {
  using Executor = asio::io_context::executor_type;
  using Clock = std::chrono::steady_clock;

  Kernel() : asio::io_context(ASIO_CONCURRENCY_HINT_UNSAFE), alarm(*this) {}

  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> alarm;
  std::size_t waiting = 0;                        ///< watches that wait for an event
  std::vector<DescriptorWatch::State*> watchers;  ///< by descriptor
};

}  // namespace bridge
