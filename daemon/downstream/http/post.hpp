#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "downstream/http/face_context.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/session_stream.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "http/server/http_connection.hpp"
#include "mcp/handshake.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A POST whose requests are being answered, by one JSON body or by an event stream that ends with
/// the last answer (MCP, Streamable HTTP). Answers are found by their ids, in whatever order they
/// come.
///
/// One of a downstream session belongs to that session, which is the client. Any other is a client
/// itself until the router finishes it: it is not fed from the ring and is asked nothing, since it
/// could not answer. A caller that leaves cancels a modern request, also by closing its writing
/// side alone, since that cannot be told apart; legacy requests go on, in a session into its store,
/// to be resumed, or onto its stream. What a modern `subscriptions/listen` was told of the ring
/// counts as taken once the caller's kernel has acknowledged it; with 64 KiB unsent it is told no
/// more.
///
/// Owned by its session, else by the face; the loop's thread only. Memory: what its caller does not
/// read: over --client-buffer the router pauses, over --http-stream-buffer it is dropped in time.
class Post final : public ClientChannel, public HttpResponder {
 public:
  struct Asked {
    IdSet ids;
    std::vector<std::string> answers{};  ///< known already: faults of an array's elements
    bool is_batch = false;
    AnswerForm form = AnswerForm::json;
    bool primes = false;   ///< its client knows events without data
    bool listens = false;  ///< it is a modern `subscriptions/listen`
    /// The session that its `initialize` opens: named in the head of the answer, unless that is an
    /// error. Until then nothing is sent.
    std::string new_session{};
    HttpResponse::Headers headers{};

    template <class A>
    void each_field(A& archive) {
      archive(ids, answers, is_batch, form, primes, archive.not_saved(listens),
              archive.not_saved(new_session), headers);
    }
  };
  /// In an upgrade, with the connection on which its caller waits for a body.
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

  Post(FaceContext& context, DownstreamSession& session);
  /// A client itself; `agent` is its User-Agent, printable, and `remote` its address.
  Post(FaceContext& context, Era era, std::string agent, std::string remote);
  /// One of the previous process. `connection` is null if no caller waits on it.
  Post(FaceContext& context, DownstreamSession& session, Saved saved, HttpConnection* connection);
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  /// Its caller waits on this connection. Without one the answers go to /mcp/stream.
  void begin(HttpConnection& connection, Asked asked);

  bool awaits(std::string_view raw_id) const { return asked_.ids.contains(raw_id); }
  /// Sends what comes before an answer; false if it cannot be sent here.
  bool send_before_answer(const std::string& message);
  /// Whether a question would reach the caller now: on a stream that a connection carries.
  bool can_ask() const { return stage_ == Stage::streaming || may_become_stream(); }
  bool listens() const { return asked_.listens && connection_ != nullptr; }

  /// It is a stream, which another connection may carry on.
  bool can_resume() const { return stage_ == Stage::streaming || stage_ == Stage::broken; }
  /// The caller is there, or had the head of its answer.
  bool has_caller() const { return connection_ != nullptr || stage_ == Stage::broken; }
  /// When its caller last took something of a stream; nothing if there is none.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  /// Bytes that give_up() frees: collected answers, or a stream that no session counts.
  std::size_t reclaimable_bytes() const;

  /// A connection that resumes its stream after `last`. REQUIRES: can_resume().
  void resume(HttpConnection& connection, HttpResponse::Headers headers, EventId last);
  /// The ring's entries that the caller has acknowledged are taken.
  void acknowledge_read();
  /// A body that is late is a stream from now on, if the caller takes one, or 504. Drops a caller
  /// that takes nothing.
  void sweep(SteadyTime now);
  /// --max-buffered is used up: 503, or the stream is dropped.
  void give_up();
  /// When to look at it; nothing if it has all the time.
  std::optional<SteadyTime> due() const;
  /// Its session or the daemon ends: a stream with a last comment, a body with `refusal`.
  void close(std::string_view last_comment, const HttpResponse& refusal);

  // In an upgrade: http_face_upgrade.cpp.
  /// If its caller takes a stream it gets one now.
  void become_stream();
  /// Its caller may come again for the rest.
  void detach(std::string_view last_comment);
  /// Its caller waits on this connection for a body, which the next process sends.
  bool moves_with(const HttpConnection& connection) const {
    return connection_ == &connection && stage_ == Stage::waiting && survives_upgrade({});
  }
  Saved save() const;

  /// Names its stream in event ids.
  std::uint64_t number() const { return number_; }

  void send(std::string) override {}
  void send_ahead(std::string) override {}
  void answer(std::string_view raw_id, std::string frame, AnswerOrder order) override;
  void send_about(std::string_view raw_id, std::string frame) override;
  void send_entry(std::string_view raw_id, std::string frame, Sequence entry) override;
  void no_answer(std::string_view raw_id) override;
  bool can_be_asked(std::string_view) const override { return false; }
  bool answers_unasked() const override;
  bool survives_upgrade(std::string_view) const override;
  void set_feed(RingFeed) override {}
  void finish() override;
  std::size_t queued_bytes() const override { return stream_ ? stream_->connection().unsent() : 0; }
  bool congested() const override { return client_->congested; }
  const ClientIdentity& identity() const override { return client_->identity; }
  std::string command() const override { return client_->agent; }

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
  /// An entry of the ring, told of by what stands before `end` (HttpConnection::position()).
  struct Told {
    Sequence entry;
    std::uint64_t end;
  };
  /// What it is to the router outside of a session.
  struct Client {
    Era era;
    std::string agent;
    ClientIdentity identity;
    std::deque<Told> told{};  ///< as much as the kernel and the connection's window hold
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

  FaceContext& context_;
  DownstreamSession* session_;            ///< null: it is a client itself
  std::optional<Client> client_;          ///< then
  HttpConnection* connection_ = nullptr;  ///< while it waits or streams
  std::uint64_t number_;
  Asked asked_;
  std::unique_ptr<EventStream> stream_;  ///< while it streams
  ByteBudget::Share share_;              ///< of the answers that wait for the last one
  SteadyTime began_;
  Stage stage_ = Stage::for_later;
  Deferred leaving_;
};

}  // namespace bridge
