#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "call.hpp"
#include "event_stream.hpp"

namespace demo {

/// One session: its streams, its calls in progress, the requests it has sent to its client.
/// Thread-safe.
class Session {
 public:
  Session(std::string id, StreamRules rules);

  const std::string& id() const { return id_; }

  /// The stream that a GET opens.
  const std::shared_ptr<EventStream>& server_stream() const { return server_stream_; }
  /// For the response to one request. With event ids the last 256 can be found again.
  std::shared_ptr<EventStream> new_stream();
  std::shared_ptr<EventStream> find_stream(std::string_view key);

  /// Calls in progress, by the raw id of their request. A closed session cancels new ones at once.
  std::shared_ptr<Call> begin_call(std::string_view id);
  void end_call(const std::shared_ptr<Call>& call);
  void cancel(std::string_view id);
  std::size_t calls();

  /// The raw id of a request to the client, for which `call` waits; they count from 0.
  std::string expect_answer(const std::shared_ptr<Call>& call);
  void deliver_answer(std::string_view id, std::string_view body);

  std::uint64_t next_tick() { return ++ticks_; }
  std::uint64_t ticks() const { return ticks_; }

  /// Cancels the calls and, unless `keep_streams`, ends the streams.
  void close(bool keep_streams = false);

 private:
  using Calls = std::multimap<std::string, std::shared_ptr<Call>, std::less<>>;

  const std::string id_;
  const StreamRules rules_;
  const std::shared_ptr<EventStream> server_stream_;
  std::atomic<std::uint64_t> ticks_{0};
  std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t streams_made_ = 0;
  std::uint64_t requests_made_ = 0;
  std::deque<std::shared_ptr<EventStream>> streams_;
  Calls calls_;
  Calls waiting_;
};

}  // namespace demo
