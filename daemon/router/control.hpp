#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/frame.hpp"

namespace bridge {

struct Client;

/// What the router must know of a control method.
struct ControlFacts {
  /// Params and answer may contain a secret: they are not shown to other clients.
  bool is_confidential = false;
  /// If unanswered at an upgrade, the new process handles the request again. It only reads.
  bool is_handled_again = false;
  /// It is handled before the client's next frame, also while the client does not read.
  bool is_done_at_once = false;
  /// The answer keeps its place among the client's messages; otherwise it overtakes them.
  bool is_answered_in_order = false;
};

/// Answers the control methods, `bridge/*`. Implemented above the router, which keeps their order
/// and delivers the answers.
class Control {
 public:
  /// Called once with the whole response, in a turn, at once or later. Harmless if the client has
  /// left meanwhile.
  using Reply = std::function<void(std::string response)>;

  /// Unknown methods have the defaults.
  virtual ControlFacts facts_of(std::string_view method) const {
    static_cast<void>(method);
    return {};
  }

  /// `request` and `asker` are valid only during the call.
  virtual void answer(const Frame& request, Client& asker, Reply reply) = 0;

  /// The client does not wait for this request: keeps its result as a job if possible, and answers
  /// through `reply` when there is one. Returns the job's id; empty: not kept, and `reply` is not
  /// called.
  virtual std::string keep_for_later(const Frame& request, Client& asker, const Reply& reply) {
    static_cast<void>(request);
    static_cast<void>(asker);
    static_cast<void>(reply);
    return {};
  }

  /// Fetches the server's list of tools, once for all that ask meanwhile. `done` gets a response
  /// with a result once the router has seen the list, else one with an error; never within this
  /// call. False: not possible.
  virtual bool list_tools(Reply done) = 0;

  // For answers that come later; called only for clients that wait for one.

  /// The client no longer waits for the answer to this request: its Reply is not called again.
  /// False if no such request waits.
  virtual bool cancel(const Client& asker, std::string_view raw_id) {
    static_cast<void>(asker);
    static_cast<void>(raw_id);
    return false;
  }
  /// The client answers nothing more, but still reads.
  virtual void client_half_closed(const Client& client) { static_cast<void>(client); }
  /// The client can be asked now.
  virtual void client_can_be_asked(const Client& client) { static_cast<void>(client); }
  /// The client's queue has room again.
  virtual void client_drained(Client& client) { static_cast<void>(client); }
  /// The client is gone.
  virtual void client_left(const Client& client) { static_cast<void>(client); }

 protected:
  ~Control() = default;
};

}  // namespace bridge
