#pragma once

#include <optional>
#include <string>
#include <utility>

#include "http/client/http_transfer.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The message of an exchange, and the requests that are made for it: a POST sends it, GETs ask for
/// the rest of its answer's stream (BEHAVIOUR, "Streamable HTTP: requests").
///
/// A part of its Exchange; the loop's thread only. Memory: the message's body, until forget_body()
/// or drop_body().
class SentMessage {
 public:
  /// Both outlive this.
  SentMessage(HttpContext& context, HttpTransfer& transfer, Outgoing&& message)
      : context_(context), transfer_(transfer), message_(std::move(message)) {}

  const Outgoing& message() const { return message_; }
  bool is_request() const { return message_.kind == OutgoingKind::request; }
  /// Sent in a session, as in revisions before 2026-07-28; other messages stand alone.
  bool is_stateful() const { return message_.notes.stateful; }
  void lift_deadline() { message_.endless = true; }

  /// Prepares the transfer for the POST; curl is given a pointer to the body.
  void prepare_post();
  /// The same for a GET that resumes the answer's stream after this event.
  void prepare_get(const std::string& last_event_id);
  /// An earlier process has sent it.
  void restore();
  /// The transfer is over; its handle is still there.
  void note_end_of_post();
  /// Ends the request. Its handle is for the next one, unless it was set up for a large body.
  void close();

  /// Whether the POST may have been sent.
  bool was_reached() const { return reached_; }
  /// How the POST named its session.
  SessionNamedBy session_named_by() const { return session_named_by_; }
  /// The token of the last request was refused: whether another one may be accepted.
  bool refuse_token() { return context_.refuse_token(token_generation_, transfer_); }

  /// Frees the body, but not while curl sends it, nor if it may have to be sent again because its
  /// answer is awaited on another stream. REQUIRES: the answer has begun.
  void forget_body();
  void drop_body() { std::string().swap(message_.body); }
  Outgoing take_message() { return std::move(message_); }

 private:
  static int before_request(void* self, char*, char*, int, int);

  SessionNamedBy named_by() const;
  bool has_left() const;

  HttpContext& context_;
  HttpTransfer& transfer_;
  Outgoing message_;
  int token_generation_ = 0;  ///< AccessToken::generation of the last request's token
  SessionNamedBy session_named_by_ = SessionNamedBy::nothing;
  bool is_large_ = false;  ///< the POST's handle is set up for that
  bool reached_ = false;
  bool is_continued_ = false;  ///< the last request was a GET
};

}  // namespace bridge
