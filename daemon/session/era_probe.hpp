#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/discovery.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// Does the upstream speak 2026-07-28? One `server/discover`, before the first modern request,
/// tells (MCP 2026-07-28, "Versioning and Compatibility"; BEHAVIOUR, "Eras: What a server speaks").
///
/// Owned by the modern EraSession, which is told what was found; the loop's thread only.
class EraProbe {
 public:
  class Events {
   public:
    /// It is modern, and this is its DiscoverResult.
    virtual void probe_found_modern(std::string discover_result) = 0;
    /// It is legacy; `for_good`: and is known to be from now on. `refusal`: what it answered.
    virtual void probe_found_legacy(bool for_good, Failure refusal) = 0;
    /// It does not tell: nobody could be reached, or the server turns everybody away, or speaks no
    /// version that the bridge speaks.
    virtual void probe_failed(Failure failure) = 0;

   protected:
    ~Events() = default;
  };

  EraProbe(EventLoop& loop, SessionSender& sender, Upstream& upstream, Events& events);

  /// Asks. It takes as long as an `initialize` may: `wait`.
  void begin(std::chrono::milliseconds wait);
  /// Gives the question up, if it is under way.
  void stop();
  /// The upstream itself is being ended: nothing is awaited any more.
  void forget();

  bool is_under_way() const { return is_under_way_; }
  bool awaits(UpstreamId id) const { return is_under_way() && id == asked_; }
  /// Whether this is the question itself, sent back: an echo, no server.
  bool is_echo(const Frame& frame) const;

  // REQUIRES: awaits() the request that was answered or has ended.
  void answered(const Frame& response);
  void ended(const Ending& ending);

 private:
  void ask();
  ProbeFailure failure_of_probe(const Failure& failure) const;
  void judge(const ProbeAnswer& answer, Failure failure, std::string result);
  void timed_out();

  SessionSender& sender_;
  Upstream& upstream_;
  Events& events_;
  bool is_under_way_ = false;
  UpstreamId asked_{};               ///< the question that is under way
  unsigned closed_connections_ = 0;  ///< of this opening's probes
  DeadlineTimer timer_;
};

}  // namespace bridge
