#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/login.hpp"
#include "session/session.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

// The loop's thread only.

/// Whether a request can be expected to be served (BEHAVIOUR, "Session: ready"): the last try to
/// open or to use the session did not fail, and no person has to log in first.
inline bool is_ready(const Session& session, const Upstream& upstream) {
  const Login* const login = upstream.login();
  return session.is_ready() && (login == nullptr || !login->login_status().is_over);
}

/// How a login stands, where one is possible: an upstream that has refused a message and then
/// served one without a token needs none.
inline LoginStatus login_status(const Session& session, const Login& login) {
  LoginStatus status = login.login_status();
  if (status.state == LoginState::needed && !status.is_over && session.is_ready())
    status.state = LoginState::none;
  return status;
}

/// The session's state in words, for people: one line, nothing secret. `failure` is why the last
/// try failed.
std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure);

}  // namespace bridge
