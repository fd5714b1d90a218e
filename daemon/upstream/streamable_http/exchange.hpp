#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "http/client/http_transfer.hpp"
#include "upstream/streamable_http/answer_meaning.hpp"
#include "upstream/streamable_http/answer_reader.hpp"
#include "upstream/streamable_http/exchange_state.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/sent_message.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class HttpUpstream;

/// One message under way: a POST, its response, and if the response's stream breaks and can be
/// resumed, the GETs that continue it (MCP 2025-11-25, "Resumability and Redelivery"; BEHAVIOUR,
/// "Streamable HTTP: streams that break"). Decides at the end of each response what follows.
///
/// Owned by the ExchangeTable; the loop's thread only. Memory: the message until the first message
/// of its response (afterwards it is never sent again; while the buffers are full, only until the
/// response begins), and what its AnswerReader holds.
/// Ends on its own, or by close(), which closes the response stream at once.
class Exchange final : private TransferReceiver {
 public:
  Exchange(HttpContext& context, HttpUpstream& owner, Outgoing&& message);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Sends it as a POST.
  void post();
  /// An earlier process did that: asks for the stream of its answer.
  void resume();
  /// Whether the next process can receive the answer: by resuming its stream, or on the server
  /// stream if that is resumed.
  bool survives_upgrade(bool server_stream_resumes) const;
  /// REQUIRES: survives_upgrade().
  SavedMessage save_message() const;
  /// Instead of post(). REQUIRES: constructed with this message.
  void restore(const SavedMessage& saved);
  /// Upstream::treat(). What the bridge itself does not read is not late, within bounds:
  /// MessageClock.
  void treat(Treatment how);
  /// The answer has arrived.
  void settle();
  /// The session is over: check_time() ends what waits for a stream of it.
  void session_over() { state_.session_over(); }
  /// Ends it silently.
  void close();
  /// HttpContext::has_server_stream() has changed.
  void server_stream_changed() { state_.server_stream_changed(); }
  /// Ends it with this failure.
  void fail(Failure failure);
  /// Resumes, times out or ends draining when due; `next`: when to call again.
  void check_time(SteadyTime now, SteadyTime& next);

  /// How it ended. REQUIRES: it has, all messages taken.
  Ending take_ending();
  /// The message, to be sent again though it was answered; nullopt if its bytes are gone.
  std::optional<Outgoing> take_back();
  /// Its token was refused: whether another one may be accepted.
  bool refuse_token() { return sent_.refuse_token(); }

  const ExchangeState& state() const { return state_; }
  const SentMessage& sent() const { return sent_; }
  AnswerReader& answer() { return answer_; }
  const AnswerReader& answer() const { return answer_; }
  UpstreamId id() const { return sent_.message().id; }
  const ResponseHead& head() const { return transfer_.head(); }
  /// Whether its answer has an id that names the session from now on. A late answer may name an old
  /// one.
  bool names_session() const;

 private:
  using Phase = ExchangeState::Phase;

  void continue_stream();
  void head_line_received(bool complete) override;
  void body_begins() override;
  bool body_received(std::string_view bytes) override;
  bool has_enough() override { return answer_.has_enough(state_.is_settled()); }
  void transfer_progressed(bool done, int result) override;

  void transfer_done(int result);
  CompleteAnswer complete_answer() const;
  void answer_complete();
  void refused();
  void accepted();
  bool try_to_continue();
  bool follow_redirection();
  bool has_unusable_event_id() const;

  bool is_given_back() const;
  void time_out(SteadyTime now);
  void end_without_session();
  void end_in_vain();
  void finish();
  void finish(Failure&& failure);
  void end_failed(bool give_back);
  /// Sets how it will end. From within curl: curl then ends the transfer.
  void note_failure(Failure&& failure);

  HttpContext& context_;
  HttpUpstream& owner_;
  SentMessage sent_;
  ExchangeState state_;
  AnswerReader answer_;
  std::unique_ptr<Ending> failed_end_;  ///< if it has failed, or will; allocated because rare
  HttpTransfer transfer_;
};

}  // namespace bridge
