#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "downstream/http/face_context.hpp"
#include "downstream/http/session_stream.hpp"
#include "http/request.hpp"
#include "json/json_text.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class PendingPost;

/// The body of an answer: of one message that message, of an array of requests one array.
inline std::string answer_body(const std::vector<std::string>& answers, bool is_batch) {
  if (!is_batch) return answers.empty() ? std::string() : answers.front();
  std::string body = "[";
  for (const std::string& answer : answers) {
    if (body.size() > 1) body += ',';
    body += answer;
  }
  return body + ']';
}

/// `{"accepted":[…]}`, of raw ids.
inline std::string accepted_body(const std::vector<std::string>& raw_ids) {
  return R"({"accepted":)" + answer_body(raw_ids, true) + '}';
}

/// Ids of requests, found by what they mean: `"a"` and `"\\u0061"` are one. Pure; bounded by its
/// owner.
class IdSet {
 public:
  void insert(std::string raw_id) {
    std::string key = canonical_id(raw_id);
    ids_.emplace(std::move(key), std::move(raw_id));
  }
  bool contains(std::string_view raw_id) const { return ids_.contains(canonical_id(raw_id)); }
  /// Whether it was there.
  bool erase(std::string_view raw_id) { return ids_.erase(canonical_id(raw_id)) > 0; }
  bool empty() const { return ids_.empty(); }

  /// `visit` gets them as they were written, in no order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [key, raw_id] : ids_) visit(raw_id);
  }
  /// As they were written, in no order; none are left.
  std::vector<std::string> take_all() {
    std::vector<std::string> raw_ids;
    for (auto& [key, raw_id] : ids_) raw_ids.push_back(std::move(raw_id));
    ids_.clear();
    return raw_ids;
  }

  template <class A>
  void each_field(A& archive) {
    archive(ids_);
  }

 private:
  std::unordered_map<std::string, std::string> ids_;
};

/// The line that cancels a request whose caller was answered by an error.
std::string cancellation_of(std::string_view raw_id);

/// The client that has POSTed. It owns its POSTs.
class PostOwner {
 public:
  /// An answer, or what belongs to a request, that can no longer go with its POST.
  virtual void take_unsent(std::string message) = 0;
  /// What callers have not taken has become more or less.
  virtual void load_changed() = 0;
  /// Nobody waits for these requests any more: they have been answered by an error.
  virtual void abandon_requests(const std::vector<std::string>& raw_ids) = 0;
  /// It has been answered, or given up: to be reaped.
  virtual void post_over(PendingPost& post) = 0;

 protected:
  ~PostOwner() = default;
};

/// A POST whose requests are being answered: by one JSON body, or by an event stream that ends with
/// the last answer. Answers are found by their ids, in whatever order they come.
///
/// Owned by its client, until it says that it is over; the loop's thread only. A caller that has
/// gone does not end it: what was a stream goes on into the store, to be resumed; what was to be a
/// body is left to the owner.
class PendingPost final : public HttpResponder {
 public:
  struct Asked {
    IdSet ids;
    /// What is answered already: faults of an array's elements.
    std::vector<std::string> answers{};
    bool is_batch = false;
    AnswerForm form = AnswerForm::json;
    bool primes = false;  ///< its client knows events without data
    /// The session that its `initialize` opens: named in the head of the answer, unless that is an
    /// error. Until then nothing is sent.
    std::string new_session{};
    EventStream::Headers headers{};

