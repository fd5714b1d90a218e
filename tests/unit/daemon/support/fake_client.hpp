#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A client's channel that records its calls. Its abilities are set by the test.
class FakeClient final : public ClientChannel {
 public:
  explicit FakeClient(ClientId id, std::string kind = "unix", uid_t uid = 1000) {
    identity_.id = id;
    identity_.kind = std::move(kind);
    identity_.uid = uid;
  }

  // What it received.
  std::vector<std::string> lines;         ///< all frames, in the order in which a reader sees them
  std::vector<std::string> about;         ///< for each frame about a request, the id of the request
  std::vector<std::string> answered;      ///< the ids of its requests that were answered
  std::vector<std::string> not_answered;  ///< and of those that it has cancelled
  RingFeed feed = RingFeed::takes;
  std::shared_ptr<const RingFilter> filter;  ///< the filter of its ring entries
  std::uint64_t lost = 0;                    ///< entries pushed out before its listens came to them
  int gave_back = 0;                         ///< how often it gave back what it was fed
  bool input_paused = false;
  bool finished = false;

  // Its abilities.
  bool is_congested = false;
  std::size_t queued_bytes = 0;
  bool can_pause_input = true;
  bool reachable = true;
  bool takes_unasked = false;

  /// The lines since the last call.
  std::vector<std::string> take_lines() {
    std::vector<std::string> all = std::exchange(lines, {});
    return all;
  }
  /// The one line since the last call; empty if there were none or several.
  std::string take_line() {
    std::vector<std::string> all = take_lines();
    return all.size() == 1 ? std::move(all.front()) : std::string();
  }

  // ClientChannel.
  void send(Delivery delivery) override {
    if (delivery.kind == Delivery::Kind::response) {
      answered.emplace_back(delivery.request_id);
    } else if (delivery.kind != Delivery::Kind::message) {
      about.emplace_back(delivery.request_id);
    }
    lines.insert(delivery.order == AnswerOrder::ahead ? lines.begin() : lines.end(),
                 std::move(delivery.frame));
  }
  void no_answer(std::string_view request_id) override { not_answered.emplace_back(request_id); }
  ChannelReach reach(std::string_view) const override { return {reachable, true}; }
  bool pause_input(bool paused) override {
    input_paused = paused && can_pause_input;
    return can_pause_input;
  }
  void set_feed(RingFeed set) override { feed = set; }
  void show_only(std::shared_ptr<const RingFilter> shown) override { filter = std::move(shown); }
  void give_back_feed() override {
    feed = RingFeed::none;
    ++gave_back;
  }
  void note_lost(std::uint64_t entries) override { lost += entries; }
  void finish() override { finished = true; }
  bool congested() const override { return is_congested; }
  ChannelState state() const override { return {queued_bytes, false, takes_unasked}; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return "fake"; }

 private:
  ClientIdentity identity_;
};

}  // namespace bridge
