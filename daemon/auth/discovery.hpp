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

/// Scopes are words separated by spaces (RFC 6749, section 3.3). Those of `first`, then those of
/// `second` that are not among them.
std::string joined_scopes(const std::string& first, const std::string& second);

std::string scope_of(const std::vector<std::string>& scopes);

/// One challenge of a WWW-Authenticate field.
struct Challenge {
  std::string scheme;                                           ///< in lower case
  std::string token68;                                          ///< instead of parameters
  std::vector<std::pair<std::string, std::string>> parameters;  ///< names in lower case, unquoted

  /// Empty if there is none; of several the first.
  std::string_view parameter(std::string_view name) const;
};

/// RFC 9110, section 11.6.1; fields that were repeated joined by commas. What is not well-formed is
/// skipped up to the next comma. Pure.
std::vector<Challenge> parse_challenges(std::string_view field);

/// The parameter of the first Bearer challenge that has it; empty if none has.
std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name);

/// The same, if it can be sent on; else empty.
std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name);

/// The scope that tokens are asked for (MCP 2025-11-25, "Authorization", "Scope Selection Strategy"
/// and "Step-Up Authorization Flow"): the operator's, else what the last 401 has named, else what
/// the server supports; and once a 403 has asked for more, that beside what was had before.
///
/// Pure. Memory: of at most 64 steps the scope that each asked for.
class WantedScope {
 public:
  explicit WantedScope(std::string configured) : configured_(std::move(configured)) {}

  /// `supported`: by the server, as far as it is known.
  std::string text(const std::string& supported) const {
    if (!stepped_.empty()) return stepped_;
    if (!configured_.empty()) return configured_;
    return challenged_.empty() ? supported : challenged_;
  }

  /// What a 401 has named.
  void challenge(std::string scope) { challenged_ = std::move(scope); }

  /// A 403 asks for this, beside `had`. False: that was tried.
  bool step_up(const std::string& asked, const std::string& had) {
    if (tried_.size() >= max_steps || !tried_.insert(asked).second) return false;
    before_ = stepped_;
    // What was had before stays: the session is everybody's, and others need that.
    stepped_ = joined_scopes(asked, had);
    asked_ = asked;
    stepping_ = true;
    return true;
  }
  /// The token that is had is good, but not good enough.
  bool is_stepping() const { return stepping_; }
  void step_made() { stepping_ = false; }
  /// Returns whether there was one. `judged`: the server has refused it; else it may be tried
  /// again.
  bool step_failed(bool judged) {
    if (!std::exchange(stepping_, false)) return false;
    stepped_ = before_;
    if (!judged) tried_.erase(asked_);
    return true;
  }
  /// What a 403 has led to, to be saved.
  const std::string& stepped() const { return stepping_ ? before_ : stepped_; }
  void restore(std::string stepped) { stepped_ = std::move(stepped); }
  /// Settings may have changed: each step may be tried again.
  void forgive() { tried_.clear(); }

 private:
  static constexpr std::size_t max_steps = 64;

  std::string configured_;
  std::string challenged_;
  std::string stepped_;  ///< instead of these, since a 403
  std::string before_;   ///< stepped_ before the step under way
  std::string asked_;    ///< by the challenge that led to it
  std::set<std::string> tried_;
  bool stepping_ = false;
};

/// A URL that a server has named for what is secret, if it can be one: https, or http to this very
/// machine; of bounded length, nothing in it that could not stand in a request, no userinfo. Pure.
inline std::optional<WebUrl> endpoint_url(const std::string& said) {
  auto url = fits_header(said, header_limit::url) ? parse_web_url(said) : std::nullopt;
  if (!url || url->has_user || url->has_fragment || !is_trustworthy(*url)) return std::nullopt;
  return url;
}

/// What a protected resource says of itself (RFC 9728, section 2).
struct ResourceMetadata {
  std::string resource;
  std::vector<std::string> authorization_servers;
  std::vector<std::string> scopes_supported;
};

/// What an authorization server says of itself (RFC 8414, section 2).
struct ServerMetadata {
  std::string issuer;
  std::string token_endpoint;
  std::vector<std::string> token_endpoint_auth_methods;  ///< empty: not said

