#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/secret_file.hpp"
#include "downstream/http/face_context.hpp"
#include "downstream/http/routes.hpp"
#include "http/request.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// The token that callers of the face must present: --http-token-file, looked at once a second at
/// most and only for a request, read again when it is another one. While the file cannot be
/// read no caller is admitted. A part of AccessCheck; the loop's thread only.
class BearerToken {
 public:
  /// No path: every caller is admitted.
  explicit BearerToken(std::string path);

  /// Empty, or why the file is of no use; for the start.
  const std::string& fault() const { return fault_; }
  /// `authorization` is the value of that header, `now` for the pace of looking.
  bool admits(std::string_view authorization, std::chrono::steady_clock::time_point now);

 private:
  void read();

  std::string path_;
  std::string token_;
  std::string fault_;
  std::optional<FileIdentity> identity_;  ///< nothing: read it again
  std::chrono::steady_clock::time_point looked_{};
};

/// Who may ask the face for what, as far as a request's head tells: site, token, path, method, the
/// version of the protocol, the type of the body. The loop's thread only.
class AccessCheck {
 public:
  /// REQUIRES: options.address; `routes` outlives it.
  AccessCheck(const Routes& routes, const FaceOptions& options);

  /// `now` is for the pace of looking at the token's file.
  Admission admit(const RequestHead& head, bool has_body, SteadyTime now);
  /// What lets a listed site's pages read the answer.
  HttpResponse::Headers cors_headers(const RequestHead& head) const;
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
