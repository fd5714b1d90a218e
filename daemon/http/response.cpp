#include "http/response.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace bridge {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::string response_head(const HttpResponse& response, ResponseFraming framing,
                          bool keeps_connection, std::string_view date) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  const auto add = [&head](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  };
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  if (framing == ResponseFraming::chunked) add("Transfer-Encoding", "chunked");
  if (framing == ResponseFraming::length && response.status != 204)
    add("Content-Length", fmt::format("{}", response.body.size()));
  for (const auto& [name, value] : response.headers) add(name, value);
  if (!date.empty()) add("Date", date);
  if (!keeps_connection) {
    add("Connection", "close");
  } else if (framing == ResponseFraming::chunked) {
    add("Connection", "keep-alive");  // the default, but SSE checklists ask for it
  }
  head += "\r\n";
  return head;
}

const std::string& DateHeader::at(std::time_t now) {
  if (now == made_) return text_;
  made_ = now;
  std::tm parts{};
  gmtime_r(&now, &parts);
  // strftime(3) is not used: its names depend on the locale.
  constexpr std::array<std::string_view, 7> days = {"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text_ = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                      days[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                      months[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                      parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text_;
}

std::string chunk_of(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

HttpResponse json_response(int status, std::string body) {
  return {status, "application/json", std::move(body), {}};
}

HttpResponse text_response(int status, std::string body) {
  return {status, "text/plain; charset=utf-8", std::move(body), {}};
}

}  // namespace bridge
