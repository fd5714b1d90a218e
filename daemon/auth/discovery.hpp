#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/client/http_options.hpp"
#include "http/client/small_request.hpp"
#include "http/client/web_url.hpp"
#include "text/visible_text.hpp"

namespace bridge {

/// Scopes are words separated by spaces (RFC 6749, section 3.3). Returns those of `first`, then
/// those of `second` that are not among them.
std::string joined_scopes(const std::string& first, const std::string& second);

std::string scope_of(const std::vector<std::string>& scopes);

/// One challenge of a WWW-Authenticate field.
struct Challenge {
  std::string scheme;                                           ///< in lower case
  std::string token68;                                          ///< instead of parameters
  std::vector<std::pair<std::string, std::string>> parameters;  ///< names in lower case, unquoted

  /// Empty if absent; the first if repeated.
  std::string_view parameter(std::string_view name) const;
};

/// RFC 9110, section 11.6.1; repeated fields are joined by commas. What is not well-formed is
/// skipped up to the next comma. Pure.
std::vector<Challenge> parse_challenges(std::string_view field);

/// The parameter of the first Bearer challenge that has it; empty if none has.
std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name);

/// The same, or empty if it cannot be sent in a request.
std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name);

/// The scope to request (MCP 2025-11-25, "Authorization", "Scope Selection Strategy" and "Step-Up
/// Authorization Flow"): the operator's, else the one that the last 401 named, else what the server
/// supports; after a 403 that asked for more, that in addition to the previous scope.
///
/// Pure. Memory: the scopes of at most 64 steps.
class WantedScope {
 public:
  explicit WantedScope(std::string configured) : configured_(std::move(configured)) {}

  /// `supported`: by the server, as far as known.
  std::string text(const std::string& supported) const {
    if (!stepped_.empty()) return stepped_;
    if (!configured_.empty()) return configured_;
    return challenged_.empty() ? supported : challenged_;
  }

  /// The scope that a 401 named.
  void challenge(std::string scope) { challenged_ = std::move(scope); }

  /// A 403 asks for `asked` in addition to `had`. False: that was tried already.
  bool step_up(const std::string& asked, const std::string& had) {
    if (tried_.size() >= max_steps || !tried_.insert(asked).second) return false;
    before_ = stepped_;
    // The previous scope stays: all clients share the session, and others need it.
    stepped_ = joined_scopes(asked, had);
    asked_ = asked;
    stepping_ = true;
    return true;
  }
  /// The current token is valid, but its scope is insufficient.
  bool is_stepping() const { return stepping_; }
  void step_made() { stepping_ = false; }
  /// Returns whether a step was under way. `judged`: the server has refused it; otherwise it may be
  /// tried again.
  bool step_failed(bool judged) {
    if (!std::exchange(stepping_, false)) return false;
    stepped_ = before_;
    if (!judged) tried_.erase(asked_);
    return true;
  }
  /// The scope after a 403, to be saved.
  const std::string& stepped() const { return stepping_ ? before_ : stepped_; }
  void restore(std::string stepped) { stepped_ = std::move(stepped); }
  /// The settings may have changed: each step may be tried again.
  void forgive() { tried_.clear(); }

 private:
  static constexpr std::size_t max_steps = 64;

  std::string configured_;
  std::string challenged_;
  std::string stepped_;  ///< replaces both after a 403
  std::string before_;   ///< stepped_ before the step under way
  std::string asked_;    ///< by the challenge that led to it
  std::set<std::string> tried_;
  bool stepping_ = false;
};

/// A URL that a server has named for sending secrets, if it is acceptable: https, or http to this
/// machine; bounded length, only characters that a request may contain, no userinfo. Pure.
inline std::optional<WebUrl> endpoint_url(const std::string& said) {
  auto url = fits_header(said, header_limit::url) ? parse_web_url(said) : std::nullopt;
  if (!url || url->has_user || url->has_fragment || !is_trustworthy(*url)) return std::nullopt;
  return url;
}

/// Metadata of a protected resource (RFC 9728, section 2).
struct ResourceMetadata {
  std::string resource;
  std::vector<std::string> authorization_servers;
  std::vector<std::string> scopes_supported;
};

/// Metadata of an authorization server (RFC 8414, section 2).
struct ServerMetadata {
  std::string issuer;
  std::string token_endpoint;
  std::vector<std::string> token_endpoint_auth_methods;  ///< empty: not given

  // For a login; empty: none, or not given.
  std::string authorization_endpoint{};
  std::string registration_endpoint{};          ///< RFC 7591
  std::string device_authorization_endpoint{};  ///< RFC 8628
  std::string revocation_endpoint{};            ///< RFC 7009
  std::vector<std::string> code_challenge_methods{};
  std::vector<std::string> scopes_supported{};
  std::vector<std::string> grant_types{};  ///< empty: not given
  bool answers_name_issuer = false;        ///< RFC 9207
  bool takes_metadata_documents = false;   ///< a client id may be the URL of the client's metadata

