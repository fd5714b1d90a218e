#include "auth/login_token.hpp"

#include <utility>

#include "base/log.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
LoginToken::LoginToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
                       const HttpOptions& upstream, Log& log)
    : curl_(curl),
      options_(options),
      upstream_(upstream),
      log_(log),
      store_(loop, options.token_store, log),
      endpoint_(curl, upstream_),
      refresher_({loop,
                  endpoint_,
                  store_,
                  log,
                  {resource_of(upstream.url), options.client_id, options.client_metadata_url},
                  options.idle_refresh,
                  options.login_command}),
      demand_(options.scope),
      waiters_(loop),
      desk_({loop, curl, upstream_, options_, log, refresher_, demand_},
            resource_of(upstream.url)) {
  upstream_.may_be_private = options_.allow_private;
}

std::optional<std::string> LoginToken::current() {
  if (!std::exchange(has_looked_, true)) refresher_.look_into_store();
  if (auto token = refresher_.token()) return token;
  if (refresher_.can_refresh()) return std::nullopt;
  if (discovery_) return std::nullopt;
  // The login has ended, or the operator requires one whatever the server says. Otherwise the
  // server is asked each time: it may have refused by mistake.
  if (refresher_.login() != nullptr || options_.wants_person()) return std::nullopt;
  return std::string();
}

void LoginToken::fetch(TokenSource::Done done) {
  refresher_.look_into_store();  // another daemon may have logged in
  if (is_served()) {
    if (const auto token = refresher_.token(); token) {
      waiters_.add(std::move(done));
      waiters_.answer({*token, std::nullopt});
    } else {
      refresher_.fetch(std::move(done));
    }
    return;
  }
  waiters_.add(std::move(done));
  if (discovery_) return;  // they are answered by its end
  desk_.need();
  waiters_.answer({{}, login_needed(refresher_.why_over(), options_.login_command)});
}

bool LoginToken::refused(const std::string& token, const TokenChallenge& challenge) {
  demand_.take(challenge);
  if (challenge.status == 403) return false;
  const bool had_one = refresher_.login() != nullptr;
  refresher_.refused(token);
  refresher_.look_into_store();
  if (is_served() || discovery_) return true;
  const bool may_be_no_login = !had_one && demand_.announced().empty() &&
                               !options_.wants_person() && options_.client_id.empty();
  if (may_be_no_login && !std::exchange(has_looked_for_metadata_, true)) {
    look_for_metadata();
    return true;
  }
  if (!desk_.is_login_offered()) return false;
  if (!desk_.is_needed() && !had_one) {
    log_.event(LogLevel::warning, "login needed", "{} wants a login; a person logs in by {}",
               upstream_.target, options_.login_command);
  }
  desk_.need();
  return false;
}

void LoginToken::look_for_metadata() {
  HttpOptions http = upstream_;
  http.public_only = demand_.is_public() && !http.may_be_private;
  discovery_ = std::make_unique<Discovery>(
      curl_, http, resource_of(upstream_.url), Discovery::Refusal{true, {}},
      [this](const Discovery::Result& result) { metadata_looked_for(result); });
  discovery_->start();
}

/// The messages that wait are sent once more, without a token: their own refusals then say what is
/// wanted.
void LoginToken::metadata_looked_for(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(discovery_);
  desk_.set_login_offered(!result.server || result.server->is_for_persons());
  if (desk_.is_login_offered()) {
    desk_.need();
    log_.event(LogLevel::warning, "login needed", "{} wants a login; a person logs in by {}",
               upstream_.target, options_.login_command);
  } else {
    log_.event(LogLevel::warning, "token needed", "{} wants a token, and offers no login{}",
               upstream_.target, how_to_give_a_token);
  }
  waiters_.answer({{}, std::nullopt});
}

std::vector<std::string> LoginToken::secrets() const {
  std::vector<std::string> secrets = refresher_.secrets();
  for (std::string& one : desk_.secrets()) secrets.push_back(std::move(one));
  return secrets;
}

}  // namespace bridge
