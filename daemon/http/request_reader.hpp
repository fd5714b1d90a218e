#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/request_head.hpp"
#include "json/arriving_text.hpp"

namespace bridge {

/// Cuts a connection's bytes into HTTP/1 requests, however they were chunked. A large body, most
/// likely of JSON, is checked while the rest of it is on its way.
///
/// Pure. Bounded: the head by max_head, the body by `max_body`, chunk sizes and trailers by
/// max_line. After `fault` the connection is of no further use: where its next request would begin
/// is not known.
class RequestReader {
 public:
  static constexpr std::size_t max_head = 32u << 10;
  static constexpr std::size_t max_line = 8u << 10;

  enum class Event {
    more,      ///< all bytes were used, and more are needed
    head,      ///< the head is there; go on for the body
    complete,  ///< the whole request is there; next() begins another
    fault,
  };

  explicit RequestReader(std::size_t max_body) : max_body_(max_body) {}

  /// Uses bytes from the front of `bytes` up to the next event.
  Event advance(std::string_view& bytes);
  void next();

  const RequestHead& head() const { return head_; }
  RequestHead take_head() { return std::move(head_); }
  ReceivedText take_body() { return body_.take(); }
  HttpFault fault() const { return fault_; }
  /// Whether a body follows the head. REQUIRES: the head is there.
  bool expects_body() const { return framing_.is_chunked || framing_.length > 0; }

  bool has_head() const { return step_ != Step::head; }
  /// Nothing of a request has come.
  bool is_idle() const { return step_ == Step::head && line_.empty(); }
  std::size_t pending_bytes() const { return line_.size() + body_.size(); }

 private:
  enum class Step {
    head,
    body_of_length,
    chunk_size,
    chunk_data,
    chunk_end,
    trailer,
    complete,
    fault
  };

  Event failed(HttpFault fault);
  Event read_head(std::string_view& bytes);
  Event head_complete();
  Event read_length(std::string_view& bytes);
  Event read_chunks(std::string_view& bytes);
  Event chunk_size_line();
  bool take_line(std::string_view& bytes);
  void take_data(std::string_view& bytes);

  std::size_t max_body_;
  Step step_ = Step::head;
  std::string line_;  ///< of the head, or of a chunk's size or trailer, as far as it came
  RequestHead head_;
  BodyFraming framing_;
  ArrivingText body_;
  std::size_t left_ = 0;  ///< of the body or the chunk
  std::size_t trailer_bytes_ = 0;
  HttpFault fault_;
};

}  // namespace bridge
