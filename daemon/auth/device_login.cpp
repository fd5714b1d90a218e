#include "auth/device_login.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "http/client/web_url.hpp"
#include "json/json_text.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_user_code = 64;

std::chrono::seconds seconds_of(const std::string& body, std::string_view name, unsigned otherwise,
                                unsigned least, unsigned most) {
  const auto raw = find_member(body, name);
  const auto said = raw ? to_unsigned(*raw) : std::nullopt;
  return std::chrono::seconds(std::clamp<std::uint64_t>(said.value_or(otherwise), least, most));
}

}  // namespace

std::variant<DeviceCode, std::string> read_device_code(int status, const std::string& body) {
  if (status != 200 || !is_json_object(body)) return read_refusal(status, body).reason;
  DeviceCode device;
  device.code = string_member(body, "device_code");
  device.user_code = string_member(body, "user_code");
  device.verification_uri = string_member(body, "verification_uri");
  const auto url = fits_header(device.verification_uri, header_limit::url)
                       ? parse_web_url(device.verification_uri)
                       : std::nullopt;
  if (device.code.empty() || !fits_header(device.user_code, longest_user_code, Blanks::inside) ||
      !url || url->has_user || !is_trustworthy(*url))
    return std::string(
        "the response lacks a device_code, a user_code or an https verification_uri");
  device.expires_in = seconds_of(body, "expires_in", 600, 1, 1800);
  device.interval = seconds_of(body, "interval", 5, 1, 60);
  return device;
}

DevicePoll judge_poll(int status, const std::string& error) {
  if (error == "authorization_pending") return DevicePoll::pending;
  if (error == "slow_down") return DevicePoll::slow_down;
  if (error == "access_denied") return DevicePoll::denied;
  if (error == "expired_token") return DevicePoll::expired;
  // RFC 8628, section 3.5: an unreachable server is polled less often.
  if (status >= 500 || status == 429 || status == 0) return DevicePoll::slow_down;
  return DevicePoll::refused;
}

DeviceLogin::DeviceLogin(const LoginParts& parts, Owner& owner)
    : parts_(parts),
      owner_(owner),
      endpoint_(parts.curl, parts.upstream),
      next_poll_(parts.loop, [this] { poll(); }) {}

std::string DeviceLogin::prepare(const AuthorizationServer& server) {
  if (endpoint_url(server.metadata.device_authorization_endpoint)) return {};
  return fmt::format("{} offers no login by a device code", shown_url(server.issuer));
}

void DeviceLogin::start(const AccessRequest& request) {
  request_ = request;
  form_ = device_authorization_form(request_.client, request_.scope, request_.server.resource);
  endpoint_.post(request_.server.metadata.device_authorization_endpoint,
                 parts_.upstream.public_only, form_,
                 [this](const SmallAnswer& answer) { code_came(answer); });
}

void DeviceLogin::stop() {
  next_poll_.clear();
  endpoint_.cancel();
}

void DeviceLogin::describe(LoginOffer& offer) const {
  if (!device_) return;
  offer.verification_uri = device_->verification_uri;
  offer.user_code = device_->user_code;
}

void DeviceLogin::code_came(const SmallAnswer& answer) {
  const std::string where = shown_url(request_.server.metadata.device_authorization_endpoint);
  const auto fail = [&](const std::string& why) {
    owner_.method_failed(ErrorKind::auth, fmt::format("no device code from {}: {}", where, why));
  };
  if (!answer.fault.empty()) {
    fail(answer.fault);
    return;
  }
  auto read = read_device_code(answer.status, answer.body);
  if (const auto* why = std::get_if<std::string>(&read)) {
    fail(server_words(*why, secrets()));
    return;
  }
  device_ = std::get<DeviceCode>(std::move(read));
  next_poll_.set_after(device_->interval);
  owner_.method_offers(device_->expires_in);
}

void DeviceLogin::poll() {
  form_ = device_token_form(request_.client, device_->code, request_.server.resource);
  endpoint_.post(request_.server.token_endpoint, parts_.upstream.public_only, form_,
                 [this](const SmallAnswer& answer) { polled(answer); });
}

void DeviceLogin::polled(const SmallAnswer& answer) {
  TokenRefusal refusal;
  if (answer.fault.empty()) {
    auto response = read_token_response(answer.status, answer.body);
    if (const auto* grant = std::get_if<TokenGrant>(&response)) {
      owner_.method_granted(*grant);
      return;
    }
    refusal = std::get<TokenRefusal>(std::move(response));
  }
  switch (judge_poll(answer.fault.empty() ? answer.status : 0, refusal.error)) {
    case DevicePoll::pending: break;
    case DevicePoll::slow_down: device_->interval += std::chrono::seconds(5); break;
    case DevicePoll::denied: owner_.method_failed(ErrorKind::auth, "the login was denied"); return;
    case DevicePoll::expired:
      owner_.method_failed(ErrorKind::timeout, "the login was not completed in time");
      return;
    case DevicePoll::refused:
      owner_.method_failed(ErrorKind::auth, fmt::format("no token from {}: {}",
                                                        shown_url(request_.server.token_endpoint),
                                                        server_words(refusal.reason, secrets())));
      return;
  }
  next_poll_.set_after(device_->interval);
}

std::vector<std::string> DeviceLogin::secrets() const {
  std::vector<std::string> secrets = secrets_of(form_);
  if (device_) secrets.push_back(device_->code);
  return secrets;
}

}  // namespace bridge
