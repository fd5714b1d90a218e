#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "event/deadline_timer.hpp"
#include "jsonrpc/frame.hpp"
#include "mcp/discovery.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// Of which era is the upstream? One `server/discover`, before the first `initialize`, tells (MCP
/// 2026-07-28, "Versioning and Compatibility"; BEHAVIOUR, "Eras: the probe").
///
/// Where a server may stay silent at a request that it does not know (stdio), the probe does not
/// keep the session shut: after `slow` the `initialize` is sent as well, and whichever is answered
/// with a result decides.
///
/// Owned by the session, which is told what was found; the loop's thread only.
class EraProbe {
 public:
  static constexpr std::chrono::seconds slow{2};

  class Events {
   public:
    /// It is modern, and this is its DiscoverResult.
    virtual void probe_found_modern(std::string discover_result) = 0;
    /// It is legacy; `for_good`: and is known to be from now on.
    virtual void probe_found_legacy(bool for_good) = 0;
    /// No answer for `slow`, where that may mean a legacy server.
    virtual void probe_is_slow() = 0;
    /// It does not tell: nobody could be reached, or the server turns everybody away, or speaks no
    /// version that the bridge speaks.
    virtual void probe_failed(Failure failure) = 0;

   protected:
    ~Events() = default;
  };

  EraProbe(EventLoop& loop, SessionSender& sender, Upstream& upstream, Events& events);

  /// Asks. It takes as long as an `initialize` may: `wait`.
  void begin(std::chrono::milliseconds wait);
  /// The try at a session that begins now does not ask.
  void leave_out();
  /// Gives the question up, if it is under way.
  void stop();
  /// The upstream itself is being ended: nothing is awaited any more.
  void forget();

  bool is_under_way() const { return stage_ == Stage::asking; }
  /// Whether the present try at a session has asked, or asks.
  bool was_asked() const { return stage_ != Stage::left_out; }
  bool awaits(UpstreamId id) const { return is_under_way() && id == asked_; }
  /// Whether this is the question itself, sent back: an echo, no server.
  bool is_echo(const Frame& frame) const;

  // REQUIRES: awaits() the request that was answered or has ended.
  void answered(const Frame& response);
  void ended(const Ending& ending);

 private:
  enum class Stage : std::uint8_t { left_out, asking, over };

  void ask();
  ProbeFailure failure_of_probe(const Failure& failure) const;
  void judge(const ProbeAnswer& answer, Failure failure, std::string result);
  void timed_out();

  SessionSender& sender_;
  Upstream& upstream_;
  Events& events_;
  Stage stage_ = Stage::left_out;     ///< of the present try
  UpstreamId asked_{};                ///< the question that is under way
  std::chrono::milliseconds left_{};  ///< of its time, after `slow`
  unsigned closed_connections_ = 0;   ///< of this opening's probes
  DeadlineTimer timer_;
};

}  // namespace bridge
