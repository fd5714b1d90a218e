#include "http/request_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bridge {

void RequestReader::next() {
  step_ = Step::head;
  line_.clear();
  head_ = RequestHead();
  framing_ = BodyFraming();
  body_.clear();
  left_ = 0;
  trailer_bytes_ = 0;
}

RequestReader::Event RequestReader::failed(HttpFault fault) {
  fault_ = fault;
  step_ = Step::fault;
  return Event::fault;
}

RequestReader::Event RequestReader::advance(std::string_view& bytes) {
  switch (step_) {
    case Step::head: return read_head(bytes);
    case Step::body_of_length: return read_length(bytes);
    case Step::complete: return Event::complete;
    case Step::fault: return Event::fault;
    default: return read_chunks(bytes);
  }
}

RequestReader::Event RequestReader::read_head(std::string_view& bytes) {
  // An empty line before a request is tolerated (RFC 9112, section 2.2).
  if (line_ == "\r" && bytes.starts_with("\n")) {
    line_.clear();
    bytes.remove_prefix(1);
  }
  while (line_.empty() && bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const std::size_t before = line_.size();
  const std::size_t room = max_head + 1 - std::min(before, max_head);
  line_.append(bytes.substr(0, room));
  const auto end = line_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  // A client that ends its lines with LF alone would wait for ever.
  if (line_.find("\n\n", before == 0 ? 0 : before - 1) < end)
    return failed({400, "a bare CR or LF"});
  if (end == line_.npos) {
    if (line_.size() > max_head) return failed({431, "the head is too large"});
    bytes = {};
    return Event::more;
  }
  bytes.remove_prefix(end + 4 - before);
  line_.resize(end);
  return head_complete();
}

RequestReader::Event RequestReader::head_complete() {
  auto parsed = parse_request_head(line_);
  line_.clear();
  if (const auto* fault = std::get_if<HttpFault>(&parsed)) return failed(*fault);
  head_ = std::move(std::get<RequestHead>(parsed));
  const auto framing = body_framing(head_);
  if (const auto* fault = std::get_if<HttpFault>(&framing)) return failed(*fault);
  framing_ = std::get<BodyFraming>(framing);
  if (framing_.length > max_body_) return failed({413, "the body is too large"});
  left_ = framing_.length;
  step_ = framing_.is_chunked ? Step::chunk_size : Step::body_of_length;
  return Event::head;
}

RequestReader::Event RequestReader::read_length(std::string_view& bytes) {
  take_data(bytes);
  if (left_ > 0) return Event::more;
  step_ = Step::complete;
  return Event::complete;
}

void RequestReader::take_data(std::string_view& bytes) {
  const std::size_t size = std::min(left_, bytes.size());
  body_.append(bytes.substr(0, size), max_body_);
  bytes.remove_prefix(size);
  left_ -= size;
}

/// Whether `line_` holds a whole line now, with its end.
bool RequestReader::take_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  const std::size_t size = end == bytes.npos ? bytes.size() : end + 1;
  line_.append(bytes.substr(0, std::min(size, max_line + 1)));
  bytes.remove_prefix(size);
  return end != bytes.npos || (!line_.empty() && line_.back() == '\n');
}

RequestReader::Event RequestReader::read_chunks(std::string_view& bytes) {
  for (;;) {
    if (step_ == Step::chunk_data) {
      take_data(bytes);
      if (left_ > 0) return Event::more;
      step_ = Step::chunk_end;
    }
    const bool whole = take_line(bytes);
    if (line_.size() > max_line) return failed({400, "a chunk's line is too long"});
    if (!whole) return Event::more;
    if (!line_.ends_with("\r\n")) return failed({400, "a bare CR or LF"});
    line_.resize(line_.size() - 2);
    if (line_.find('\r') != line_.npos) return failed({400, "a bare CR or LF"});
    const Event event = chunk_size_line();
    line_.clear();
    if (event != Event::more) return event;
  }
}

/// What a whole line means where it stands.
RequestReader::Event RequestReader::chunk_size_line() {
  if (step_ == Step::chunk_end) {
    if (!line_.empty()) return failed({400, "a chunk without its end"});
    step_ = Step::chunk_size;
    return Event::more;
  }
  if (step_ == Step::trailer) {
    trailer_bytes_ += line_.size();
    if (trailer_bytes_ > max_line) return failed({431, "the trailer is too large"});
    if (!line_.empty()) return is_header_line(line_) ? Event::more : failed({400, "a bad trailer"});
    step_ = Step::complete;
    return Event::complete;
  }
  // RFC 9112, section 7.1.1, bears blanks before an extension. They are refused since parsers
  // differ in what they make of them; so are control characters.
  const auto semicolon = line_.find(';');
  const std::string_view digits = std::string_view(line_).substr(0, semicolon);
  if (semicolon != line_.npos && !is_header_value(std::string_view(line_).substr(semicolon)))
    return failed({400, "a bad chunk extension"});
  std::size_t size = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, size, 16);
  if (digits.empty() || (error != std::errc() && error != std::errc::result_out_of_range) ||
      stop != end) {
    return failed({400, "a bad chunk size"});
  }
  if (error == std::errc::result_out_of_range || size > max_body_ - body_.size()) {
    return failed({413, "the body is too large"});
  }
  left_ = size;
  step_ = size == 0 ? Step::trailer : Step::chunk_data;
  return Event::more;
}

}  // namespace bridge
