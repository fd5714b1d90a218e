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
#include "base/byte_counts.hpp"
#include "event/event_loop.hpp"
#include "http/response.hpp"
#include "http/server/http_server.hpp"

namespace bridge {

/// What a browser is shown that has come to the redirect address: what happened and nothing else;
/// no script, no link, nothing that it came with. Pure.
enum class RedirectPage { logged_in, not_logged_in, unknown_address };

HttpResponse redirect_page(RedirectPage page);

/// Where `--oauth-redirect` wants the browser to come back.
struct RedirectPlace {
  std::string host;  ///< 127.0.0.1, ::1 or localhost
  std::uint16_t port = 0;

  /// `HOST:PORT` of this machine; nothing if it is none.
  static std::optional<RedirectPlace> parse(const std::string& text);
  std::string uri(std::uint16_t port) const;
};

/// Takes the redirect of one login at a loopback address (RFC 8252, section 7.3): one path, GET
/// only, for as long as it lives. What else comes there is answered shortly and changes nothing.
///
/// The loop's thread only; owned by a BrowserLogin. Bounds: 8 connections, 16 KiB of a head, no
/// body, 10 s for a head.
class RedirectListener final : private HttpRequests, private HttpResponder {
 public:
  /// What the query of a GET is: none of ours (answered 400), or ours: the answer is page().
  using Take = std::function<bool(const std::string& query)>;

  /// Throws StartError if none of the ports can be had; the first that can is taken.
  RedirectListener(EventLoop& loop, Log& log, const RedirectPlace& place,
                   const std::vector<std::uint16_t>& ports, Take take);
  ~RedirectListener();

  /// As it is registered and sent.
  const std::string& uri() const { return uri_; }

  /// The page for the browser that has brought the answer; nothing follows.
  void show(bool is_logged_in);

 private:
  Admission request_begins(const RequestHead& head, bool has_body) override;
  HttpResponse refusal(int status, std::string_view reason) const override;
  HttpResponse refusal_while_overloaded() const override;
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

/// 256 bits that nobody can guess, as 43 characters of base64url: a `state`, a code verifier.
/// Nothing if OpenSSL has no randomness.
std::optional<std::string> unguessable_text();

/// The S256 challenge of a code verifier (RFC 7636, section 4.2). Pure.
std::string code_challenge(std::string_view verifier);

/// What the person's browser is sent to (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). A value.
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

/// What the query of the redirect says (RFC 6749, section 4.1.2; RFC 9207). A value; all of it is
/// a peer's.
struct RedirectAnswer {
  std::string code;
  std::string state;
  std::string error;
  std::string error_description;
  std::optional<std::string> issuer;
  bool is_ambiguous = false;  ///< a parameter is there twice
};

/// `query` is without the question mark. Pure.
RedirectAnswer read_redirect(std::string_view query);

/// The query of an address that a person has pasted; blanks around it do not count.
std::string query_of_pasted(std::string_view address);

/// What an answer is held against.
struct ExpectedRedirect {
  std::string state;
  std::string issuer;
  bool issuer_is_announced = false;  ///< the metadata promise an `iss` in each answer
};

enum class RedirectVerdict {
  foreign,       ///< no answer to this request: it ends nothing
  wrong_issuer,  ///< nothing else of it is to be shown or used
  refused,       ///< error and error_description say why
  granted,       ///< code is there
};

/// MCP 2026-07-28, "Authorization", "Authorization Response Validation". Pure.
RedirectVerdict judge(const RedirectAnswer& answer, const ExpectedRedirect& expected);

/// The authorization code flow with PKCE (RFC 6749, section 4.1; RFC 7636; RFC 8252; MCP
/// 2026-07-28, "Authorization"): a URL for the person's browser, the redirect that it comes back
/// by, and the tokens for the code in it.
///
/// Owned and used as every LoginMethod. Its listener is open from prepare() to the end of its life.
class BrowserLogin final : public LoginMethod {
 public:
  /// `earlier_uri`: where the last login was registered for, to be tried first; may be empty. What
  /// is given by reference outlives this.
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
