#pragma once

#include <memory>
#include <string>
#include <vector>

#include "downstream/http/face_context.hpp"
#include "downstream/http/pending_post.hpp"
#include "router/client_channel.hpp"

namespace bridge {

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
