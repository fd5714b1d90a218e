#pragma once

#include <string_view>

#include "connection/conversation.hpp"
#include "json/message.hpp"

namespace client {

/// What the daemon is told of us before our first message: that its ring is left alone
/// (bridge/peek), and that questions of the server are answered here (bridge/answers).
class Announcements {
 public:
  Announcements(Conversation& conversation, bool keep, bool can_ask)
      : conversation_(conversation),
        ring_(keep ? Ring::to_be_left : Ring::taken),
        can_ask_(can_ask) {}

  /// Roots are answered here too. REQUIRES: nothing was sent yet.
  void answer_roots() { has_roots_ = true; }

  /// A message of this method is going to be queued: queues what has to go before it.
  void before(std::string_view method, bool is_request);
  /// The conversation goes to another daemon, which has been told nothing.
  void start_over() {
    if (ring_ != Ring::taken) ring_ = Ring::to_be_left;
    is_said_ = false;
  }
  /// Whether a response is the answer to what was queued here; then it is taken.
  bool take(const json::Message& response);
  /// Until the daemon has read bridge/peek it gives us its ring, as to anybody who connects. All of
  /// that stays in the ring, so showing it would only be noise.
  bool is_skipping_ring() const { return ring_ != Ring::taken; }

 private:
  enum class Ring {
    taken,       // or left, and the daemon knows
    to_be_left,  // not said yet
    being_left,  // said, but perhaps not read
  };

  Conversation& conversation_;
  Ring ring_;
  void say_answers();

  bool can_ask_;
  bool has_roots_ = false;
  bool is_said_ = false;  // what is answered here
};

inline bool is_for_the_bridge(std::string_view method) { return method.starts_with("bridge/"); }

}  // namespace client