    template <class A>
    void each_field(A& archive) {
      archive(ids, answers, is_batch, form, primes, archive.not_saved(new_session), headers);
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

  /// `store` is null where nothing can be resumed.
  PendingPost(FaceContext& context, HttpConnection& connection, EventStore* store, Asked asked,
              PostOwner& owner);
  /// One of the previous process. `connection` is null if nobody waits on it.
  PendingPost(FaceContext& context, HttpConnection* connection, EventStore& store, Saved saved,
              PostOwner& owner);
  ~PendingPost();

  /// Sends what can be sent before an answer.
  void begin();

  bool awaits(std::string_view raw_id) const { return asked_.ids.contains(raw_id); }
  /// REQUIRES: awaits(raw_id), for both.
  void answer(std::string_view raw_id, std::string message);
  void no_answer(std::string_view raw_id);
  /// What comes before an answer; false if it cannot be sent here.
  bool send(const std::string& message);
  /// Whether a question would reach the caller now: on a stream that a connection carries.
  bool can_ask() const;

  /// It is a stream, which another connection may carry on.
  bool can_resume() const { return is_stream_; }
  /// The caller is there, or had the head of its answer.
  bool has_caller() const { return connection_ != nullptr || is_stream_; }
  /// Bytes written that its caller's kernel has not taken.
  std::size_t unsent() const { return stream_ ? stream_->connection().unsent() : 0; }
  /// When its caller last took something of a stream; nothing if there is none.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  /// Bytes of answers that wait for the last one of their array.
  std::size_t collected() const { return share_.held(); }

  /// A connection that resumes its stream after `last`. REQUIRES: can_resume().
  void resume(HttpConnection& connection, EventStream::Headers headers, EventId last);
  /// A body that is late is a stream from now on, if the caller takes one, or 504. Lets go of a
  /// caller that takes nothing.
  void sweep(SteadyTime now);
  /// What is collected has no room any more: 503.
  void give_up();
  /// When to look at it; nothing if it has all the time.
  std::optional<SteadyTime> due() const;
  /// Its session or the daemon ends: a stream with a last comment, a body with `refusal`.
  void close(std::string_view last_comment, const HttpResponse& refusal);

  // In an upgrade: http_face_upgrade.cpp.
  /// If its caller takes a stream it gets one now.
  void become_stream();
  /// Its caller may come again for the rest.
  void let_go(std::string_view last_comment);
  /// Whether the next process can answer it.
  bool survives_upgrade() const;
  /// On this connection.
  bool goes_along_on(const HttpConnection& connection) const {
    return connection_ == &connection && !is_stream_ && survives_upgrade();
  }
  Saved save() const;

  /// Names its stream in event ids.
  std::uint64_t number() const { return number_; }

  void connection_drained() override { owner_.load_changed(); }
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override { return store_ != nullptr || stream_ != nullptr; }

 private:
  bool can_send() const;
  void read_opening_answer(const std::string& answer);
  void begin_stream();
  void emit(const std::string& message, std::string_view answers = {});
  void drop_if_stuck();
  void set_over();
  void end_if_answered();

  FaceContext& context_;
  HttpConnection* connection_;  ///< null: the caller has gone
  EventStore* store_;
  std::uint64_t number_;
  Asked asked_;
  PostOwner& owner_;
  std::unique_ptr<EventStream> stream_;
  ByteBudget::Share share_;  ///< of the answers that wait for the last one
  SteadyTime began_;
  bool is_stream_ = false;  ///< it began as one, or has become one
};

/// The client that a POST without a session is, for as long as its requests are in flight. It is
/// fed no notifications and asked nothing: it could not answer. A caller that goes away does not
/// end it.
///
/// Owned by the face, known to the router until that finishes it. Owns its POST. The loop's thread
/// only.
class SessionlessClient final : public ClientChannel, public PostOwner {
 public:
  SessionlessClient(FaceContext& context, std::string agent);

  /// The POST that waits for the answers. Without one they go to the subscribers of /mcp/stream.
  void begin_post(HttpConnection& connection, PendingPost::Asked asked);
  /// Null: nobody waits (any more).
  PendingPost* post() { return post_.get(); }

  void take_unsent(std::string) override {}
  void load_changed() override {}
  void abandon_requests(const std::vector<std::string>& raw_ids) override;
  void post_over(PendingPost& post) override;

  void send(std::string) override {}
  void send_ahead(std::string) override {}
  void answer(std::string_view request_id, std::string frame, AnswerOrder order) override;
  void send_about(std::string_view request_id, std::string frame) override;
  void no_answer(std::string_view request_id) override;
  bool can_be_asked(std::string_view) const override { return false; }
  bool answers_unasked() const override { return context_.options.fans_out_all; }
  void set_feed(RingFeed) override {}
  void finish() override;
  std::size_t queued_bytes() const override { return 0; }
  bool congested() const override { return false; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return agent_; }

 private:
  bool is_awaited(std::string_view request_id) const;

  FaceContext& context_;
  std::string agent_;
  ClientIdentity identity_;
  std::unique_ptr<PendingPost> post_;
};

}  // namespace bridge
