#pragma once

#include <cstdint>
#include <deque>
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
#include "mcp/handshake.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A POST whose requests are being answered, by one JSON body or by an event stream that ends with
/// the last response (MCP, Streamable HTTP). Responses are matched by id, in whatever order they
/// come.
///
/// A POST of a downstream session belongs to that session, which is the client. Any other is a
/// client itself until the router finishes it: it is not fed from the ring, and is not asked
/// anything, since it could not answer. A caller that leaves cancels a modern request, also by
/// closing only its writing side, since the two look the same; legacy requests continue: those of a
/// session into its store, to be resumed, or onto its stream. Ring entries sent to a modern
/// `subscriptions/listen` count as taken once the caller's kernel has acknowledged them; with 64
/// KiB unsent no more of them are sent.
///
/// Owned by its session, else by the frontend; the loop's thread only. Memory: what its caller has
/// not read: over --client-buffer the router pauses, over --http-stream-buffer it is dropped.
class Post final : public ClientChannel, public HttpResponder {
 public:
  struct Asked {
    IdSet ids;
    std::vector<std::string> answers{};  ///< known already: faults of an array's elements
    bool is_batch = false;
    AnswerForm form = AnswerForm::json;
    bool primes = false;   ///< its client supports events without data
    bool listens = false;  ///< a modern `subscriptions/listen`
    /// The session that its `initialize` opens: named in the head of the response, unless that is
    /// an error. Nothing is sent before the response.
    std::string new_session{};
    HttpResponse::Headers headers{};

    template <class A>
    void each_field(A& archive) {
      archive(ids, answers, is_batch, form, primes, archive.not_saved(listens),
              archive.not_saved(new_session), headers);
    }
  };
  /// For an upgrade, with the connection on which its caller waits for a body.
  struct Saved {
    std::uint64_t number = 0;
    Asked asked;
    bool is_stream = false;
    SteadyTime began{};
    std::optional<HttpConnection::Saved> connection;

    template <class A>
    void each_field(A& archive) {
      archive(number, asked, is_stream, began, connection);
    }
  };

  Post(FrontendContext& context, DownstreamSession& session);
  /// A client of its own; `agent` is its User-Agent, printable.
  Post(FrontendContext& context, Era era, std::string agent, ClientIdentity identity);
  /// A POST of the previous process. `connection` is null if no caller waits.
  Post(FrontendContext& context, DownstreamSession& session, Saved saved,
       HttpConnection* connection);
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  /// Its caller waits on this connection. Without a call the responses go to /mcp/stream.
  void begin(HttpConnection& connection, Asked asked);

  bool awaits(std::string_view raw_id) const { return asked_.ids.contains(raw_id); }
  /// Sends a message that precedes a response; false if it cannot be sent here.
  bool send_before_answer(const std::string& message);
  /// Whether a question would reach the caller now: on a stream with a connection.
  bool can_ask() const { return stage_ == Stage::streaming || may_become_stream(); }
  bool listens() const { return asked_.listens && connection_ != nullptr; }

  std::size_t queued_bytes() const { return stream_ ? stream_->connection().unsent() : 0; }
  /// It is a stream that another connection may resume.
  bool can_resume() const { return stage_ == Stage::streaming || stage_ == Stage::broken; }
  /// The caller is connected, or has received the head of its response.
  bool has_caller() const { return connection_ != nullptr || stage_ == Stage::broken; }
  /// When its caller last took bytes of a stream; nullopt without a stream.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  /// Bytes that give_up() frees: collected responses, or a stream that no session counts.
  std::size_t reclaimable_bytes() const;

  /// Resumes its stream after `last` on this connection. REQUIRES: can_resume().
  void resume(HttpConnection& connection, HttpResponse::Headers headers, EventId last);
  /// Marks the ring's entries that the caller has acknowledged as taken.
  void acknowledge_read();
  /// A late body becomes a stream, if the caller accepts one, or 504. Drops a caller that takes
  /// nothing.
  void sweep(SteadyTime now);
  /// --max-buffered is used up: answers 503, or drops the stream.
  void give_up();
  /// When to check it; nullopt without a deadline.
  std::optional<SteadyTime> due() const;
  /// Its session or the daemon ends: closes a stream with a last comment, a body with `refusal`.
  void close(std::string_view last_comment, const HttpResponse& refusal);

  // For an upgrade.
  bool survives_upgrade() const;
  /// Begins a stream if its caller accepts one.
  void become_stream();
  /// Its caller may come back for the rest.
  void detach(std::string_view last_comment);
  /// Whether its caller waits on this connection for a body, which the next process sends.
  bool moves_with(const HttpConnection& connection) const {
    return connection_ == &connection && stage_ == Stage::waiting && survives_upgrade();
  }
  Saved save() const;

  /// The number of its stream in event ids.
  std::uint64_t number() const { return number_; }

  /// The response to one of its requests.
  void answer(std::string_view raw_id, std::string message);

  void send(Delivery delivery) override;
  void no_answer(std::string_view raw_id) override;
  ChannelReach reach(std::string_view) const override { return {false, survives_upgrade()}; }
  void set_feed(RingFeed) override {}
  void finish() override;
  bool congested() const override { return client_->congested; }
  ChannelState state() const override;
  const ClientIdentity& identity() const override { return client_->identity; }
  std::string command() const override {
    return FrontendContext::command_of_caller(client_->identity, client_->agent);
  }

  void connection_drained() override;
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override {
    return session_ != nullptr || is_modern() || stage_ == Stage::streaming;
  }

 private:
  enum class Stage : std::uint8_t {
    for_later,  ///< no caller waits
    waiting,    ///< nothing is sent yet
    streaming,
    broken,  ///< its stream's connection is gone; another one may resume it
    gone,    ///< its caller left before anything was sent
    over,    ///< answered, or given up
  };
  /// A ring entry that was sent in the bytes before `end` (HttpConnection::position()).
  struct SentEntry {
    Sequence entry;
    std::uint64_t end;
  };
  /// Its state as a client of its own, outside of a session.
  struct Client {
    Era era;
    std::string agent;
    ClientIdentity identity;
    std::deque<SentEntry> sent_entries{};  ///< what the kernel and the connection's window hold
    bool congested = false;
  };

  bool is_modern() const { return client_ && client_->era == Era::modern; }
  ClientId client_id() const;
  EventStore* store() const;
  bool may_become_stream() const;
  bool may_send() const { return can_resume() || may_become_stream(); }
  void read_opening_answer(const std::string& answer);
  void begin_stream();
  void end_stream();
  void emit(const std::string& message, std::string_view answers = {});
  void take_told_before(std::uint64_t position);
  void load_changed();
  void drop_if_stuck();
  void drop_stream();
  std::vector<std::string> take_collected();
  void end_with(HttpResponse response);
  void end_if_answered();
  void set_over();
  void cancel(const std::vector<std::string>& raw_ids);
  void leave();

  FrontendContext& context_;
  DownstreamSession* session_ = nullptr;  ///< null: it is a client itself
  std::optional<Client> client_;          ///< set in that case
  HttpConnection* connection_ = nullptr;  ///< while it waits or streams
  std::uint64_t number_ = ++context_.last_post;
  Asked asked_;
  std::unique_ptr<EventStream> stream_;       ///< while it streams
  ByteBudget::Share share_{context_.budget};  ///< of the responses that wait for the last one
  SteadyTime began_ = context_.loop.now();
  Stage stage_ = Stage::for_later;
  Deferred leaving_{context_.loop, [this] { leave(); }};
};

}  // namespace bridge
