#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/secret_file.hpp"
#include "downstream/http/frontend_context.hpp"
#include "downstream/http/routes.hpp"
#include "http/request.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// The token that callers of the frontend must present: --http-token-file, checked at most once a
/// second and only for a request, read again when it has changed. While the file cannot be read no
/// caller is admitted. A part of AccessCheck; the loop's thread only.
class BearerToken {
 public:
  /// Empty path: every caller is admitted.
  explicit BearerToken(std::string path);

  /// Empty, or why the file cannot be used; for the start.
  const std::string& fault() const { return fault_; }
  /// `authorization` is the value of that header, `now` limits how often the file is checked.
  bool admits(std::string_view authorization, std::chrono::steady_clock::time_point now);

 private:
  void read();

  std::string path_;
  std::string token_;
  std::string fault_;
  std::optional<FileIdentity> identity_;  ///< none: read it again
  std::chrono::steady_clock::time_point looked_{};
};

/// Whether a caller may make a request, judged by its head: site, token, path, method, protocol
/// version, content type. The loop's thread only.
class AccessCheck {
 public:
  /// REQUIRES: options.address; `routes` outlives it.
  AccessCheck(const Routes& routes, const FrontendOptions& options);

  /// `now` limits how often the token's file is checked.
  Admission admit(const RequestHead& head, bool has_body, SteadyTime now);
  /// The headers that let the pages of a listed site read the response.
  HttpResponse::Headers cors_headers(const RequestHead& head) const;
  /// The response to OPTIONS. REQUIRES: admitted.
  HttpResponse preflight(const RequestHead& head) const;

 private:
  std::optional<HttpResponse> site_fault(const RequestHead& head) const;
  std::optional<HttpResponse> fault_of(const RequestHead& head) const;

  const Routes& routes_;
  BearerToken token_;
  SiteCheck sites_;
};

}  // namespace bridge
