#include "login/token_endpoint.hpp"

#include <array>
#include <utility>

#include "http/client/curl_loop.hpp"
#include "http/request_head.hpp"

namespace bridge {

void HttpTokenEndpoint::post(const std::string& url, bool public_only, const TokenForm& form,
                             Done done) {
  HttpOptions options = upstream_;
  options.public_only = public_only && !upstream_.may_be_private;
  request_ = std::make_unique<SmallRequest>(
      curl_, options, url, &form.body, form.authorization,
      [this, done = std::move(done)](const SmallAnswer& answer) {
        const std::unique_ptr<SmallRequest> over = std::move(request_);
        done(answer);
      });
}

std::vector<std::string> secrets_of(const TokenForm& form) {
  std::vector<std::string> secrets;
  if (!form.authorization.empty())
    secrets.push_back(form.authorization.substr(form.authorization.find(' ') + 1));
  RequestHead fields;
  fields.query = form.body;
  constexpr std::array<std::string_view, 6> names = {
      "code", "code_verifier", "refresh_token", "client_secret", "device_code", "token"};
  for (const std::string_view name : names) {
    if (const auto value = fields.parameter(name); value && !value->empty())
      secrets.push_back(*value);
  }
  return secrets;
}

}  // namespace bridge
