#include "auth/login_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/browser_login.hpp"
#include "auth/challenge.hpp"
#include "auth/device_login.hpp"
#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"

namespace bridge {

LoginFlow::LoginFlow(LoginParts parts, Wish wish, std::function<void()> offered,
                     std::function<void(const End&)> ended)
    : parts_(std::move(parts)),
      wish_(std::move(wish)),
      offered_(std::move(offered)),
      ended_(std::move(ended)),
      until_(parts_.loop.now() + longest),
      identity_(parts_,
                [this](const std::variant<OAuthClient, std::string>& found) { identified(found); }),
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
  LoginMethod::Owner& owner = *this;
  if (wish_.mode == LoginMode::device) {
    method_ = std::make_unique<DeviceLogin>(parts_, owner);
  } else {
    method_ = std::make_unique<BrowserLogin>(parts_, wish_.last_uri, owner);
  }
  deadline_.set(until_);
}

void LoginFlow::start() {
  if (wish_.demand.was_refused()) {
    discover();
  } else {
    ask_resource();
  }
}

/// A `ping` does nothing, should the upstream want no login.
void LoginFlow::ask_resource() {
  const std::string ping = R"({"jsonrpc":"2.0","id":0,"method":"ping"})";
  question_ = std::make_unique<SmallRequest>(
      parts_.curl, parts_.upstream, parts_.upstream.url, &ping, std::string(),
      [this](const SmallAnswer& answer) {
        const std::unique_ptr<SmallRequest> over = std::move(question_);
        if (answer.status == 401)
          wish_.demand.take({answer.status, answer.www_authenticate, answer.is_public});
        discover();
      },
      "application/json");
}

void LoginFlow::discover() {
  parts_.upstream.public_only = wish_.demand.is_public() && !parts_.upstream.may_be_private;
  discovery_ = std::make_unique<Discovery>(
      parts_.curl, parts_.upstream, wish_.resource,
      Discovery::Refusal{wish_.demand.was_refused(), wish_.demand.announced()},
      [this](const Discovery::Result& result) { discovered(result); });
  discovery_->start();
}

void LoginFlow::discovered(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(discovery_);
  parts_.upstream.public_only = result.is_public;
  if (!result.server) {
    fail(ErrorKind::auth, fmt::format("cannot find the authorization server of {}: {}",
                                      shown_url(wish_.resource), result.fault));
    return;
  }
  request_.server = *result.server;
  request_.scope = scope();
  if (const std::string fault = method_->prepare(request_.server); !fault.empty()) {
    fail(ErrorKind::auth, fault);
    return;
  }
  auto earlier = wish_.registration(request_.server.issuer);
  if (earlier && !method_->fits(earlier->redirect_uri)) earlier.reset();
  identity_.find(request_.server, earlier, method_->redirect_uri(), request_.scope);
}

void LoginFlow::identified(const std::variant<OAuthClient, std::string>& found) {
  if (end_) return;
  if (const auto* why = std::get_if<std::string>(&found)) {
    fail(ErrorKind::auth, *why + request_.server.remark());
    return;
  }
  request_.client = std::get<OAuthClient>(found);
  method_->start(request_);
}

void LoginFlow::method_offers(std::chrono::milliseconds at_most) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until_ - parts_.loop.now());
  until_ = parts_.loop.now() + std::min(left, at_most);
  deadline_.set(until_);
  tell_.schedule();
}

std::optional<LoginOffer> LoginFlow::offer() const {
  if (end_ || !method_->has_offer()) return std::nullopt;
  LoginOffer offer;
  method_->describe(offer);
  offer.expires_in =
      std::chrono::duration_cast<std::chrono::milliseconds>(until_ - parts_.loop.now());
  return offer;
}

bool LoginFlow::take(const std::string& query) { return !end_ && method_->take(query); }

void LoginFlow::method_granted(const TokenGrant& grant) {
  if (end_) return;
  const AuthorizationServer& server = request_.server;
  StoredLogin login;
  login.resource = server.resource;
  login.issuer = server.issuer;
  login.token_endpoint = server.token_endpoint;
  if (endpoint_url(server.metadata.revocation_endpoint))
    login.revocation_endpoint = server.metadata.revocation_endpoint;
  login.is_public = parts_.upstream.public_only;
  login.client = request_.client;
  login.scope = grant.scope.empty() ? request_.scope : grant.scope;
  login.access_token = grant.token;
  login.refresh_token = grant.refresh_token;
  if (grant.expires_in) login.expires = parts_.loop.wall_time() + *grant.expires_in;
  method_->show_end(true);
  end(login);
}

void LoginFlow::fail(ErrorKind kind, const std::string& message) {
  if (end_) return;
  method_->show_end(false);
  Failure failure = failure_of(kind, Delivered::no, message);
  failure.login = login_command;
  end(failure);
}

void LoginFlow::end(const End& end) {
  end_ = end;
  deadline_.clear();
  question_.reset();
  discovery_.reset();
  method_->stop();
  tell_.schedule();
}

/// For the first login what the strategy says, for the next ones also what there is already.
std::string LoginFlow::scope() const {
  std::string scope =
      joined_scopes(wish_.demand.scope().text(request_.server.scope), wish_.granted);
  if (!scope.empty() && is_named(request_.server.metadata.scopes_supported, "offline_access"))
    scope = joined_scopes(scope, "offline_access");
  return scope;
}

std::vector<std::string> LoginFlow::secrets() const {
  std::vector<std::string> secrets = method_->secrets();
  if (!request_.client.secret.empty()) secrets.push_back(request_.client.secret);
  return secrets;
}

}  // namespace bridge
