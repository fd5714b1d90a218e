#include "auth/login_token.hpp"

#include <utility>

#include "base/log.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
LoginToken::LoginToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
                       const HttpOptions& upstream, Log& log)
    : options_(options),
      upstream_(upstream),
      log_(log),
      store_(loop, options.token_store, log),
      endpoint_(curl, upstream_),
      refresher_({loop,
                  endpoint_,
                  store_,
                  log,
                  {resource_of(upstream.url), options.client_id, options.client_metadata_url},
                  options.idle_refresh}),
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
  desk_.need();
  waiters_.add(std::move(done));
  waiters_.answer({{}, login_needed(refresher_.why_over())});
}

bool LoginToken::refused(const std::string& token, const TokenChallenge& challenge) {
  demand_.take(challenge);
  if (challenge.status == 403) return false;
  const bool had_one = refresher_.login() != nullptr;
  refresher_.refused(token);
  refresher_.look_into_store();
  if (is_served()) return true;
  if (!desk_.is_needed() && !had_one) {
    log_.event(LogLevel::warning, "login needed", "{} wants a login; a person logs in by {}",
               upstream_.target, login_command);
  }
  desk_.need();
  return false;
}

std::vector<std::string> LoginToken::secrets() const {
  std::vector<std::string> secrets = refresher_.secrets();
  for (std::string& one : desk_.secrets()) secrets.push_back(std::move(one));
  return secrets;
}

}  // namespace bridge
