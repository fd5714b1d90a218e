#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "downstream/http/frontend_context.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/session_stream.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// A POST whose requests are being answered, by one JSON body or by an event stream that ends with
/// the last response (MCP, Streamable HTTP). Responses are matched by id, in whatever order they
/// come. It belongs to a session (SessionPost), or is a client itself (LonePost).
///
/// The loop's thread only. Memory: what its caller has not read: over --client-buffer the router
/// pauses, over --http-stream-buffer it is dropped.
class Post : public HttpResponder {
 public:
  struct Asked {
    IdSet ids;
    std::vector<std::string> answers{};  ///< known already: faults of an array's elements
    bool is_batch = false;
    AnswerForm form = AnswerForm::json;
    bool primes = false;   ///< its client supports events without data
    bool listens = false;  ///< a `subscriptions/listen`
    /// An error response is also told by the status, so that a stream does not begin before it
    /// (MCP 2026-07-28, Streamable HTTP).
    bool status_tells_errors = false;
    /// The session that its `initialize` opens: named in the head of the response, unless that is
    /// an error. Nothing is sent before the response.
    std::string new_session{};
    HttpResponse::Headers headers{};

    template <class A>
    void each_field(A& archive) {
      archive(ids, answers, is_batch, form, primes, archive.not_saved(listens),
              archive.not_saved(status_tells_errors), archive.not_saved(new_session), headers);
    }
  };

  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  /// Its caller waits on this connection. Without a call the responses go to /mcp/stream.
  void begin(HttpConnection& connection, Asked asked);

  bool awaits(std::string_view raw_id) const { return asked_.ids.contains(raw_id); }
  /// Sends a message that precedes a response; false if it cannot be sent here.
  bool send_before_answer(const std::string& message);
  /// Whether a question would reach the caller now: on a stream with a connection.
  bool can_ask() const { return stage_ == Stage::streaming || may_become_stream(); }
  /// The response to one of its requests.
  void answer(std::string_view raw_id, std::string message);
  /// None comes to this one.
  void not_answered(std::string_view raw_id);

  std::size_t queued_bytes() const { return stream_ ? stream_->connection().unsent() : 0; }
  /// The caller is connected, or has received the head of its response.
  bool has_caller() const { return connection_ != nullptr || stage_ == Stage::broken; }
  /// When its caller last took bytes of a stream; nullopt without a stream.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  /// Bytes that give_up() frees: collected responses, or a stream that no session counts.
  std::size_t reclaimable_bytes() const;
  /// Marks the ring's entries that the caller has acknowledged as taken.
  virtual void acknowledge_read() {}

  /// A late body becomes a stream, if the caller accepts one, or 504. Drops a caller that takes
  /// nothing.
  void sweep(SteadyTime now);
  /// --max-buffered is used up: answers 503, or drops the stream.
  void give_up();
  /// When to check it; nullopt without a deadline.
  std::optional<SteadyTime> due() const;
  /// Its session or the daemon ends: closes a stream with a last comment, a body with `refusal`.
  void close(std::string_view last_comment, const HttpResponse& refusal);

  void connection_drained() override;
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override { return store() != nullptr || stage_ == Stage::streaming; }

 protected:
  enum class Stage : std::uint8_t {
    for_later,  ///< no caller waits
    waiting,    ///< nothing is sent yet
    streaming,
    broken,  ///< its stream's connection is gone; another one may resume it
    gone,    ///< its caller left before anything was sent
    over,    ///< answered, or given up
  };

  explicit Post(FrontendContext& context) : context_(context) {}
  ~Post();

  virtual ClientId client_id() const = 0;
  /// Where its stream is kept to be resumed; null: nowhere.
  virtual EventStore* store() const = 0;
  /// A response that no caller waits for here.
  virtual void answer_elsewhere(std::string message) = 0;
  /// Cancels a request whose caller was answered with an error.
  virtual void cancel(const std::string& raw_id) = 0;
  virtual void load_changed() = 0;
  /// `has_read_all`: it has all that was sent.
  virtual void caller_left(bool has_read_all) = 0;
  /// It was answered, or given up.
  virtual void ended() = 0;

  bool may_become_stream() const {
    return stage_ == Stage::waiting && asked_.form != AnswerForm::json &&
           asked_.new_session.empty();
  }
  /// It is a stream that another connection may resume.
  bool is_stream() const { return stage_ == Stage::streaming || stage_ == Stage::broken; }
  void begin_stream();
  void end_stream();

  FrontendContext& context_;
  HttpConnection* connection_ = nullptr;  ///< while it waits or streams
  std::uint64_t number_ = ++context_.last_post;
  Asked asked_;
  std::unique_ptr<EventStream> stream_;       ///< while it streams
  ByteBudget::Share share_{context_.budget};  ///< of the responses that wait for the last one
  SteadyTime began_ = context_.loop.now();
  Stage stage_ = Stage::for_later;

 private:
  void read_opening_answer(const std::string& answer);
  void emit(const std::string& message, std::string_view answers = {});
  void drop_if_stuck();
  void drop_stream();
  std::vector<std::string> take_collected();
  void end_with(HttpResponse response);
  void end_if_answered();
  void set_over();
};

}  // namespace bridge
