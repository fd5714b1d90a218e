#pragma once

#include <string_view>

#include "connection/deadline.hpp"

namespace client {

/// Sees what a relay carries, and does something beside it. Called by the relay, in its thread and
/// never from within a call of its own; whatever it does must not block. What it sees are pieces of
/// any size, in order.
class RelayObserver {
 public:
  virtual ~RelayObserver() = default;

  virtual void take_sent(std::string_view bytes) = 0;
  /// Nothing more is sent: what has no line break yet is a line.
  virtual void take_end_of_sending() = 0;
  /// As it came from the daemon.
  virtual void take_received(std::string_view bytes) = 0;

  /// What it is to be woken for: a descriptor that can be read (or -1), and a time.
  virtual int descriptor() const = 0;
  virtual Deadline deadline() const = 0;
  /// One of the two has come.
  virtual void wake() = 0;
};

}  // namespace client
