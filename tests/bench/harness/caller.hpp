#pragma once

#include <string>
#include <string_view>

#include "harness/descriptor.hpp"
#include "harness/http_head.hpp"

namespace bench {

/// How responses are delimited on a connection.
enum class Framing { http, line };

/// Collects one response at a time from a descriptor. At most one request is in flight, so bytes
/// after a response are an error. Costs the same for both framings, so that it cancels out of the
/// ratios.
class AnswerReader {
 public:
  explicit AnswerReader(Framing framing) : framing_(framing) {}

  /// One read; true when the response is complete. A non-blocking descriptor may have no data yet.
  bool read_some(int fd);
  std::string_view head() const { return std::string_view(buffer_).substr(0, extent_.head); }
  std::string_view body() const {
    return std::string_view(buffer_).substr(extent_.head, used_ - extent_.head);
  }
  void reset();

 private:
  bool is_whole();

  Framing framing_;
  std::string buffer_;  ///< its size is its capacity, so that reading does not fill it first
  std::size_t used_ = 0;
  HttpExtent extent_;
};

/// A connection on which requests are sent and answered one after the other, each in one write.
class Caller {
 public:
  Caller(Descriptor connection, Framing framing)
      : connection_(std::move(connection)), reader_(framing) {}
  /// Over two pipes.
  Caller(Descriptor from, Descriptor to, Framing framing)
      : connection_(std::move(from)), to_(std::move(to)), reader_(framing) {}

  /// The response, valid until the next call.
  std::string_view call(std::string_view request);
  /// The same; throws if the response has no result.
  void call_well(std::string_view request);

  void send(std::string_view request);
  bool read_some() { return reader_.read_some(connection_.get()); }
  const AnswerReader& reader() const { return reader_; }
  int descriptor() const { return connection_.get(); }

 private:
  Descriptor connection_;
  Descriptor to_;  ///< if it is a different one
  AnswerReader reader_;
};

/// Throws an error with the beginning of the response if it has no result.
void check_result(std::string_view answer);

}  // namespace bench
