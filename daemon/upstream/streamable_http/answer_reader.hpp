#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/answer_room.hpp"
#include "upstream/streamable_http/answer_stream.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/stream_messages.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Reads the answer to a message by its type, a body or a stream of events, and keeps its messages
/// until they are taken (BEHAVIOUR, "Streamable HTTP: answers").
///
/// A part of its Exchange; the loop's thread only. Memory: a JSON body or an SSE event of at most
/// --max-frame, whose reading may wait for room (AnswerRoom); the messages of one turn. What is too
/// large is a value, a Failure.
class AnswerReader final : private SseSink {
 public:
  /// All of them outlive this.
  AnswerReader(HttpContext& context, HttpTransfer& transfer, const Outgoing& message);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // The answer's stream.
  void begin_stream(const std::string& last_event_id);
  /// Null: it is not a stream.
  AnswerStream* stream() { return stream_.get(); }
  const AnswerStream* stream() const { return stream_.get(); }
  /// Whether a GET can name the last event.
  bool can_continue() const { return stream_ && stream_->can_continue(); }
  /// The event after which its stream can be resumed; empty: not possible, or not all messages were
  /// taken.
  std::string_view last_event() const;
  /// The event before the one that contained the last taken message; empty: none.
  std::string_view event_before() const { return messages_.event_id(); }

  // Reading.
  /// The body of a success begins.
  void begin_body();
  /// Whether reading waits, for the delivery of messages or for room. `is_settled`: it was
  /// answered.
  bool has_enough(bool is_settled);
  /// Bytes of the body. Returns why it cannot be read further.
  std::optional<Failure> read_bytes(std::string_view bytes);
  /// The body is the answer.
  void take_body();
  /// Counts in --max-buffered what it and the message's body hold.
  void count_held();
  /// Nothing more comes of this response.
  void end_response() { held_.end(); }
  /// The response only says that the answer comes on another stream.
  void drop_response();
  /// Nothing more comes at all. Messages can be taken still.
  void end_answer();
  void drop_messages() { messages_.clear(); }
  /// Its client does not read.
  void set_paused(bool paused);
  /// AnswerRoom::admit() has named it, or its messages were taken.
  void read_on() {
    if (!is_paused_) transfer_.proceed();
  }

  // What has come.
  /// The next received message; empty: none.
  std::optional<ReceivedText> next_message() {
    if (messages_.empty() && !held_.is_held()) read_on();
    return messages_.next_message();
  }
  bool has_messages() const { return !messages_.empty(); }
  /// Bytes of a message that is not complete.
  std::size_t accumulated() const {
    return transfer_.body().size() + (stream_ ? stream_->parser.pending_bytes() : 0);
  }
  bool something_came() const { return something_came_; }
  /// An earlier process has received something of it.
  void restore_something_came(bool came) { something_came_ = came; }
  /// Whether more than one short message came, so that the message is not sent again. (A short
  /// first one may be an error that leads to another session: HttpUpstream::take_back.)
  bool is_final() const { return is_final_; }
  /// Whether it waits for room in --max-buffered.
  bool is_held() const { return held_.is_held(); }

 private:
  /// Bytes of undelivered messages above which reading waits for their delivery, so that receivers
  /// can pause.
  static constexpr std::size_t most_undelivered = 256 << 10;

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds delay) override;
  void on_oversized_event() override { has_oversized_event_ = true; }

  /// The size of the response's body; 0: unknown.
  std::size_t announced() const;

  HttpContext& context_;
  HttpTransfer& transfer_;
  const Outgoing& message_;
  StreamMessages messages_;  ///< each with the id of the event before its own
  // Rare data is allocated separately, because one is made for each call.
  std::unique_ptr<AnswerStream> stream_;  ///< if the answer is a stream
  HeldAnswer held_;
  bool something_came_ = false;
  bool is_final_ = false;
  bool is_paused_ = false;
  bool has_oversized_event_ = false;  ///< in the bytes being read
};

}  // namespace bridge
