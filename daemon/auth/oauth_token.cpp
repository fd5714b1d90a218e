#include "auth/oauth_token.hpp"

#include <utility>

#include "auth/challenge.hpp"
#include "base/clock.hpp"
#include "http/client/web_url.hpp"

namespace bridge {

OAuthToken::OAuthToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
                       const HttpOptions& upstream, Log& log)
    : loop_(loop),
      curl_(curl),
      options_(options),
      upstream_(upstream),
      log_(log),
      resource_(resource_of(upstream.url)),
      scope_(options.scope),
      shared_(loop, [this] { begin(); }) {
  upstream_.may_be_private = options_.allow_private;
}

bool OAuthToken::is_good() const {
  return token_ && !scope_.is_stepping() && !life_.is_over(loop_.now());
}

std::optional<std::string> OAuthToken::current() {
  if (is_good()) {
    if (life_.is_refresh_due(loop_.now())) shared_.start_ahead();
    return token_;
  }
  if (options_.token_url.empty() && !needed_) return std::string();
  return std::nullopt;
}

void OAuthToken::fetch(Done done) {
  if (is_good()) {
    shared_.give(std::move(done), *token_);
  } else {
    shared_.join(std::move(done));
  }
}

bool OAuthToken::refused(const std::string& token, const TokenChallenge& challenge) {
  const std::vector<Challenge> challenges = parse_challenges(challenge.www_authenticate);
  if (challenge.status == 403) {
    return bearer_parameter(challenges, "error") == "insufficient_scope" &&
           step_up(token, bearer_hint(challenges, "scope"));
  }
  needed_ = true;
  if (options_.token_url.empty())
    upstream_.public_only =
        (upstream_.public_only || challenge.is_public) && !options_.allow_private;
  if (const std::string place = bearer_hint(challenges, "resource_metadata"); !place.empty())
    server_.announced = place;
  if (const std::string scope = bearer_hint(challenges, "scope"); !scope.empty())
    scope_.challenge(scope);
  if (token_ == token) {
    token_.reset();
    shared_.token_refused();
  }
  return true;
}

bool OAuthToken::step_up(const std::string& token, const std::string& wanted) {
  if (wanted.empty()) return false;
  // Others have been refused as well, and the first of them has brought a better one or will.
  if (scope_.is_stepping() || (!token.empty() && token_ != token)) return true;
  const bool is_new = scope_.step_up(wanted, scope());
  needed_ = needed_ || is_new;
  return is_new;
}

void OAuthToken::reload() {
  server_.found.reset();
  scope_.forgive();
  shared_.forgive();
}

std::optional<KeptToken> OAuthToken::to_keep() const {
  if (!is_good() && scope_.stepped().empty()) return std::nullopt;
  KeptToken kept;
  kept.scope = scope_.stepped();
  kept.announced = server_.announced;
  if (!is_good()) return kept;
  kept.token = *token_;
  kept.expires_by_itself = life_.expires != SteadyTime::max();
  kept.refresh = ticks_of(life_.refresh);
  kept.expires = ticks_of(life_.expires);
  return kept;
}

void OAuthToken::go_on_with(const KeptToken& kept) {
  needed_ = true;
  server_.announced = kept.announced;
  scope_.go_on_with(kept.scope);
  if (kept.token.empty()) return;
  token_ = kept.token;
  recent_.add(kept.token);
  if (kept.expires_by_itself) life_ = {steady_time_of(kept.refresh), steady_time_of(kept.expires)};
}

std::vector<std::string> OAuthToken::secrets() const {
  std::vector<std::string> secrets = recent_.all();
  if (!request_.text.secret.empty()) secrets.push_back(request_.text.secret);
  return secrets;
}

std::string OAuthToken::scope() const {
  return scope_.text(server_.found ? server_.found->scope : std::string());
}

}  // namespace bridge
