#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "downstream/http/face_context.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/session_stream.hpp"
#include "event/event_loop.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "http/server/http_connection.hpp"
#include "mcp/tool_headers.hpp"
#include "router/client_channel.hpp"

namespace bridge {

// What a POST of MCP 2026-07-28 must be before the router sees it, and the status of what it is
// answered with (MCP 2026-07-28, Streamable HTTP). Pure.

/// Whether the head says no revision, or one that is known in either era.
bool names_known_version(const RequestHead& head);

/// 400 with the -32022 that names all revisions. REQUIRES: !names_known_version().
HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted);

/// Whether the head says the revision that has neither sessions nor streams of their own.
bool names_modern_version(const RequestHead& head);

/// Whether it speaks the revision without sessions: a request in it says its revision, or else the
/// head says that one. An `initialize` that does not say it opens a legacy session all the same
/// ("Versioning: Backward Compatibility").
bool is_modern(const RequestHead& head, const PostedMessages& posted);

/// Why it is refused, under the id of its request: no single request or notification, head and body
/// that do not agree ("Server Validation"; `known` are the tools whose parameters have headers), a
/// revision that is not served, no `_meta`. REQUIRES: is_modern().
std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known);

/// The status of a response that comes as one body: 404 with -32601, 400 with the errors that MCP
/// itself defines, else 200.
int status_of_answer(std::string_view response);

/// A request of MCP 2026-07-28, which has no session: its POST is the client, and its response is
/// all that this client is told (MCP 2026-07-28, Streamable HTTP). One JSON body, or an event
/// stream as soon as something comes before the answer, or when that takes longer than
/// --sse-keepalive. The response to a `subscriptions/listen` is its stream: what of the ring it was
/// told counts as taken once the caller's kernel has acknowledged it; with 64 KiB unsent it is told
/// nothing more for now. Its end is the client's: a caller that closes cancels, also by its writing
/// side alone, since that cannot be told apart.
///
/// Owned by the face, known to the router until one of the two ends it; the loop's thread only.
/// Memory: what its caller does not read: over --client-buffer the router pauses, over
/// --http-stream-buffer it is dropped in time.
class ModernPost final : public ClientChannel, public HttpResponder {
 public:
  struct Asked {
    std::string raw_id;
    bool listens = false;         ///< it is a `subscriptions/listen`
    bool takes_streams = true;    ///< Accept allows one
    bool prefers_stream = false;  ///< and ranks it first
    EventStream::Headers headers{};
  };

  ModernPost(FaceContext& context, HttpConnection& connection, Asked asked, std::string agent);
  ~ModernPost();
  ModernPost(const ModernPost&) = delete;
  ModernPost& operator=(const ModernPost&) = delete;

  bool listens() const { return asked_.listens && connection_ != nullptr; }
  /// What of the ring the caller has acknowledged is taken.
  void acknowledge_read();
  /// A response that is late becomes a stream, or 504. Lets go of a caller that takes nothing.
  void sweep(SteadyTime now);
  /// Its caller reads too slowly: the connection ends.
  void give_up();
  /// When to look at it; nothing if it has all the time.
  std::optional<SteadyTime> due() const;
  /// The daemon ends: a stream with a last comment, else with `refusal`.
  void close(std::string_view last_comment, const HttpResponse& refusal);

  void send(std::string) override {}
  void send_ahead(std::string) override {}
  void answer(std::string_view request_id, std::string frame, AnswerOrder order) override;
  void send_about(std::string_view request_id, std::string frame) override;
  void send_entry(std::string_view request_id, std::string frame, Sequence entry) override;
  void no_answer(std::string_view request_id) override;
  bool can_be_asked(std::string_view) const override { return false; }
  void set_feed(RingFeed) override {}
  void finish() override;
  std::size_t queued_bytes() const override;
  bool congested() const override { return congested_; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return agent_; }

  void connection_drained() override;
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override { return true; }

 private:
  /// An entry of the ring, told of by what stands before `end` (HttpConnection::position()).
  struct Told {
    Sequence entry;
    std::uint64_t end;
  };

  void begin_stream();
  void emit(const std::string& message);
  void take_told_before(std::uint64_t position);
  void load_changed();
  void drop_if_stuck();
  void leave();

  FaceContext& context_;
  HttpConnection* connection_;  ///< null: it was answered, or the caller has gone
  Asked asked_;
  std::string agent_;
  ClientIdentity identity_;
  std::unique_ptr<EventStream> stream_;
  std::deque<Told> told_;  ///< as much as the kernel and the connection's window hold
  SteadyTime began_;
  bool congested_ = false;
  Deferred leaving_;
};

}  // namespace bridge
