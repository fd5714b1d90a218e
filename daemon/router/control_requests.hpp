#pragma once

#include "jsonrpc/frame.hpp"
#include "router/control.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The `bridge/*` requests of clients. They wait for nothing but room in their own client's queue:
/// a client that does not read must not make the bridge fill it, so it is not read either.
class ControlRequests {
 public:
  explicit ControlRequests(const RouterContext& context) : context_(context) {}
  void set_control(Control& control) { control_ = &control; }

  void add(Client& client, Frame request);
  /// Its queue has room again.
  void answer_waiting(Client& client);

 private:
  void answer(Client& client, const Frame& request);

  const RouterContext context_;
  Control* control_ = nullptr;
};

}  // namespace bridge
