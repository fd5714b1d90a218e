#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace bridge
