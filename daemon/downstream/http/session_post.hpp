#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "downstream/http/post.hpp"

namespace bridge {

class DownstreamSession;

/// A POST of a downstream session, which is the client. If its caller leaves, its requests
/// continue: into the session's store, to be resumed, or onto the session's stream.
///
/// Owned by its session; the loop's thread only.
class SessionPost final : public Post {
 public:
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

  SessionPost(FrontendContext& context, DownstreamSession& session)
      : Post(context), session_(session) {}
  /// A POST of the previous process. `connection` is null if no caller waits.
  SessionPost(FrontendContext& context, DownstreamSession& session, Saved saved,
              HttpConnection* connection);

  /// The number of its stream in event ids.
  std::uint64_t number() const { return number_; }
  bool can_resume() const { return is_stream(); }
  /// Resumes its stream after `last` on this connection. REQUIRES: can_resume().
  void resume(HttpConnection& connection, HttpResponse::Headers headers, EventId last);

  // For an upgrade.
  bool survives_upgrade() const;
  /// Begins a stream if its caller accepts one.
  void become_stream() {
    if (may_become_stream()) begin_stream();
  }
  /// Its caller may come back for the rest.
  void detach(std::string_view last_comment);
  /// Whether its caller waits on this connection for a body, which the next process sends.
  bool moves_with(const HttpConnection& connection) const {
    return connection_ == &connection && stage_ == Stage::waiting && survives_upgrade();
  }
  Saved save() const;

 private:
  ClientId client_id() const override;
  EventStore* store() const override;
  void answer_elsewhere(std::string message) override;
  void cancel(const std::string& raw_id) override;
  void load_changed() override;
  void caller_left(bool) override { load_changed(); }  // unsent bytes now wait for no caller
  void ended() override;

  DownstreamSession& session_;
};

}  // namespace bridge
