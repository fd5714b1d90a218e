#include "login/browser_login.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "auth/endpoint_url.hpp"
#include "auth/shown_url.hpp"
#include "base/start_error.hpp"
#include "login/authorization_request.hpp"
#include "login/pkce.hpp"
#include "login/server_words.hpp"

namespace bridge {

BrowserLogin::BrowserLogin(const LoginParts& parts, std::string earlier_uri, Owner& owner)
    : parts_(parts),
      earlier_uri_(std::move(earlier_uri)),
      owner_(owner),
      endpoint_(parts.curl, parts.upstream) {}

/// MCP 2026-07-28, "Authorization", "Authorization Code Protection": without S256 it is refused.
std::string BrowserLogin::prepare(const AuthorizationServer& server) {
  const std::string issuer = shown_url(server.issuer);
  if (!endpoint_url(server.metadata.authorization_endpoint))
    return fmt::format("{} names no authorization_endpoint that is an https URL", issuer);
  const auto& methods = server.metadata.code_challenge_methods;
  if (methods.empty() && !parts_.options.assume_pkce) {
    return fmt::format(
        "{} does not say that it supports PKCE by S256; if it does, start the daemon with "
        "--oauth-assume-pkce",
        issuer);
  }
  if (!methods.empty() && !is_named(methods, "S256"))
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
    return fmt::format("the redirect address {} (--oauth-redirect) cannot be had: it is taken",
                       printable(parts_.options.redirect));
  }
}

void BrowserLogin::start(const AccessRequest& request) {
  request_ = request;
  const auto verifier = unguessable_text();
  const auto state = unguessable_text();
  if (!verifier || !state) {
    owner_.method_failed(ErrorKind::auth, "there is no randomness");
    return;
  }
  verifier_ = *verifier;
  const ServerMetadata& metadata = request_.server.metadata;
  expected_ = {*state, request_.server.issuer, metadata.answers_name_issuer};
  AuthorizationRequest asked;
  asked.endpoint = metadata.authorization_endpoint;
  asked.client_id = request_.client.id;
  asked.redirect_uri = redirect_uri();
  asked.scope = request_.scope;
  asked.state = *state;
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
  expected_.state.clear();  // it counts once
  switch (verdict) {
    case RedirectVerdict::wrong_issuer:
      owner_.method_failed(
          ErrorKind::auth,
          "the answer does not come from the server that was asked: nothing of it is used");
      break;
    case RedirectVerdict::granted: exchange(answer.code); break;
    default: {
      const std::string why =
          answer.error.empty() ? "there is no code in its answer" : answer.error;
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
