#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "downstream/http/post.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A POST outside of a session: a client of its own, until the router finishes it. It is not fed
/// from the ring, and is not asked anything, since it could not answer. Ring entries sent to a
/// `subscriptions/listen` count as taken once the caller's kernel has acknowledged them; with 64
/// KiB unsent no more of them are sent.
///
/// Owned by FrontendClients; the loop's thread only.
class LonePost final : public Post, public ClientChannel {
 public:
  /// What a caller that leaves does to its requests.
  enum class Leaving : std::uint8_t {
    changes_nothing,
    /// Also by closing only its writing side, since the two look the same (MCP 2026-07-28).
    cancels,
  };

  /// `agent` is its User-Agent, printable.
  LonePost(FrontendContext& context, Leaving leaving, std::string agent, ClientIdentity identity)
      : Post(context),
        leaving_cancels_(leaving == Leaving::cancels),
        agent_(std::move(agent)),
        identity_(std::move(identity)) {}

  bool listens() const { return asked_.listens && connection_ != nullptr; }
  void acknowledge_read() override;

  void send(Delivery delivery) override;
  void no_answer(std::string_view raw_id) override { not_answered(raw_id); }
  ChannelReach reach(std::string_view) const override { return {false, false}; }
  void set_feed(RingFeed) override {}
  void note_lost(std::uint64_t entries) override;
  void finish() override;
  bool congested() const override { return congested_; }
  ChannelState state() const override {
    return {queued_bytes(), false, !leaving_cancels_ && context_.options.fans_out_all};
  }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override {
    return FrontendContext::command_of_caller(identity_, agent_);
  }
  bool ends_with_input() const override { return leaving_cancels_ || Post::ends_with_input(); }

 private:
  /// A ring entry that was sent in the bytes before `end` (HttpConnection::position()).
  struct SentEntry {
    Sequence entry;
    std::uint64_t end;
  };

  ClientId client_id() const override { return identity_.id; }
  EventStore* store() const override { return nullptr; }
  void answer_elsewhere(std::string) override {}  // the fan-out has it
  void cancel(const std::string& raw_id) override;
  void load_changed() override;
  void caller_left(bool has_read_all) override;
  void ended() override {}
  void take_told_before(std::uint64_t position);
  void leave();

  const bool leaving_cancels_;
  const std::string agent_;
  const ClientIdentity identity_;
  std::deque<SentEntry> sent_entries_;  ///< what the kernel and the connection's window hold
  bool congested_ = false;
  Deferred leaving_{context_.loop, [this] { leave(); }};
};

}  // namespace bridge
