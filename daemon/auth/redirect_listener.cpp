#include "auth/redirect_listener.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "http/server/listening_port.hpp"

namespace bridge {
namespace {

int status_of(RedirectPage page) { return page == RedirectPage::unknown_address ? 400 : 200; }

std::string_view text_of(RedirectPage page) {
  switch (page) {
    case RedirectPage::logged_in: return "You are logged in. You can close this page.";
    case RedirectPage::not_logged_in:
      return "You are not logged in. The terminal says why. You can close this page.";
    case RedirectPage::unknown_address: break;
  }
  return "This is not the answer to a login that waits here.";
}

}  // namespace

HttpResponse redirect_page(RedirectPage page) {
  HttpResponse response;
  response.status = status_of(page);
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Cache-Control", "no-store"},
                      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"}};
  response.body = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcp-session-bridge</title>"
      "<p>{}</p></html>\n",
      text_of(page));
  return response;
}

namespace {

constexpr std::string_view redirect_path = "/callback";
constexpr std::size_t max_connections = 8;
constexpr std::size_t max_held = 1u << 20;
constexpr std::size_t max_body = 1;
constexpr std::chrono::seconds stall{10};

std::uint16_t port_of(const std::string& authority) {
  return static_cast<std::uint16_t>(std::stoul(authority.substr(authority.rfind(':') + 1)));
}

}  // namespace

std::optional<RedirectPlace> RedirectPlace::parse(const std::string& text) {
  const auto address = parse_listen_address(text);
  if (!address || (address->host != "localhost" && !address->is_loopback())) return std::nullopt;
  return RedirectPlace{address->host, address->port};
}

std::string RedirectPlace::uri(std::uint16_t at) const {
  const bool is_ipv6 = host.find(':') != host.npos;
  return fmt::format("http://{}{}{}:{}{}", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", at,
                     redirect_path);
}

RedirectListener::RedirectListener(EventLoop& loop, Log& log, const RedirectPlace& place,
                                   const std::vector<std::uint16_t>& ports, Take take)
    : loop_(loop), log_(log), take_(std::move(take)), budget_(max_held), flush_(loop, [this] {
        for (const auto& server : servers_) server->flush();
      }) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    try {
      open(place, ports[i]);
      return;
    } catch (const StartError&) {
      servers_.clear();
      if (i + 1 == ports.size()) throw;
    }
  }
}

RedirectListener::~RedirectListener() {
  if (browser_ != nullptr) browser_->set_responder(nullptr);
}

void RedirectListener::open(const RedirectPlace& place, std::uint16_t port) {
  const auto listen = [&](const std::string& host) {
    ListeningPort opened = ListeningPort::open({host, port});
    port = port_of(opened.authority);
    servers_.push_back(std::make_unique<HttpServer>(
        HttpConnectionContext{loop_, budget_, counts_, *this, flush_, max_body, stall},
        std::move(opened), nullptr, max_connections, log_));
  };
  if (place.host == "localhost") {
    listen("127.0.0.1");
    try {
      listen("::1");
    } catch (const StartError&) {
      // A machine without IPv6, where no browser comes that way; or somebody else's port, and then
      // the browser may end there: what it brings is of no use without the code verifier.
      log_.event(LogLevel::debug, "redirect", "[::1]:{} cannot be had for the redirect", port);
    }
  } else {
    listen(place.host);
  }
  for (const auto& server : servers_) server->start();
  uri_ = place.uri(port);
}

Admission RedirectListener::request_begins(const RequestHead& head, bool has_body) {
  Admission admission;
  if (head.path != redirect_path) {
    admission.refusal = text_response(404, "Not found\n");
  } else if (head.method != "GET" || has_body) {
    admission.refusal = text_response(405, "Method not allowed\n");
    admission.refusal->headers = {{"Allow", "GET"}};
  }
  return admission;
}

HttpResponse RedirectListener::refusal(int status, std::string_view reason) const {
  return text_response(status, std::string(reason) + "\n");
}

HttpResponse RedirectListener::refusal_while_overloaded() const {
  return text_response(503, "Too much at a time\n");
}

void RedirectListener::request(HttpConnection& connection, RequestHead head, ReceivedText) {
  if (browser_ == nullptr) {
    // It may be answered from within take_(), or later.
    browser_ = &connection;
    connection.set_responder(this);
    if (take_(head.query)) return;
    browser_ = nullptr;
    connection.set_responder(nullptr);
  }
  connection.respond(redirect_page(RedirectPage::unknown_address));
}

void RedirectListener::show(bool is_logged_in) {
  HttpConnection* const browser = std::exchange(browser_, nullptr);
  if (browser == nullptr) return;
  browser->set_responder(nullptr);
  browser->respond(
      redirect_page(is_logged_in ? RedirectPage::logged_in : RedirectPage::not_logged_in));
  for (const auto& server : servers_) server->flush();
}

}  // namespace bridge
