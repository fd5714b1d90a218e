#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/client/http_options.hpp"
#include "http/client/small_request.hpp"
#include "login/token_form.hpp"

namespace bridge {

class CurlLoop;

/// Where forms with secrets are sent. An interface for the tests of what depends on the answers.
///
/// The loop's thread only. `done` comes once, from the loop, and not after cancel().
class TokenEndpoint {
 public:
  using Done = std::function<void(const SmallAnswer&)>;

  virtual ~TokenEndpoint() = default;
  /// `public_only`: a public server has named it, so that it may have no private address. REQUIRES:
  /// nothing is under way.
  virtual void post(const std::string& url, bool public_only, const TokenForm& form, Done done) = 0;
  virtual void cancel() = 0;
};

/// Over HTTP, one request at a time.
class HttpTokenEndpoint final : public TokenEndpoint {
 public:
  HttpTokenEndpoint(CurlLoop& curl, const HttpOptions& upstream)
      : curl_(curl), upstream_(upstream) {}

  void post(const std::string& url, bool public_only, const TokenForm& form, Done done) override;
  void cancel() override { request_.reset(); }

 private:
  CurlLoop& curl_;
  const HttpOptions& upstream_;
  std::unique_ptr<SmallRequest> request_;
};

/// Every secret of a form, so that an answer that repeats it can be shown without them.
std::vector<std::string> secrets_of(const TokenForm& form);

}  // namespace bridge
