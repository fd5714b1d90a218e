#include "auth/browser_login.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/recent_secrets.hpp"
#include "base/contains.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/start_error.hpp"
#include "http/client/web_url.hpp"
#include "http/request.hpp"
#include "http/server/http_server.hpp"
#include "text/base64.hpp"
#include "text/secret_forms.hpp"
#include "text/trim.hpp"

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
  if (!address || !address->is_loopback()) return std::nullopt;
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
      // A machine without IPv6, where no browser comes that way; or the port is in use, and a
      // browser that ends there reveals nothing: the code is of no use without the code verifier.
      log_.event(LogLevel::debug, "redirect", "cannot listen on [::1]:{} for the redirect", port);
    }
  } else {
    listen(place.host);
  }
  for (const auto& server : servers_) server->start();
  uri_ = place.uri(port);
}

Admission RedirectListener::request_begins(const HttpConnection&, const RequestHead& head,
                                           bool has_body) {
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

void RedirectListener::request(HttpConnection& connection, RequestHead head, ReceivedText) {
  if (browser_ == nullptr) {
    // take_() may call show() before it returns, or later.
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

std::string unguessable_text() { return base64url(random_bytes(32)); }

std::string code_challenge(std::string_view verifier) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), digest.data());
  return base64url(std::string(digest.begin(), digest.end()));
}

std::string AuthorizationRequest::url() const {
  std::string query;
  append_field(query, "response_type", "code");
  append_field(query, "client_id", client_id);
  append_field(query, "redirect_uri", redirect_uri);
  append_field(query, "scope", scope);
  append_field(query, "state", state);
  append_field(query, "code_challenge", code_challenge);
  append_field(query, "code_challenge_method", "S256");
  append_field(query, "resource", resource);
  // OpenID Connect: offline_access is granted only with prompt=consent.
  if (has_word(scope, "offline_access")) append_field(query, "prompt", "consent");
  return endpoint + (endpoint.find('?') == endpoint.npos ? "?" : "&") + query;
}

namespace {

bool is_repeated(std::string_view query, std::string_view name) {
  int found = 0;
  for (std::size_t begin = 0; begin < query.size();) {
    const auto end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = query.substr(begin, end - begin);
    if (pair.substr(0, pair.find('=')) == name) ++found;
    begin = end + 1;
  }
  return found > 1;
}

}  // namespace

RedirectAnswer read_redirect(std::string_view query) {
  RequestHead head;
  head.query = query;
  RedirectAnswer answer;
  answer.code = head.parameter("code").value_or(std::string());
  answer.state = head.parameter("state").value_or(std::string());
  answer.error = head.parameter("error").value_or(std::string());
  answer.error_description = head.parameter("error_description").value_or(std::string());
  answer.issuer = head.parameter("iss");
  for (const std::string_view name :
       std::array<std::string_view, 4>{"code", "state", "error", "iss"})
    answer.is_ambiguous = answer.is_ambiguous || is_repeated(query, name);
  return answer;
}

std::string query_of_pasted(std::string_view address) {
  address = trimmed(address);
  address = address.substr(0, address.find('#'));
  const auto question = address.find('?');
  return question == address.npos ? std::string() : std::string(address.substr(question + 1));
}

RedirectVerdict judge(const RedirectAnswer& answer, const ExpectedRedirect& expected) {
  if (answer.is_ambiguous || expected.state.empty() ||
      !equal_in_constant_time(answer.state, expected.state))
    return RedirectVerdict::foreign;
  if (answer.issuer ? !is_same_issuer(*answer.issuer, expected.issuer)
                    : expected.issuer_is_announced)
    return RedirectVerdict::wrong_issuer;
  if (!answer.error.empty() || answer.code.empty()) return RedirectVerdict::refused;
  return RedirectVerdict::granted;
}

BrowserLogin::BrowserLogin(const LoginParts& parts, std::string earlier_uri, Owner& owner)
    : parts_(parts),
      earlier_uri_(std::move(earlier_uri)),
      owner_(owner),
      endpoint_(parts.curl, parts.upstream) {}

