#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/login_method.hpp"
#include "auth/token_endpoint.hpp"
#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "http/response.hpp"
#include "http/server/http_server.hpp"

namespace bridge {

/// The page shown to a browser at the redirect address: the outcome and nothing else; no script, no
/// link, nothing from its request. Pure.
enum class RedirectPage { logged_in, not_logged_in, unknown_address };

HttpResponse redirect_page(RedirectPage page);

/// The redirect address of `--oauth-redirect`.
struct RedirectPlace {
  std::string host;  ///< 127.0.0.1, ::1 or localhost
  std::uint16_t port = 0;

  /// `HOST:PORT` of this machine; nullopt if it is not that.
  static std::optional<RedirectPlace> parse(const std::string& text);
  std::string uri(std::uint16_t port) const;
};

/// Receives the redirect of one login at a loopback address (RFC 8252, section 7.3): one path, GET
/// only, for its lifetime. Any other request gets a short answer and changes nothing.
///
/// The loop's thread only; owned by a BrowserLogin. Bounds: 8 connections, a head of 16 KiB, no
/// body, 10 s for a head.
class RedirectListener final : private HttpRequests, private HttpResponder {
 public:
  /// Takes the query of a GET. False: it does not belong to this login (answered 400).
  using Take = std::function<bool(const std::string& query)>;

  /// Tries the ports in order. Throws StartError if none of them is available.
  RedirectListener(EventLoop& loop, Log& log, const RedirectPlace& place,
                   const std::vector<std::uint16_t>& ports, Take take);
  ~RedirectListener();

  /// As it is registered and sent to the server.
  const std::string& uri() const { return uri_; }

  /// Sends the result page to the browser that delivered the redirect; the last call.
  void show(bool is_logged_in);

 private:
  Admission request_begins(const HttpConnection& connection, const RequestHead& head,
                           bool has_body) override;
  HttpResponse refusal(int status, std::string_view reason) const override;
  void request(HttpConnection& connection, RequestHead head, ReceivedText body) override;
  void connection_drained() override {}
  void connection_lost(bool) override { browser_ = nullptr; }
  bool ends_with_input() const override { return true; }

  void open(const RedirectPlace& place, std::uint16_t port);

  EventLoop& loop_;
  Log& log_;
  Take take_;
  ByteBudget budget_;
  ByteCounts counts_;
  Deferred flush_;
  std::vector<std::unique_ptr<HttpServer>> servers_;
  HttpConnection* browser_ = nullptr;  ///< waits for its page
  std::string uri_;
};

/// 256 bits that cannot be guessed, as 43 characters of base64url: a `state`, a code verifier.
std::string unguessable_text();

/// The S256 challenge of a code verifier (RFC 7636, section 4.2). Pure.
std::string code_challenge(std::string_view verifier);

/// The request that the person's browser opens (RFC 6749, section 4.1.1; RFC 7636; RFC 8707).
struct AuthorizationRequest {
  std::string endpoint;  ///< may have a query of its own
  std::string client_id;
  std::string redirect_uri;
  std::string scope;  ///< empty: not sent
  std::string state;
  std::string code_challenge;
  std::string resource;

  std::string url() const;
};

/// The parameters of the redirect's query (RFC 6749, section 4.1.2; RFC 9207). A value; all of it
/// comes from a peer.
struct RedirectAnswer {
  std::string code;
  std::string state;
  std::string error;
  std::string error_description;
  std::optional<std::string> issuer;
  bool is_ambiguous = false;  ///< a parameter occurs twice
};

/// `query` is without the question mark. Pure.
RedirectAnswer read_redirect(std::string_view query);

/// The query of an address that a person has pasted; surrounding blanks are ignored.
std::string query_of_pasted(std::string_view address);

/// What a redirect must match.
struct ExpectedRedirect {
  std::string state;
  std::string issuer;
  bool issuer_is_announced = false;  ///< the metadata promise an `iss` in each redirect
};

enum class RedirectVerdict {
  foreign,       ///< not a response to this request: it ends nothing
  wrong_issuer,  ///< nothing else in it may be shown or used
  refused,       ///< error and error_description give the reason
  granted,       ///< code is set
};

/// MCP 2026-07-28, "Authorization", "Authorization Response Validation". Pure.
RedirectVerdict judge(const RedirectAnswer& answer, const ExpectedRedirect& expected);

/// The authorization code flow with PKCE (RFC 6749, section 4.1; RFC 7636; RFC 8252; MCP
/// 2026-07-28, "Authorization"): makes the URL for the person's browser, receives the redirect, and
/// exchanges its code for tokens.
///
/// Owned and used like every LoginMethod. The listener is open from prepare() until destruction.
class BrowserLogin final : public LoginMethod {
 public:
  /// `earlier_uri`: the redirect URI registered for the last login, tried first; may be empty.
  /// References outlive this.
  BrowserLogin(const LoginParts& parts, std::string earlier_uri, Owner& owner);

  std::string prepare(const AuthorizationServer& server) override;
  std::string redirect_uri() const override { return listener_->uri(); }
  bool fits(const std::string& registered_uri) const override {
    return registered_uri == listener_->uri();
  }
  void start(const AccessRequest& request) override;
  void stop() override { endpoint_.cancel(); }

  bool has_offer() const override { return !url_.empty(); }
  void describe(LoginOffer& offer) const override { offer.url = url_; }
  bool take(const std::string& query) override;
  void show_end(bool is_logged_in) override;
  std::vector<std::string> secrets() const override;

 private:
  std::string listen();
  void exchange(const std::string& code);
  void answered(const SmallAnswer& answer);

  const LoginParts& parts_;
  std::string earlier_uri_;
  Owner& owner_;
  std::unique_ptr<RedirectListener> listener_;
  AccessRequest request_;
  std::string verifier_;
  ExpectedRedirect expected_;
  std::string url_;
  TokenForm form_;
  HttpTokenEndpoint endpoint_;
};

}  // namespace bridge