  /// RFC 8414, section 2: the authorization code is a default of `grant_types`.
  bool has_browser_login() const;
};

/// nullopt if the text is not a JSON object. Members that are missing or of another type are empty;
/// of an array the first 64 strings count. Pure.
std::optional<ResourceMetadata> read_resource_metadata(const std::string& text);
std::optional<ServerMetadata> read_server_metadata(const std::string& text);

/// The defaults of MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery":
/// `/authorize`, `/token` and `/register` at the server's origin, which is its issuer. Names S256,
/// since that revision requires PKCE of every client and OAuth 2.1 requires S256 of every server.
/// Pure.
ServerMetadata default_server_metadata(const std::string& origin);

/// Whether to use client_secret_post: only if the server supports it and not Basic, which is the
/// default if the metadata name no method.
bool wants_secret_in_body(const ServerMetadata& server);

/// Whether the whole text is one JSON object.
bool is_json_object(const std::string& text);

/// The places where a protected resource may have its metadata, in this order: RFC 9728, section
/// 3.1, then the root of its origin. Empty if `resource` is not a URL. Pure, as the next one.
std::vector<std::string> resource_metadata_urls(const std::string& resource);

/// The same for an authorization server: RFC 8414, section 3.1, and OpenID Connect Discovery 1.0,
/// section 4, each with the path after the well-known part, and the latter also before it. Empty if
/// `issuer` is not valid.
std::vector<std::string> server_metadata_urls(const std::string& issuer);

/// The form in which an issuer is compared: as written, but without the slash of an empty path,
/// which is the same URL without it (RFC 3986, section 6.2.3). Servers publish both forms. Pure.
std::string_view compared_issuer(std::string_view issuer);

/// Whether both name one issuer. Every comparison of issuers is this one. Pure.
inline bool is_same_issuer(std::string_view one, std::string_view other) {
  return compared_issuer(one) == compared_issuer(other);
}

/// Where tokens are requested, and for what.
struct AuthorizationServer {
  std::string issuer;  ///< empty: unknown
  std::string token_endpoint;
  std::string resource;
  std::string scope;          ///< from scopes_supported; may be empty
  ServerMetadata metadata{};  ///< as received; only the token endpoint is checked
  bool is_default = false;    ///< without metadata: the default endpoints of MCP 2025-03-26

  /// Whether a person may log in there, as far as its metadata say.
  bool is_for_persons() const;
  /// A suffix for error messages about an endpoint; empty unless it is a default one.
  std::string remark() const;
};

/// Finds the authorization server of a resource: reads the resource's metadata (RFC 9728) at the
/// announced place or the well-known ones, then the server's (RFC 8414, OpenID Connect Discovery).
///
/// A document is accepted only if it names the resource, or the issuer, that it was requested for.
/// Plain http is followed to this machine only. The upstream names the server, so it decides which
/// server gets the client's secret. MCP 2025-11-25, "Authorization", "Authorization Server
/// Discovery".
///
/// A resource without metadata (each place answers 4xx, and its refusal announced none) follows MCP
/// 2025-03-26, "Authorization", "Server Metadata Discovery": its origin is the authorization
/// server, with metadata there or the default endpoints. Unreachable places, 5xx and rejected
/// documents do not count as the absence of metadata.
///
/// The loop's thread only; owned by OAuthToken. Memory: one small response at a time
/// (SmallRequest), and the remaining places, about ten. Errors: Result::fault.
class Discovery {
 public:
  struct Result {
    std::optional<AuthorizationServer> server;
    std::string fault;
    /// The resource is at a public address, so it may not name servers at private ones.
    bool is_public = false;
  };
  using Done = std::function<void(const Result&)>;

  /// What the resource's refusals said. A resource that has not refused anything may need no token,
  /// so nothing is concluded from the absence of metadata.
  struct Refusal {
    bool was_seen = false;
    std::string announced;  ///< where its metadata are; may be empty
  };

  /// `done` is called once, possibly from within start(), and may destroy this.
  Discovery(CurlLoop& curl, const HttpOptions& upstream, std::string resource,
            const Refusal& refusal, Done done);

  void start() { next(); }

 private:
  struct Place {
    std::string url;
    std::string issuer;  ///< empty: a place for a resource's metadata
  };

  void next();
  bool continue_at_origin();
  void answered(const Place& place, const SmallAnswer& answer);
  bool take_resource(const Place& place, const std::string& body);
  bool take_server(const Place& place, const std::string& body);
  void note(const std::string& url, const std::string& fault, bool telling);
  void finish();

  CurlLoop& curl_;
  HttpOptions upstream_;
  std::string origin_;  ///< of the resource
  Done done_;
  std::deque<Place> places_;
  std::unique_ptr<SmallRequest> request_;
  AuthorizationServer found_;
  bool is_found_ = false;
  bool has_no_metadata_ = false;  ///< as far as known
  bool is_at_origin_ = false;     ///< the servers looked for are the resource's origin
  std::string fault_;
  bool fault_is_telling_ = false;
};

}  // namespace bridge
