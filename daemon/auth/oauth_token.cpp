#include "auth/oauth_token.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

#include "auth/discovery.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/recent_secrets.hpp"
#include "auth/token_endpoint.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/secret_file.hpp"
#include "http/client/web_url.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/base64.hpp"

namespace bridge {
namespace {

constexpr int least_rsa_bits = 2048;
constexpr std::size_t p256_bytes = 32;

int no_passphrase(char*, int, int, void*) { return -1; }

/// OpenSSL wraps the two numbers in ASN.1; JWS concatenates them.
std::optional<std::string> side_by_side(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> parts(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), &ECDSA_SIG_free);
  if (!parts) return std::nullopt;
  std::array<unsigned char, 2 * p256_bytes> bytes;
  if (BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), bytes.data(), p256_bytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), bytes.data() + p256_bytes, p256_bytes) < 0) {
    return std::nullopt;
  }
  return std::string(bytes.begin(), bytes.end());
}

bool is_p256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  return EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                        nullptr) == 1 &&
         std::string_view(group.data()) == "prime256v1";
}

}  // namespace

void SigningKey::Cleanup::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

std::variant<SigningKey, std::string> SigningKey::from_pem(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_passphrase, nullptr));
  // Leave no errors in OpenSSL's queue, which curl's TLS uses as well.
  ERR_clear_error();
  if (!key) return std::string("not a private key in PEM, or one with a passphrase");
  if (is_p256(key.get())) return SigningKey(std::move(key), false);
  if (EVP_PKEY_is_a(key.get(), "RSA") != 1) {
    return std::string("neither a P-256 nor an RSA key");
  }
  if (EVP_PKEY_get_bits(key.get()) < least_rsa_bits)
    return std::string("an RSA key below 2048 bits");
  return SigningKey(std::move(key), true);
}

std::optional<std::string> SigningKey::sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  std::string signature;
  bool done = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          bytes, text.size()) == 1;
    signature.resize(size);
  }
  ERR_clear_error();
  if (!done) return std::nullopt;
  return is_rsa_ ? std::optional(std::move(signature)) : side_by_side(signature);
}

namespace {

constexpr std::chrono::seconds assertion_life{60};

}  // namespace

std::optional<std::string> client_assertion(const SigningKey& key, const AssertionClaims& claims) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(claims.now.time_since_epoch());
  const std::string header = JsonObject().add("alg", key.algorithm()).add("typ", "JWT").text();
  const std::string payload = JsonObject()
                                  .add("iss", claims.client_id)
                                  .add("sub", claims.client_id)
                                  .add("aud", claims.audience)
                                  .add("jti", claims.id)
                                  .add("iat", now.count())
                                  .add("exp", (now + assertion_life).count())
                                  .text();
  std::string text = base64url(header) + "." + base64url(payload);
  const auto signature = key.sign(text);
  if (!signature) return std::nullopt;
  return text + "." + base64url(*signature);
}

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
  // Other requests were refused as well; the first of them has fetched a better token or will.
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

std::optional<SavedToken> OAuthToken::save() const {
  if (!is_good() && scope_.stepped().empty()) return std::nullopt;
  return SavedToken{is_good() ? *token_ : std::string(), life_, server_.announced,
                    scope_.stepped()};
}

void OAuthToken::restore(const SavedToken& saved) {
  needed_ = true;
  server_.announced = saved.announced;
  scope_.restore(saved.scope);
  if (saved.token.empty()) return;
  token_ = saved.token;
  recent_.add(saved.token);
  life_ = saved.life;
}

std::vector<std::string> OAuthToken::secrets() const {
  std::vector<std::string> secrets = recent_.all();
  if (!request_.client.secret.empty()) secrets.push_back(request_.client.secret);
  return secrets;
}

std::string OAuthToken::scope() const {
  return scope_.text(server_.found ? server_.found->scope : std::string());
}

void OAuthToken::begin() {
  if (!options_.token_url.empty()) {
    server_.found = AuthorizationServer{{}, options_.token_url, resource_, {}};
    request_token();
  } else if (server_.found && server_.found_by == server_.announced) {
    request_token();
  } else {
    server_.found_by = server_.announced;
    server_.discovery = std::make_unique<Discovery>(
        curl_, upstream_, resource_, Discovery::Refusal{needed_, server_.announced},
        [this](const Discovery::Result& result) { discovered(result); });
    server_.discovery->start();
  }
}

void OAuthToken::discovered(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(server_.discovery);
  server_.found = result.server;
  upstream_.public_only = result.is_public;
  if (!server_.found) {
    fail(fmt::format("cannot find the authorization server of {}: {}; --oauth-token-url can name "
                     "its token endpoint",
                     shown_url(resource_), result.fault),
         false);
    return;
  }
  log_.event(LogLevel::debug, "authorization server", "the authorization server of {} is {}",
             shown_url(resource_), shown_url(server_.found->issuer));
  request_token();
}

