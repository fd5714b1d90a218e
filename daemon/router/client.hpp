#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "mcp/handshake.hpp"
#include "router/client_channel.hpp"
#include "router/declared_answers.hpp"
#include "router/waiting_frames.hpp"
#include "router/watched_channel.hpp"

namespace bridge {

/// Of what a client declares, so much is said to the upstream in its name.
constexpr std::size_t longest_capabilities = 16u << 10;

/// What a client has said of itself.
struct ClientFacts {
  DeclaredAnswers declared;  ///< which requests of the upstream it answers
  std::string capabilities;  ///< of its `initialize`, as JSON; empty: it has sent none
  std::string info;          ///< clientInfo of it
  Era era = Era::legacy;     ///< of the last request that says it
  bool half_closed = false;
  bool peeks = false;  ///< it has sent `bridge/peek`
  bool seen_frame = false;
  bool seen_ordinary_frame = false;  ///< one that is not `bridge/*` or `server/discover`

  template <class A>
  void each_field(A& archive) {
    archive(declared, capabilities, info, era, half_closed, peeks, seen_frame, seen_ordinary_frame);
  }
};

/// What the router knows of one connected client. Each part of the router changes what is its own;
/// all may read.
struct Client : ClientFacts {
  Client(ClientChannel& channel_, const MessageTap& tap, ByteBudget& budget)
      : channel(channel_, tap),
        user(channel_.identity().user()),
        is_bridge(channel_.identity().kind == "bridge"),
        is_job(channel_.is_job()),
        waiting(budget),
        control(budget) {}

  /// In which era this message of it is written. A listen is modern without saying so.
  Era era_of(const Frame& frame) const {
    if (!frame.is_request()) return era;
    return frame.is_modern() || frame.method == "subscriptions/listen" ? Era::modern : Era::legacy;
  }
  ClientId id() const { return channel.identity().id; }
  bool is_observer() const { return seen_frame && !seen_ordinary_frame; }
  /// Requests that take one of its --client-inflight slots.
  std::size_t slots_taken() const { return in_flight.size() - waiting_for_answers; }
  /// It will send nothing more, and everything that it has sent has come to its end.
  bool is_done() const {
    return half_closed && waiting.empty() && in_flight.empty() && listens == 0 &&
           subscribing == 0 && !notification && control.empty() && control_unanswered.empty();
  }

  const WatchedChannel channel;
  const User user;
  const bool is_bridge;  ///< the bridge asks for a client of its own
  const bool is_job;     ///< ClientChannel::is_job

  // ClientFrames.
  WaitingFrames waiting;        ///< in the order they came, at most --client-buffer bytes
  bool waits_for_slot = false;  ///< it is in the queue for --max-inflight

  // ClientNotifications.
  struct NotificationUnderWay {
    UpstreamId id;
    SteadyTime since;
  };
  std::optional<NotificationUnderWay> notification;  ///< the next frame waits for its end

  // Listens.
  std::size_t subscribing = 0;  ///< its `resources/subscribe` that are not answered yet
  std::size_t listens = 0;      ///< its `subscriptions/listen` requests; at most --client-inflight

  // RequestsInFlight.
  std::vector<UpstreamId> in_flight;    ///< its requests; slots_taken(): --client-inflight
  std::size_t waiting_for_answers = 0;  ///< those of them that wait for an answer to a question

  // ControlRequests.
  WaitingFrames control;  ///< those that it had sent when reading from it stopped
  struct UnansweredControl {
    std::uint64_t number;  ///< of all control requests
    std::string raw_id;    ///< raw JSON
    std::string again;     ///< the frame, if the new process handles it after an upgrade
    bool is_delivery;      ///< the response to a request that became a job: Collectors
  };
  std::vector<UnansweredControl> control_unanswered;
};

}  // namespace bridge
