#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/message_tap.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// The router's hold on a client's channel: whatever is sent through it can be watched. Not owned.
class WatchedChannel {
 public:
  WatchedChannel(ClientChannel& channel, const MessageTap& tap) : channel_(channel), tap_(tap) {}

  /// The transport's side; what is sent there is seen by nobody.
  ClientChannel& transport() const { return channel_; }

  void send(std::string frame) const {
    see(frame);
    channel_.send(std::move(frame));
  }
  void answer(std::string_view request_id, std::string frame, AnswerOrder order,
              bool confidential = false) const {
    see(frame, confidential);
    channel_.answer(request_id, std::move(frame), order);
  }
  void send_about(std::string_view request_id, std::string frame) const {
    see(frame);
    channel_.send_about(request_id, std::move(frame));
  }
  void send_entry(std::string_view request_id, std::string frame, Sequence entry) const {
    see(frame);
    channel_.send_entry(request_id, std::move(frame), entry);
  }

  void no_answer(std::string_view request_id) const { channel_.no_answer(request_id); }
  bool can_be_asked(std::string_view request_id) const { return channel_.can_be_asked(request_id); }
  void request_starting(std::string_view request_id, UpstreamId id) const {
    channel_.request_starting(request_id, id);
  }
  std::optional<ResumePoint> resume_point(std::string_view request_id) const {
    return channel_.resume_point(request_id);
  }
  void request_asked(std::string_view request_id, std::string_view result) const {
    channel_.request_asked(request_id, result);
  }
  bool answers_unasked() const { return channel_.answers_unasked(); }
  bool pause_input() const { return channel_.pause_input(); }
  void release_input() const { channel_.release_input(); }
  void set_feed(RingFeed feed) const { channel_.set_feed(feed); }
  void give_back_feed() const { channel_.give_back_feed(); }
  std::size_t queued_bytes() const { return channel_.queued_bytes(); }
  bool congested() const { return channel_.congested(); }
  bool idle() const { return channel_.idle(); }
  bool acts_for_client(std::string_view request_id) const {
    return channel_.acts_for_client(request_id);
  }
  bool survives_upgrade(std::string_view request_id) const {
    return channel_.survives_upgrade(request_id);
  }
  const ClientIdentity& identity() const { return channel_.identity(); }
  std::string command() const { return channel_.command(); }

 private:
  void see(const std::string& frame, bool confidential = false) const {
    tap_.passed(Passage::to_client, channel_.identity().id, frame, confidential);
  }

  ClientChannel& channel_;
  const MessageTap& tap_;
};

}  // namespace bridge
