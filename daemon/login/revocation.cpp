#include "login/revocation.hpp"

#include <fmt/format.h>

#include <utility>

namespace bridge {

void Revocation::revoke(const StoredLogin& login, Login::LogoutDone done) {
  if (endpoint_) {
    done({true, false, "another logout is under way"});
    return;
  }
  if (login.revocation_endpoint.empty()) {
    done({true, false, {}});
    return;
  }
  endpoint_ = std::make_unique<HttpTokenEndpoint>(curl_, upstream_);
  const bool by_refresh = !login.refresh_token.empty();
  const TokenForm form =
      revocation_form(login.client, by_refresh ? login.refresh_token : login.access_token,
                      by_refresh ? "refresh_token" : "access_token");
  endpoint_->post(login.revocation_endpoint, login.is_public, form,
                  [this, done = std::move(done)](const SmallAnswer& answer) {
                    loop_.reap(std::move(endpoint_));
                    LogoutAnswer told{true, false, answer.fault};
                    if (answer.fault.empty()) {
                      told.revoked = answer.status == 200;
                      if (!told.revoked) told.fault = fmt::format("HTTP {}", answer.status);
                    }
                    done(told);
                  });
}

}  // namespace bridge
