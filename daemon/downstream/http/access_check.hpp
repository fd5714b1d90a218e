#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "downstream/http/bearer_token.hpp"
#include "downstream/http/face_options.hpp"
#include "downstream/http/routes.hpp"
#include "http/server/http_connection.hpp"
#include "http/site_check.hpp"

namespace bridge {

/// Who may ask the face for what, as far as a request's head tells: site, token, path, method, the
/// version of the protocol, the type of the body. The loop's thread only.
class AccessCheck {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// REQUIRES: options.address; `routes` outlives it.
  AccessCheck(const Routes& routes, const FaceOptions& options);

  /// `now` is for the pace of looking at the token's file.
  Admission admit(const RequestHead& head, bool has_body, SteadyTime now);
  /// What lets a listed site's pages read the answer.
  Headers cors_headers(const RequestHead& head) const;
  /// The answer to OPTIONS. REQUIRES: admitted.
  HttpResponse preflight(const RequestHead& head) const;

 private:
  std::optional<HttpResponse> site_fault(const RequestHead& head) const;
  std::optional<HttpResponse> fault_of(const RequestHead& head) const;

  const Routes& routes_;
  BearerToken token_;
  SiteCheck sites_;
};

}  // namespace bridge
