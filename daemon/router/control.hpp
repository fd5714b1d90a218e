#pragma once

#include <functional>
#include <string>

#include "jsonrpc/frame.hpp"

namespace bridge {

/// Answers the control methods, `bridge/*`: implemented above the router, which keeps their order
/// and delivers what they say.
class Control {
 public:
  /// Called once with the whole response, in a turn: at once or later. A client that has left
  /// meanwhile gets nothing; the call is harmless then.
  using Reply = std::function<void(std::string response)>;

  /// `request` is valid only during the call.
  virtual void answer(const Frame& request, Reply reply) = 0;

 protected:
  ~Control() = default;
};

}  // namespace bridge