/// MCP 2026-07-28, "Authorization", "Authorization Code Protection": refuses servers without S256.
std::string BrowserLogin::prepare(const AuthorizationServer& server) {
  const std::string issuer = shown_url(server.issuer);
  if (!server.metadata.has_browser_login()) {
    return fmt::format("{} offers no login in a browser, only these grants: {}{}", issuer,
                       printable(scope_of(server.metadata.grant_types), 200),
                       server.is_for_persons() ? fmt::format("; log in by a code: {} --device",
                                                             parts_.options.login_command)
                                               : std::string(how_to_give_a_token));
  }
  if (!endpoint_url(server.metadata.authorization_endpoint))
    return fmt::format("{} names no authorization_endpoint that is an https URL", issuer);
  const auto& methods = server.metadata.code_challenge_methods;
  if (methods.empty() && !parts_.options.assume_pkce) {
    return fmt::format("{} does not say that it supports PKCE by S256; if it does, {}", issuer,
                       how_to_log_in_with("--oauth-assume-pkce", "MCP_BRIDGE_OAUTH_ASSUME_PKCE=1",
                                          parts_.options.login_command));
  }
  if (!methods.empty() && !contains(methods, "S256"))
    return fmt::format("{} does not support PKCE by S256", issuer);
  return listen();
}

std::string BrowserLogin::listen() {
  const auto place =
      RedirectPlace::parse(parts_.options.redirect).value_or(RedirectPlace{"127.0.0.1", 0});
  std::vector<std::uint16_t> ports;
  const auto earlier = place.port == 0 ? parse_web_url(earlier_uri_) : std::nullopt;
  if (earlier && !earlier->port.empty())
    ports.push_back(static_cast<std::uint16_t>(std::strtoul(earlier->port.c_str(), nullptr, 10)));
  ports.push_back(place.port);
  try {
    listener_ = std::make_unique<RedirectListener>(
        parts_.loop, parts_.log, place, ports,
        [this](const std::string& query) { return take(query); });
    return {};
  } catch (const StartError&) {
    return fmt::format("cannot listen on the redirect address {} (--oauth-redirect): it is in use",
                       printable(parts_.options.redirect));
  }
}

void BrowserLogin::start(const AccessRequest& request) {
  request_ = request;
  const std::string state = unguessable_text();
  verifier_ = unguessable_text();
  const ServerMetadata& metadata = request_.server.metadata;
  expected_ = {state, request_.server.issuer, metadata.answers_name_issuer};
  AuthorizationRequest asked;
  asked.endpoint = metadata.authorization_endpoint;
  asked.client_id = request_.client.id;
  asked.redirect_uri = redirect_uri();
  asked.scope = request_.scope;
  asked.state = state;
  asked.code_challenge = code_challenge(verifier_);
  asked.resource = request_.server.resource;
  url_ = asked.url();
  owner_.method_offers(std::chrono::milliseconds::max());
}

bool BrowserLogin::take(const std::string& query) {
  const RedirectAnswer answer = read_redirect(query);
  const RedirectVerdict verdict = judge(answer, expected_);
  if (verdict == RedirectVerdict::foreign) return false;
  std::vector<std::string> sent = secrets();
  sent.push_back(answer.code);
  expected_.state.clear();  // valid once
  switch (verdict) {
    case RedirectVerdict::wrong_issuer:
      owner_.method_failed(ErrorKind::auth,
                           "the redirect does not come from the expected server; ignored");
      break;
    case RedirectVerdict::granted: exchange(answer.code); break;
    default: {
      const std::string why = answer.error.empty() ? "the redirect has no code" : answer.error;
      owner_.method_failed(
          ErrorKind::auth,
          fmt::format("the server has not granted the login: {}{}{}", server_words(why, sent),
                      answer.error_description.empty() ? "" : ": ",
                      server_words(answer.error_description, sent)));
    }
  }
  return true;
}

void BrowserLogin::exchange(const std::string& code) {
  form_ = code_form(request_.client, code, verifier_, redirect_uri(), request_.server.resource);
  endpoint_.post(request_.server.token_endpoint, parts_.upstream.public_only, form_,
                 [this](const SmallAnswer& answer) { answered(answer); });
}

void BrowserLogin::answered(const SmallAnswer& answer) {
  const std::string where = shown_url(request_.server.token_endpoint);
  if (!answer.fault.empty()) {
    owner_.method_failed(ErrorKind::auth, fmt::format("no token from {}: {}", where, answer.fault));
    return;
  }
  const auto response = read_token_response(answer.status, answer.body);
  if (const auto* refusal = std::get_if<TokenRefusal>(&response)) {
    owner_.method_failed(ErrorKind::auth, fmt::format("no token from {}: {}", where,
                                                      server_words(refusal->reason, secrets())));
    return;
  }
  owner_.method_granted(std::get<TokenGrant>(response));
}

void BrowserLogin::show_end(bool is_logged_in) {
  if (listener_) listener_->show(is_logged_in);
}

std::vector<std::string> BrowserLogin::secrets() const {
  std::vector<std::string> secrets = secrets_of(form_);
  for (const std::string& one : {verifier_, expected_.state})
    if (!one.empty()) secrets.push_back(one);
  return secrets;
}

}  // namespace bridge
