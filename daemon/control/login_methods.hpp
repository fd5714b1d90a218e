#pragma once

#include <string>

#include "auth/login.hpp"
#include "router/control.hpp"
#include "router/router.hpp"

namespace bridge {

/// Answers `bridge/login` and `bridge/logout` (BEHAVIOUR, "Control methods: bridge/login,
/// bridge/logout"): of clients of the Unix socket only, and of those only the daemon's user and
/// root.
///
/// The loop's thread only; owned by ControlMethods.
class LoginMethods {
 public:
  static bool has(std::string_view method) {
    return method == "bridge/login" || method == "bridge/logout";
  }

  /// `login` is null if nobody can log in; `why_not` says why.
  void set_login(Login* login, std::string why_not) {
    login_ = login;
    why_not_ = std::move(why_not);
  }

  void answer(const Frame& request, const Client& asker, Control::Reply reply);
  /// `,"login":{…}`, or nothing if nobody can log in.
  std::string status(const Session& session) const;

 private:
  void log_in(std::string_view params, const std::string& id, Control::Reply reply);

  Login* login_ = nullptr;
  std::string why_not_ = "the upstream is no HTTP server";
};

}  // namespace bridge
