#include "login/device_login.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/endpoint_url.hpp"
#include "auth/shown_url.hpp"
#include "login/server_words.hpp"

namespace bridge {

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
      owner_.method_failed(ErrorKind::timeout, "nobody has completed the login in time");
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
