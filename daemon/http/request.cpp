#include "http/request.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "text/characters.hpp"
#include "text/loopback.hpp"
#include "text/trim.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_headers = 100;

bool is_token_character(char c) {
  constexpr std::string_view punctuation = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         punctuation.find(c) != punctuation.npos;
}

bool is_http_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = ascii_lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                           hex_digit(text[i + 2]) >= 0;
    if (is_escape) {
      result.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      result.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return result;
}

/// `METHOD SP target SP HTTP/1.x`; otherwise the reason why not.
HttpFault parse_request_line(std::string_view line, RequestHead& head) {
  const auto first = line.find(' ');
  const auto second = first == line.npos ? line.npos : line.find(' ', first + 1);
  if (second == line.npos) return {400, "no request line"};
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_http_token(method)) return {400, "no request line"};
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return version.starts_with("HTTP/") ? HttpFault{505, "HTTP/1.1 only"}
                                        : HttpFault{400, "no request line"};
  }
  const bool visible =
      std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (target.empty() || !visible) return {400, "a bad target"};
  if (const auto scheme = target.find("://"); target.front() != '/' && scheme != target.npos) {
    const auto path = target.find_first_of("/?", scheme + 3);
    head.authority = std::string(target.substr(scheme + 3, path - scheme - 3));
    if (head.authority.empty()) return {400, "a bad target"};
    target = path == target.npos ? std::string_view("/") : target.substr(path);
  }
  if (target.front() != '/' && target != "*") return {400, "a bad target"};
  const auto question = target.find('?');
  head.method = std::string(method);
  head.path = std::string(target.substr(0, question));
  if (question != target.npos) head.query = std::string(target.substr(question + 1));
  head.is_http_1_0 = version == "HTTP/1.0";
  return {};
}

HttpFault parse_header_line(std::string_view line, RequestHead& head) {
  if (!is_header_line(line)) return {400, "a bad header"};
  const auto colon = line.find(':');
  const std::string_view value = trimmed(line.substr(colon + 1), http_blanks);
  if (head.headers.size() == max_headers) return {431, "too many headers"};
  HttpHeader header;
  header.name = ascii_lower(line.substr(0, colon));
  header.value = std::string(value);
  head.headers.push_back(std::move(header));
  return {};
}

}  // namespace

bool is_header_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
}

bool is_header_line(std::string_view line) {
  const auto colon = line.find(':');
  return colon != line.npos && is_http_token(line.substr(0, colon)) &&
         is_header_value(line.substr(colon + 1));
}

std::string RequestHead::header(std::string_view name) const {
  std::string all;
  bool found = false;
  for (const HttpHeader& one : headers) {
    if (one.name != name) continue;
    if (found) all += ", ";
    all += one.value;
    found = true;
  }
  return all;
}

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(), [name](const HttpHeader& one) { return one.name == name; }));
}

bool RequestHead::header_has(std::string_view name, std::string_view word) const {
  const std::string all = header(name);
  std::string_view rest = all;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view element = rest.substr(0, comma);
    if (equal_ignoring_case(trimmed(element.substr(0, element.find(';')), http_blanks), word))
      return true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

std::optional<std::string> RequestHead::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    if (decoded(pair.substr(0, equals)) == name) {
      return equals == pair.npos ? std::string() : decoded(pair.substr(equals + 1));
    }
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return std::nullopt;
}

bool RequestHead::keeps_connection() const {
  if (header_has("connection", "close")) return false;
  return !is_http_1_0;  // 1.0 with keep-alive is not worth its rules
}

std::variant<RequestHead, HttpFault> parse_request_head(std::string_view text) {
  RequestHead head;
  bool is_first = true;
  for (;;) {
    const auto end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    if (line.find_first_of("\r\n") != line.npos) return HttpFault{400, "a bare CR or LF"};
    const HttpFault fault =
        is_first ? parse_request_line(line, head) : parse_header_line(line, head);
    if (fault.status != 0) return fault;
    is_first = false;
    if (end == text.npos) break;
    text.remove_prefix(end + 2);
  }
  const std::size_t hosts = head.count("host");
  if (hosts > 1 || (hosts == 0 && !head.is_http_1_0))
    return HttpFault{400, "exactly one Host is needed"};
  if (head.authority.empty()) return head;
  // The target takes precedence (RFC 9112, section 3.2.2).
  std::erase_if(head.headers, [](const HttpHeader& one) { return one.name == "host"; });
  head.headers.push_back({"host", head.authority});
  return head;
}

