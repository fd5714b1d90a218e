#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/watched_token.hpp"
#include "downstream/http/frontend_context.hpp"
#include "downstream/http/routes.hpp"
#include "grant/grant.hpp"
#include "http/request.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// The credentials in an Authorization header of the scheme Bearer; empty: another one. Pure.
std::string_view bearer_of(std::string_view authorization);
/// 401: with this grant no request is accepted.
HttpResponse grant_refused(GrantEnd end);

/// What is wrong with the options, as one line; empty: nothing.
std::string fault_of(const FrontendOptions& options);

/// The token that callers of the frontend must present: --http-token-file, checked only for a
/// request. While the file cannot be used no caller is admitted. A part of AccessCheck; the loop's
/// thread only.
class BearerToken {
 public:
  /// Empty path: every caller is admitted.
  explicit BearerToken(const std::string& path) {
    if (!path.empty()) file_.emplace(path, "--http-token-file");
  }

  /// Empty, or why the file cannot be used; for the start.
  std::string fault() const { return file_ ? file_->fault() : std::string(); }
  /// `authorization` is the value of that header, `now` limits how often the file is checked.
  bool admits(std::string_view authorization, SteadyTime now);

 private:
  std::optional<WatchedToken> file_;
};

/// Whether a caller may make a request, judged by its head: site, token, path, method, protocol
/// version, content type. The loop's thread only.
class AccessCheck {
 public:
  /// `routes` outlives it.
  AccessCheck(const Routes& routes, const FrontendOptions& options);

  /// `now` limits how often the token's file is checked. `is_local`: on the Unix socket, whose
  /// callers need neither token nor Host, and no web page may call unless it is listed. `grant`: in
  /// place of the token.
  Admission admit(const RequestHead& head, bool has_body, SteadyTime now, bool is_local = false,
                  const std::optional<std::variant<GrantHold, GrantEnd>>& grant = {});
  /// The headers that let the pages of a listed site read the response.
  HttpResponse::Headers cors_headers(const RequestHead& head) const;
  /// The response to OPTIONS. REQUIRES: admitted.
  HttpResponse preflight(const RequestHead& head) const;

 private:
  std::optional<HttpResponse> site_fault(const RequestHead& head, bool is_local) const;

  const Routes& routes_;
  BearerToken token_;
  SiteCheck sites_;
};

}  // namespace bridge