bool OAuthToken::authenticate(OAuthClient& client, std::string& fault) {
  if (options_.private_key_file.empty()) {
    if (!options_.has_client_secret()) return true;  // the assertion says enough
    SecretFile file = read_client_secret(options_);
    fault = std::move(file.fault);
    client.secret = std::move(file.content);
    client.place = secret_place(server_.found->metadata);
    return fault.empty();
  }
  const SecretFile file = read_secret_file(options_.private_key_file, "--oauth-private-key");
  fault = file.fault;
  if (!fault.empty()) return false;
  const auto key = SigningKey::from_pem(file.content);
  if (const auto* why = std::get_if<std::string>(&key)) {
    fault = fmt::format("--oauth-private-key: {}: {}", printable(options_.private_key_file), *why);
    return false;
  }
  const std::string id = base64url(random_bytes(16));
  const std::string& audience =
      server_.found->issuer.empty() ? server_.found->token_endpoint : server_.found->issuer;
  const auto assertion =
      client_assertion(std::get<SigningKey>(key), {client.id, audience, id, loop_.wall_time()});
  if (!assertion) {
    fault = "the client assertion cannot be signed";
    return false;
  }
  client.secret = *assertion;
  client.place = SecretPlace::assertion;
  return true;
}

/// nullopt: the assertion cannot be read.
std::optional<TokenForm> OAuthToken::make_form(const OAuthClient& client,
                                               std::string& fault) const {
  const std::string& resource = server_.found->resource;
  if (options_.grant != OAuthGrant::jwt_bearer) return credentials_form(client, resource, scope());
  // Projected tokens rotate: each has its own life.
  const SecretFile file = read_secret_file(options_.assertion_file, assertion_option);
  fault = file.fault;
  if (!fault.empty()) return std::nullopt;
  return assertion_form(client, file.content, resource, scope());
}

void OAuthToken::request_token() {
  OAuthClient client;
  client.id = options_.client_id;
  std::string fault;
  std::optional<TokenForm> form;
  if (authenticate(client, fault)) form = make_form(client, fault);
  if (!form) {
    fail(fault, false);
    return;
  }
  request_.asked = loop_.now();
  request_.scope = scope();
  request_.form = std::move(*form);
  request_.client = std::move(client);
  request_.transfer = std::make_unique<SmallRequest>(
      curl_, upstream_, server_.found->token_endpoint, &request_.form.body,
      request_.form.authorization, [this](const SmallAnswer& answer) { answered(answer); });
}

void OAuthToken::answered(const SmallAnswer& answer) {
  const std::unique_ptr<SmallRequest> over = std::move(request_.transfer);
  const std::string where =
      shown_url(server_.found ? server_.found->token_endpoint : std::string());
  std::string remark = server_.found ? server_.found->remark() : std::string();
  if (!remark.empty()) remark += "; --oauth-token-url can name its token endpoint";
  if (!answer.fault.empty()) {
    fail(fmt::format("no token from {}: {}{}", where, answer.fault, remark), false);
    return;
  }
  const auto response = read_token_response(answer.status, answer.body);
  if (const auto* refusal = std::get_if<TokenRefusal>(&response)) {
    // A response may repeat any part of the request.
    std::vector<std::string> sent = secrets();
    for (std::string& one : secrets_of(request_.form)) sent.push_back(std::move(one));
    const std::string reason = server_words(refusal->reason, sent);
    fail(fmt::format("no token from {}: {}{}", where, reason, remark), answer.status < 500);
    return;
  }
  const auto& grant = std::get<TokenGrant>(response);
  token_ = grant.token;
  life_ = TokenLife::of(request_.asked, loop_.now(), grant.expires_in);
  recent_.add(grant.token);
  log_.event(LogLevel::debug, "token", "a new token from {}{}", where,
             grant.expires_in ? fmt::format(", good for {} s", grant.expires_in->count()) : "");
  // The fetch under way was started before this step, so its token does not have that scope.
  if (scope_.is_stepping() && request_.scope != scope()) {
    begin();
    return;
  }
  scope_.step_made();
  shared_.finish(TokenAnswer{grant.token, std::nullopt});
}

/// `judged`: the token endpoint has refused the request.
void OAuthToken::fail(const std::string& message, bool judged) {
  log_.peer(LogLevel::warning, "authorization", "{}", message);
  if (scope_.step_failed(judged) && judged && is_good()) {
    // No more can be granted: the upstream tells the requests that need it; the others continue.
    shared_.finish(TokenAnswer{*token_, std::nullopt});
    return;
  }
  // The server may have moved.
  server_.found.reset();
  shared_.finish(no_token(message));
}

}  // namespace bridge
