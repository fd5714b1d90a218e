#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "auth/metadata.hpp"
#include "http/client/http_options.hpp"
#include "http/client/small_request.hpp"

namespace bridge {

/// Whom to ask for a token, and for what.
struct AuthorizationServer {
  std::string issuer;  ///< empty: not known
  std::string token_endpoint;
  bool secret_in_body = false;
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