  // Of a server at which a person logs in; empty: there is none, or it is not said.
  std::string authorization_endpoint{};
  std::string registration_endpoint{};          ///< RFC 7591
  std::string device_authorization_endpoint{};  ///< RFC 8628
  std::string revocation_endpoint{};            ///< RFC 7009
  std::vector<std::string> code_challenge_methods{};
  std::vector<std::string> scopes_supported{};
  bool answers_name_issuer = false;       ///< RFC 9207
  bool takes_metadata_documents = false;  ///< a client id may be the URL of the client's metadata
};

/// Nothing if the text is no JSON object. Members that are missing or of another type are empty; of
/// an array the first 64 strings count. Pure.
std::optional<ResourceMetadata> read_resource_metadata(const std::string& text);
std::optional<ServerMetadata> read_server_metadata(const std::string& text);

/// What MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery", says of a server that
/// says nothing: `/authorize`, `/token` and `/register` at its origin, which is its issuer. It
/// names S256, since that revision requires PKCE of every client and OAuth 2.1 requires S256 of
/// every server. Pure.
ServerMetadata default_server_metadata(const std::string& origin);

/// Whether client_secret_post is to be used: only if the server takes it and not Basic, which is
/// what it takes if it says nothing.
bool wants_secret_in_body(const ServerMetadata& server);

/// Whether all of it is one JSON object.
bool is_json_object(const std::string& text);

/// Where the metadata of a protected resource are looked for, in this order: RFC 9728, section 3.1,
/// then the root of its origin. Empty if `resource` is no URL. Pure, as the next one.
std::vector<std::string> resource_metadata_urls(const std::string& resource);

/// Where those of an authorization server are: RFC 8414, section 3.1, and OpenID Connect Discovery
/// 1.0, section 4, each with the path after the well-known part, and the latter also before it.
/// Empty if `issuer` cannot be one.
std::vector<std::string> server_metadata_urls(const std::string& issuer);

/// Whom to ask for a token, and for what.
struct AuthorizationServer {
  std::string issuer;  ///< empty: not known
  std::string token_endpoint;
  std::string resource;
  std::string scope;          ///< of scopes_supported; may be empty
  ServerMetadata metadata{};  ///< all that the server says; its endpoints are not checked but one
  bool is_default = false;    ///< there are no metadata: the default endpoints of MCP 2025-03-26

  /// What an error message about one of the endpoints ends with; empty for one that was named.
  std::string remark() const;
};

/// Finds the authorization server of a resource: its metadata (RFC 9728) at the announced place or
/// else the well-known ones, then the server's (RFC 8414, OpenID Connect Discovery).
///
/// A document is believed only if it names the resource, or the issuer, it was looked for under.
/// Plain http is followed to this machine only. Who names the server is the upstream: it decides
/// who is shown the client's secret. MCP 2025-11-25, "Authorization", "Authorization Server
/// Discovery".
///
/// A resource without metadata (each place answers 4xx, and its refusal announced none) is one of
/// MCP 2025-03-26, "Authorization", "Server Metadata Discovery": its origin is the authorization
/// server, with metadata there or with the default endpoints. What cannot be reached, 5xx and
/// documents that are refused are not the absence of metadata.
///
/// The loop's thread only; owned by OAuthToken. Memory: one small answer at a time (SmallRequest),
/// and the places still to be looked at, some ten. What went wrong is said in Result::fault.
class Discovery {
 public:
  struct Result {
    std::optional<AuthorizationServer> server;
    std::string fault;
    /// The resource is at a public address, so that no private one is believed of it.
    bool is_public = false;
  };
  using Done = std::function<void(const Result&)>;

  /// What the resource's refusals say. One that has refused nothing may want no token, so that
  /// nothing is concluded from the absence of metadata.
  struct Refusal {
    bool was_seen = false;
    std::string announced;  ///< where its metadata are; may be empty
  };

  /// `done` comes once, maybe from within start(), and may destroy this.
  Discovery(CurlLoop& curl, const HttpOptions& upstream, std::string resource,
            const Refusal& refusal, Done done);

  void start() { next(); }

 private:
  struct Place {
    std::string url;
    std::string issuer;  ///< empty: a resource's metadata are there
  };

  void next();
  bool go_on_at_origin();
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
  bool has_no_metadata_ = false;  ///< as far as is known
  bool is_at_origin_ = false;     ///< the servers that are looked for are the resource's origin
  std::string fault_;
  bool fault_is_telling_ = false;
};

}  // namespace bridge
