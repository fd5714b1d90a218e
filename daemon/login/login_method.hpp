#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "auth/login.hpp"
#include "auth/metadata.hpp"
#include "auth/token_response.hpp"
#include "base/failure.hpp"
#include "login/login_parts.hpp"

namespace bridge {

/// A way for a person to grant access, from what there is for them to do to the tokens.
///
/// The loop's thread only; owned by a LoginFlow. Nothing comes after stop() or destruction.
class LoginMethod {
 public:
  /// Told once at most each, maybe from within a call of the method; none of them may destroy it.
  class Owner {
   public:
    /// There is something for a person to do, for so long at most.
    virtual void method_offers(std::chrono::milliseconds at_most) = 0;
    virtual void method_granted(const TokenGrant& grant) = 0;
    /// Nothing secret in `message`.
    virtual void method_failed(ErrorKind kind, const std::string& message) = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~LoginMethod() = default;

  /// Why this server cannot be logged in to so, or that a redirect address cannot be had; empty if
  /// it can. Asked once, first.
  virtual std::string prepare(const AuthorizationServer& server) = 0;
  /// Where the person's browser comes back, to be registered; after prepare().
  virtual std::string redirect_uri() const = 0;
  /// Whether what was registered for that address does.
  virtual bool fits(const std::string& registered_uri) const = 0;
  virtual void start(const AccessRequest& request) = 0;
  virtual void stop() = 0;

  virtual bool has_offer() const = 0;
  virtual void describe(LoginOffer& offer) const = 0;
  /// The query of a redirect. False: it is none to this login, which goes on.
  virtual bool take(const std::string& query) = 0;
  /// The person's browser, if it waits, is shown how it ended.
  virtual void show_end(bool is_logged_in) = 0;
  virtual std::vector<std::string> secrets() const = 0;
};

}  // namespace bridge
