#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/frame.hpp"

namespace bridge {

struct Client;

/// What the router has to know of a control method.
struct ControlFacts {
  /// Its params and its answer are not shown to other clients: there may be a secret in them.
  bool is_confidential = false;
  /// A request that waits for its answer is handled again by the new process after an upgrade. It
  /// only reads.
  bool is_handled_again = false;
  /// The answer keeps its place among what its client is sent; else it goes ahead of it.
  bool is_answered_in_order = false;
};

/// Answers the control methods, `bridge/*`: implemented above the router, which keeps their order
/// and delivers what they say.
class Control {
 public:
  /// Called once with the whole response, in a turn: at once or later. A client that has left
  /// meanwhile gets nothing; the call is harmless then.
  using Reply = std::function<void(std::string response)>;

  /// Of an unknown method the default.
  virtual ControlFacts facts_of(std::string_view method) const {
    static_cast<void>(method);
    return {};
  }

  /// `request` and `asker` are valid only during the call.
  virtual void answer(const Frame& request, Client& asker, Reply reply) = 0;

  /// A request that its client does not wait for is kept, and answered by `reply` when it has its
  /// answer. Returns the name under which it is kept; empty: it is not, and `reply` not called.
  virtual std::string keep_for_later(const Frame& request, Client& asker, const Reply& reply) {
    static_cast<void>(request);
    static_cast<void>(asker);
    static_cast<void>(reply);
    return {};
  }

  // What concerns answers that come later; only of clients that wait for one.

  /// It waits no more for the answer to the request of this id: its Reply is called no more. False
  /// if there is none such.
  virtual bool cancel(const Client& asker, std::string_view raw_id) {
    static_cast<void>(asker);
    static_cast<void>(raw_id);
    return false;
  }
  /// It will answer nothing more, but still reads.
  virtual void client_half_closed(const Client& client) { static_cast<void>(client); }
  /// It can be asked now, and could not before.
  virtual void client_can_be_asked(const Client& client) { static_cast<void>(client); }
  /// Its queue has room again.
  virtual void client_drained(Client& client) { static_cast<void>(client); }
  /// It is gone.
  virtual void client_left(const Client& client) { static_cast<void>(client); }

 protected:
  ~Control() = default;
};

}  // namespace bridge
