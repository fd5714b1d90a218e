#include "auth/oauth_token.hpp"

#include <utility>

#include "auth/challenge.hpp"
#include "auth/scope.hpp"
#include "http/client/web_url.hpp"
#include "text/header_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_steps = 64;

/// What a challenge names, if it can be sent on.
std::string hint(const std::vector<Challenge>& challenges, std::string_view name) {
  std::string value = bearer_parameter(challenges, name);
  const bool fits = fits_header(value, header_limit::scope, Blanks::inside);
  return fits ? value : std::string();
}

}  // namespace

OAuthToken::OAuthToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
                       const HttpOptions& upstream, Log& log)
    : loop_(loop),
      curl_(curl),
      options_(options),
      upstream_(upstream),
      log_(log),
      resource_(resource_of(upstream.url)),
      shared_(loop, [this] { begin(); }) {}

bool OAuthToken::is_good() const { return token_ && !stepping_ && !life_.is_over(loop_.now()); }

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
           step_up(token, hint(challenges, "scope"));
  }
  needed_ = true;
  if (const std::string place = hint(challenges, "resource_metadata"); !place.empty())
    announced_ = place;
  if (const std::string scope = hint(challenges, "scope"); !scope.empty()) challenge_scope_ = scope;
  if (token_ == token) {
    token_.reset();
    shared_.token_refused();
  }
  return true;
}

bool OAuthToken::step_up(const std::string& token, const std::string& wanted) {
  if (wanted.empty()) return false;
  // Others have been refused as well, and the first of them has brought a better one or will.
  if (stepping_ || (!token.empty() && token_ != token)) return true;
  if (tried_steps_.size() >= max_steps || !tried_steps_.insert(wanted).second) return false;
  needed_ = true;
  scope_before_step_ = stepped_scope_;
  // What was had before stays: the session is everybody's, and others need that.
  stepped_scope_ = joined_scopes(wanted, scope());
  wanted_step_ = wanted;
  stepping_ = true;
  return true;
}

void OAuthToken::reload() {
  server_.reset();
  tried_steps_.clear();
  shared_.forgive();
}

std::vector<std::string> OAuthToken::secrets() const {
  std::vector<std::string> secrets = recent_.all();
  if (!client_secret_.empty()) secrets.push_back(client_secret_);
  return secrets;
}

std::string OAuthToken::scope() const {
  if (!stepped_scope_.empty()) return stepped_scope_;
  if (!options_.scope.empty()) return options_.scope;
  if (!challenge_scope_.empty()) return challenge_scope_;
  return server_ ? server_->scope : std::string();
}

}  // namespace bridge