std::variant<BodyFraming, HttpFault> body_framing(const RequestHead& head) {
  const std::size_t lengths = head.count("content-length");
  BodyFraming framing;
  if (head.count("transfer-encoding") > 0) {
    if (lengths > 0) return HttpFault{400, "both Content-Length and Transfer-Encoding"};
    if (head.is_http_1_0) return HttpFault{400, "Transfer-Encoding in HTTP/1.0"};
    if (!equal_ignoring_case(head.header("transfer-encoding"), "chunked"))
      return HttpFault{501, "only chunked is understood"};
    framing.is_chunked = true;
    return framing;
  }
  if (lengths == 0) return framing;
  if (lengths > 1) return HttpFault{400, "several Content-Length"};
  const std::string value = head.header("content-length");
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, framing.length);
  if (error == std::errc::result_out_of_range) return HttpFault{413, "the body is too large"};
  if (value.empty() || error != std::errc() || stop != end)
    return HttpFault{400, "a bad Content-Length"};
  return framing;
}

namespace {

/// The type without its parameters, in lower case.
std::string type_of(std::string_view range) {
  range = range.substr(0, range.find(';'));
  std::string type;
  for (const char c : range) {
    if (c != ' ' && c != '\t')
      type.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return type;
}

/// The `q` of a range; 1 if it has none or an invalid one.
double quality_of(std::string_view range) {
  for (auto at = range.find(';'); at != range.npos; at = range.find(';', at + 1)) {
    std::string parameter(range.substr(at + 1));
    parameter.erase(std::remove_if(parameter.begin(), parameter.end(),
                                   [](char c) { return c == ' ' || c == '\t'; }),
                    parameter.end());
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
    char* end = nullptr;
    const double value = std::strtod(parameter.c_str() + 2, &end);
    return end == parameter.c_str() + 2 ? 1.0 : std::clamp(value, 0.0, 1.0);
  }
  return 1.0;
}

template <class Visit>
void each_range(std::string_view accept, Visit&& visit) {
  while (!accept.empty()) {
    const auto comma = accept.find(',');
    const std::string_view range = accept.substr(0, comma);
    const double quality = quality_of(range);
    if (quality > 0) visit(type_of(range), quality);
    accept = comma == accept.npos ? std::string_view() : accept.substr(comma + 1);
  }
}

}  // namespace

AnswerForm answer_form(std::string_view accept) {
  std::optional<double> stream;
  std::optional<double> json;
  bool stream_first = false;
  each_range(accept, [&](const std::string& type, double quality) {
    if (type == "text/event-stream" && !stream) {
      stream = quality;
      stream_first = !json;
    } else if (type == "application/json" && !json) {
      json = quality;
    }
  });
  if (!stream) return AnswerForm::json;
  if (!json || *stream > *json || (*stream == *json && stream_first)) return AnswerForm::stream;
  return AnswerForm::either;
}

bool accepts_stream(std::string_view accept) {
  bool accepted = accept.find_first_not_of(" \t") == accept.npos;
  each_range(accept, [&](const std::string& type, double) {
    accepted = accepted || type == "text/event-stream" || type == "text/*" || type == "*/*";
  });
  return accepted;
}

bool is_json_type(std::string_view content_type) {
  const std::string type = type_of(content_type);
  return type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

namespace {

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

}  // namespace

std::string host_name(std::string_view host) {
  const bool is_bracketed = host.starts_with("[");
  const auto end = host.find(is_bracketed ? ']' : ':');
  if (is_bracketed && end == host.npos) return {};
  const std::string_view name = is_bracketed ? host.substr(1, end - 1) : host.substr(0, end);
  const std::string_view port = host.substr(std::min(host.size(), end + (is_bracketed ? 1 : 0)));
  const bool is_port =
      port.starts_with(":") && port.find_first_not_of("0123456789", 1) == port.npos;
  return port.empty() || is_port ? ascii_lower(name) : std::string();
}

bool SiteCheck::admits_host(std::string_view host) const {
  const std::string name = host_name(host);
  const bool listed = std::any_of(hosts.begin(), hosts.end(), [&](const std::string& one) {
    return one == "*" || equal_ignoring_case(one, name);
  });
  return listed || is_loopback_host(name) || (!is_loopback && is_address(name));
}

bool SiteCheck::is_listed(std::string_view origin) const {
  return std::any_of(origins.begin(), origins.end(), [&](const std::string& one) {
    return one == "*" || equal_ignoring_case(one, origin);
  });
}

bool SiteCheck::admits_origin(std::string_view origin, std::string_view host) const {
  if (origin.empty() || is_listed(origin)) return true;
  const auto scheme = origin.find("://");
  return scheme != origin.npos && equal_ignoring_case(origin.substr(scheme + 3), host);
}

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
  // A client that ends its lines with LF alone would wait forever.
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

/// Whether `line_` now holds a whole line, with its end.
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

/// Handles a whole line, by the step it belongs to.
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
  // RFC 9112, section 7.1.1, permits blanks before an extension. They are rejected since parsers
  // differ in how they treat them; so are control characters.
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
