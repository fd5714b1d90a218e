#include "login/login_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/recent_secrets.hpp"
#include "auth/scope.hpp"
#include "auth/shown_url.hpp"
#include "auth/token_response.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"
#include "http/client/web_url.hpp"
#include "login/authorization_request.hpp"
#include "login/pkce.hpp"
#include "login/registration.hpp"
#include "text/header_text.hpp"

namespace bridge {
namespace {

bool is_good_endpoint(const std::string& said) {
  const auto url = fits_header(said, header_limit::url) ? parse_web_url(said) : std::nullopt;
  return url && !url->has_user && !url->has_fragment && is_trustworthy(*url);
}

}  // namespace

LoginFlow::LoginFlow(Parts parts, Wish wish, std::function<void()> offered,
                     std::function<void(const End&)> ended)
    : parts_(std::move(parts)),
      wish_(std::move(wish)),
      offered_(std::move(offered)),
      ended_(std::move(ended)),
      until_(parts_.loop.now() + longest),
      endpoint_(parts_.curl, parts_.upstream),
      next_poll_(parts_.loop, [this] { poll(); }),
      deadline_(parts_.loop,
                [this] { fail(ErrorKind::timeout, "nobody has completed the login in time"); }),
      tell_(parts_.loop, [this] {
        if (!end_) {
          offered_();
          return;
        }
        const End end = *end_;
        ended_(end);  // destroys this
      }) {
  deadline_.set(until_);
}

void LoginFlow::start() {
  discovery_ =
      std::make_unique<Discovery>(parts_.curl, parts_.upstream, wish_.resource, wish_.announced,
                                  [this](const Discovery::Result& result) { discovered(result); });
  discovery_->start();
}

void LoginFlow::discovered(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(discovery_);
  server_ = result.server;
  parts_.upstream.public_only = result.is_public;
  if (!server_) {
    fail(ErrorKind::auth, fmt::format("cannot find the authorization server of {}: {}",
                                      shown_url(wish_.resource), result.fault));
    return;
  }
  if (!check_server() || (wish_.mode == LoginMode::browser && !listen())) return;
  if (identify()) go_on();
}

/// MCP 2026-07-28, "Authorization", "Authorization Code Protection": without S256 it is refused.
bool LoginFlow::check_server() {
  const std::string issuer = shown_url(server_->issuer);
  if (wish_.mode == LoginMode::device) {
    if (is_good_endpoint(metadata().device_authorization_endpoint)) return true;
    fail(ErrorKind::auth, fmt::format("{} offers no login by a device code", issuer));
    return false;
  }
  if (!is_good_endpoint(metadata().authorization_endpoint)) {
    fail(ErrorKind::auth,
         fmt::format("{} names no authorization_endpoint that is an https URL", issuer));
    return false;
  }
  const auto& methods = metadata().code_challenge_methods;
  if (is_named(methods, "S256") || (methods.empty() && parts_.options.assume_pkce)) return true;
  fail(ErrorKind::auth, methods.empty()
                            ? fmt::format("{} does not say that it supports PKCE by S256; if it "
                                          "does, start the daemon with --oauth-assume-pkce",
                                          issuer)
                            : fmt::format("{} does not support PKCE by S256", issuer));
  return false;
}

/// Who the bridge is for this server. False: that is not known yet, or never.
bool LoginFlow::identify() {
  const OAuthOptions& options = parts_.options;
  if (!options.client_id.empty()) {
    client_.id = options.client_id;
    if (options.client_secret_file.empty()) return true;
    const SecretFile file =
        read_secret_file(options.client_secret_file, "--oauth-client-secret-file");
    if (!file.fault.empty()) {
      fail(ErrorKind::auth, file.fault);
      return false;
    }
    client_.secret = file.content;
    client_.place = secret_place(metadata());
    return true;
  }
  if (!options.client_metadata_url.empty() && metadata().takes_metadata_documents) {
    client_.id = options.client_metadata_url;
    return true;
  }
  const auto& earlier = wish_.earlier;
  if (earlier && earlier->client.is_registered && earlier->issuer == server_->issuer &&
      (listener_ == nullptr || earlier->client.redirect_uri == listener_->uri())) {
    client_ = earlier->client;
    return true;
  }
  register_client();
  return false;
}

void LoginFlow::register_client() {
  const std::string& endpoint = metadata().registration_endpoint;
  if (!is_good_endpoint(endpoint)) {
    fail(ErrorKind::auth,
         fmt::format("{} does not register clients by itself: register one there and name it by "
                     "--oauth-client-id",
                     shown_url(server_->issuer)));
    return;
  }
  // For a device the address is never used, but many servers want one.
  const std::string request = registration_request(
      metadata(), listener_ ? listener_->uri() : "http://127.0.0.1/callback", scope());
  registration_ = std::make_unique<SmallRequest>(
      parts_.curl, parts_.upstream, endpoint, &request, std::string(),
      [this](const SmallAnswer& answer) { registered(answer); }, "application/json");
}

void LoginFlow::registered(const SmallAnswer& answer) {
  const std::unique_ptr<SmallRequest> over = std::move(registration_);
  const std::string where = shown_url(metadata().registration_endpoint);
  if (!answer.fault.empty()) {
    fail(ErrorKind::auth, fmt::format("no registration at {}: {}", where, answer.fault));
    return;
  }
  auto read = read_registration(answer.status, answer.body,
                                listener_ ? listener_->uri() : "http://127.0.0.1/callback");
  if (const auto* why = std::get_if<std::string>(&read)) {
    fail(ErrorKind::auth, fmt::format("{} does not register the bridge: {}; a client that was "
                                      "registered by hand is named by --oauth-client-id",
                                      where, server_words(*why)));
    return;
  }
  client_ = std::get<OAuthClient>(std::move(read));
  go_on();
}

void LoginFlow::go_on() {
  if (wish_.mode == LoginMode::device) {
    ask_for_device_code();
  } else {
    offer_url();
  }
}

bool LoginFlow::listen() {
  const auto place = RedirectPlace::parse(parts_.options.redirect);
  std::vector<std::uint16_t> ports;
  const auto earlier = wish_.earlier && place && place->port == 0
                           ? parse_web_url(wish_.earlier->client.redirect_uri)
                           : std::nullopt;
  if (earlier && !earlier->port.empty())
    ports.push_back(static_cast<std::uint16_t>(std::strtoul(earlier->port.c_str(), nullptr, 10)));
  ports.push_back(place ? place->port : 0);
  try {
    listener_ = std::make_unique<RedirectListener>(
        parts_.loop, parts_.log, place.value_or(RedirectPlace{"127.0.0.1", 0}), ports,
        [this](const std::string& query) { return take(query); });
    return true;
  } catch (const StartError&) {
    fail(ErrorKind::auth,
         fmt::format("the redirect address {} (--oauth-redirect) cannot be had: it is taken",
                     printable(parts_.options.redirect)));
    return false;
  }
}

void LoginFlow::offer_url() {
  const auto verifier = unguessable_text();
  const auto state = unguessable_text();
  if (!verifier || !state) {
    fail(ErrorKind::auth, "there is no randomness");
    return;
  }
  verifier_ = *verifier;
  expected_ = {*state, server_->issuer, metadata().answers_name_issuer};
  client_.redirect_uri = listener_->uri();
  AuthorizationRequest request;
  request.endpoint = metadata().authorization_endpoint;
  request.client_id = client_.id;
  request.redirect_uri = client_.redirect_uri;
  request.scope = scope();
  request.state = *state;
  request.code_challenge = code_challenge(verifier_);
  request.resource = server_->resource;
  url_ = request.url();
  tell_.schedule();
}

std::optional<LoginOffer> LoginFlow::offer() const {
  if (end_ || (url_.empty() && !device_)) return std::nullopt;
  LoginOffer offer;
  offer.url = url_;
  if (device_) {
    offer.verification_uri = device_->verification_uri;
    offer.user_code = device_->user_code;
  }
  offer.expires_in =
      std::chrono::duration_cast<std::chrono::milliseconds>(until_ - parts_.loop.now());
  return offer;
}

bool LoginFlow::take(const std::string& query) {
  const RedirectAnswer answer = read_redirect(query);
  const RedirectVerdict verdict = judge(answer, expected_);
  if (end_ || verdict == RedirectVerdict::foreign) return false;
  expected_.state.clear();  // it counts once
  switch (verdict) {
    case RedirectVerdict::wrong_issuer:
      fail(ErrorKind::auth,
           "the answer does not come from the server that was asked: nothing of "
           "it is used");
      break;
    case RedirectVerdict::granted: exchange(answer.code); break;
    default:
      fail(ErrorKind::auth, fmt::format("the server has not granted the login: {}{}{}",
                                        answer.error.empty() ? "there is no code in its answer"
                                                             : server_words(answer.error),
                                        answer.error_description.empty() ? "" : ": ",
                                        server_words(answer.error_description)));
  }
  return true;
}

void LoginFlow::exchange(const std::string& code) {
  form_ = code_form(client_, code, verifier_, client_.redirect_uri, server_->resource);
  asked_ = parts_.loop.now();
  endpoint_.post(server_->token_endpoint, form_,
                 [this](const SmallAnswer& answer) { exchanged(answer); });
}

void LoginFlow::exchanged(const SmallAnswer& answer) {
  const std::string where = shown_url(server_->token_endpoint);
  if (!answer.fault.empty()) {
    fail(ErrorKind::auth, fmt::format("no token from {}: {}", where, answer.fault));
    return;
  }
  const auto response = read_token_response(answer.status, answer.body);
  if (const auto* refusal = std::get_if<TokenRefusal>(&response)) {
    fail(ErrorKind::auth,
         fmt::format("no token from {}: {}", where, server_words(refusal->reason)));
    return;
  }
  succeed(std::get<TokenGrant>(response));
}

void LoginFlow::ask_for_device_code() {
  form_ = device_authorization_form(client_, scope(), server_->resource);
  endpoint_.post(metadata().device_authorization_endpoint, form_,
                 [this](const SmallAnswer& answer) { device_code_came(answer); });
}

void LoginFlow::device_code_came(const SmallAnswer& answer) {
  const std::string where = shown_url(metadata().device_authorization_endpoint);
  if (!answer.fault.empty()) {
    fail(ErrorKind::auth, fmt::format("no device code from {}: {}", where, answer.fault));
    return;
  }
  auto read = read_device_code(answer.status, answer.body);
  if (const auto* why = std::get_if<std::string>(&read)) {
    fail(ErrorKind::auth, fmt::format("no device code from {}: {}", where, server_words(*why)));
    return;
  }
  device_ = std::get<DeviceCode>(std::move(read));
  until_ = std::min(until_, parts_.loop.now() + device_->expires_in);
  deadline_.set(until_);
  next_poll_.set_after(device_->interval);
  tell_.schedule();
}

void LoginFlow::poll() {
  form_ = device_token_form(client_, device_->code, server_->resource);
  asked_ = parts_.loop.now();
  endpoint_.post(server_->token_endpoint, form_,
                 [this](const SmallAnswer& answer) { polled(answer); });
}

void LoginFlow::polled(const SmallAnswer& answer) {
  std::string error;
  std::string reason;
  if (answer.fault.empty()) {
    const auto response = read_token_response(answer.status, answer.body);
    if (const auto* grant = std::get_if<TokenGrant>(&response)) {
      succeed(*grant);
      return;
    }
    error = std::get<TokenRefusal>(response).error;
    reason = std::get<TokenRefusal>(response).reason;
  }
  switch (judge_poll(answer.fault.empty() ? answer.status : 0, error)) {
    case DevicePoll::pending: break;
    case DevicePoll::slow_down: device_->interval += std::chrono::seconds(5); break;
    case DevicePoll::denied: fail(ErrorKind::auth, "the login was denied"); return;
    case DevicePoll::expired:
      fail(ErrorKind::timeout, "nobody has completed the login in time");
      return;
    case DevicePoll::refused:
      fail(ErrorKind::auth, fmt::format("no token from {}: {}", shown_url(server_->token_endpoint),
                                        server_words(reason)));
      return;
  }
  next_poll_.set_after(device_->interval);
}

void LoginFlow::succeed(const TokenGrant& grant) {
  StoredLogin login;
  login.resource = server_->resource;
  login.issuer = server_->issuer;
  login.token_endpoint = server_->token_endpoint;
  if (is_good_endpoint(metadata().revocation_endpoint))
    login.revocation_endpoint = metadata().revocation_endpoint;
  login.client = client_;
  login.scope = grant.scope.empty() ? scope() : grant.scope;
  login.access_token = grant.token;
  login.refresh_token = grant.refresh_token;
  if (grant.expires_in) login.expires = parts_.loop.wall_time() + *grant.expires_in;
  if (listener_) listener_->show(true);
  end(login);
}

void LoginFlow::cancel() { fail(ErrorKind::auth, "the login was cancelled"); }

void LoginFlow::fail(ErrorKind kind, const std::string& message) {
  if (end_) return;
  if (listener_) listener_->show(false);
  Failure failure = failure_of(kind, Delivered::no, message);
  failure.login = login_command;
  end(failure);
}

void LoginFlow::end(const End& end) {
  end_ = end;
  deadline_.clear();
  next_poll_.clear();
  endpoint_.cancel();
  tell_.schedule();
}

/// For the first login what the strategy says, for the next ones also what there is already.
std::string LoginFlow::scope() const {
  std::string scope = joined_scopes(wish_.scope.text(server_->scope), wish_.granted);
  if (!scope.empty() && is_named(metadata().scopes_supported, "offline_access"))
    scope = joined_scopes(scope, "offline_access");
  return scope;
}

std::string LoginFlow::server_words(const std::string& text) const {
  return printable(redacted(text, secrets()), 400);
}

std::vector<std::string> LoginFlow::secrets() const {
  std::vector<std::string> secrets = secrets_of(form_);
  for (const std::string& one : {verifier_, client_.secret, expected_.state})
    if (!one.empty()) secrets.push_back(one);
  if (device_) secrets.push_back(device_->code);
  return secrets;
}

}  // namespace bridge
