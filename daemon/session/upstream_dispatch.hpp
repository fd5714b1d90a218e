#pragma once

#include <optional>
#include <string_view>

#include "base/log.hpp"
#include "json/frame.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
#include "session/session_events.hpp"
#include "session/session_sender.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Hands what the transport reports to the session that it concerns: a response, an end or a
/// notification to the one that sent the request, everything else to that with the server's stream.
///
/// Owned by Session; the loop's thread only.
class UpstreamDispatch final : public UpstreamEvents {
 public:
  /// All of it outlives this; `events` is set before the first message is sent.
  UpstreamDispatch(Upstream& upstream, EraSessions& sessions, const EraChoice& choice,
                   const OwnMessages& own, MessageTap& tap, Log& log, SessionEvents* const& events)
      : sides_(sessions), choice_(choice), own_(own), tap_(tap), log_(log), events_(events) {
    upstream.set_events(*this);
  }

  AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                    ReceivedText message) override;
  void message_ended(UpstreamId id, Ending ending) override;
  void server_stream_changed(ServerStream state) override {
    sides_.legacy.server_stream_changed(state);
  }
  void server_stream_refused(SessionVerdict verdict) override {
    sides_.legacy.server_stream_refused(verdict);
  }
  void upstream_reachable() override;
  void upstream_lost_session() override;

 private:
  EraSession& sender_of(UpstreamId id);
  EraSession& side_of_message(std::optional<UpstreamId> origin, const Frame& frame);
  EraSession& side_without_origin();
  void note_spelling(const Frame& frame);

  EraSessions& sides_;
  const EraChoice& choice_;
  const OwnMessages& own_;
  MessageTap& tap_;
  Log& log_;
  SessionEvents* const& events_;
  bool says_other_spelling_ = false;  ///< logged once per daemon
};

}  // namespace bridge
