#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/access_token.hpp"
#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "http/client/http_options.hpp"
#include "http/client/http_transfer.hpp"
#include "text/visible_text.hpp"
#include "upstream/streamable_http/answer_room.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Prepared curl handles for requests to one upstream.
///
/// The loop's thread only; a part of HttpContext. Memory: at most 16 unused handles, some 70 KiB
/// each; in the second after a burst as many as the burst used.
class HandlePool {
 public:
  /// All of them outlive this.
  HandlePool(CurlLoop& curl, const HttpOptions& options, ByteBudget& budget);

  /// An unused handle, or a new one.
  CurlHandle take_handle();
  /// A handle that will not be given back, because it is changed.
  CurlHandle make();
  /// For the next user. A handle whose last transfer had no connection is destroyed: libcurl 8.14
  /// loses the name that it looked up for it when the handle is used again.
  void give_back(CurlHandle handle);
  /// Sets the URL of requests.
  void set_url(const std::string& url);
  /// The options have changed: unused handles are destroyed.
  void clear() { idle_.clear(); }

 private:
  struct UrlCleanup {
    void operator()(void* url) const;
  };

  void drop_surplus();

  CurlLoop& curl_;
  const HttpOptions& options_;
  ByteBudget& budget_;                     ///< learns how much a burst has freed
  std::unique_ptr<void, UrlCleanup> url_;  ///< parsed once, not by curl for every request
  std::vector<CurlHandle> idle_;
  std::size_t unused_ = 0;  ///< unused handles since the timer was set
  DeadlineTimer surplus_timer_;
};

/// What the transfers to one upstream share: options, the session's headers, handles (BEHAVIOUR,
/// "Streamable HTTP: requests" and "Streamable HTTP: connections"). Owned by HttpUpstream; outlives
/// its transfers. The loop's thread only. Memory: texts of bounded length (header_limit) and the
/// HandlePool.
class HttpContext {
 public:
  /// `token_origin`: where the token comes from, for messages; a literal.
  HttpContext(CurlLoop& curl, HttpOptions options, AccessToken& token,
              std::string_view token_origin, ByteBudget& budget, Log& log);

  CurlLoop& curl() { return curl_; }
  SteadyTime now() const { return curl_.loop().now(); }
  const HttpOptions& options() const { return options_; }
  ByteBudget& budget() { return budget_; }
  Log& log() { return log_; }

  HandlePool& handles() { return handles_; }
  AnswerRoom& room() { return room_; }
  /// Whether the stream of all of the server's messages has to pause until bytes are released:
  /// `pending` bytes of a message have come. Not over HTTP/2, where it would hold up its whole
  /// connection, nor while it is decoded.
  bool pauses_stream(const HttpTransfer& stream, std::size_t pending);
  /// The last result of pauses_stream().
  bool has_paused_stream() const { return has_paused_stream_; }

  /// The headers of a message's POST: with the session for a stateful message, or before there is
  /// one; without for others, and for one that opens a session beside the one that there is.
  HeaderList post_headers(const Outgoing& message);
  /// The headers of a GET or DELETE. `last_event_id` may be empty.
  HeaderList stream_headers(const std::string& last_event_id) const;

  void set_session_id(std::string id);
  void set_protocol_version(std::string version);
  /// The version of messages sent outside of a session.
  void set_stateless_version(std::string version);
  AccessToken& token() { return token_; }
  /// The response to this request refuses the token of this generation (401, 403): whether another
  /// one may be accepted.
  bool refuse_token(int generation, const HttpTransfer& transfer);
  std::string_view token_origin() const { return token_origin_; }
  bool has_token() const { return !token_.text().empty(); }
  /// Whether a person can log in to it.
  bool offers_login() const;
  /// REQUIRES: offers_login().
  const std::string& login_command() const;
  /// It wants a token, has none, and no login is offered.
  bool lacks_token() const;
  /// SIGHUP: applies headers, timeouts, and the contents of certificate files.
  void reconfigure(const HttpOptions& options);
  void forget_session();

  /// Messages go to this URL instead, and their answers come on a stream of its own, so bodies of
  /// responses are ignored (HTTP+SSE). Empty: as usual.
  void set_endpoint(const std::string& url);
  bool answers_elsewhere() const { return !endpoint_.empty(); }
  /// Something arrived on that stream.
  void note_activity() { last_activity_ = now(); }
  std::chrono::steady_clock::time_point last_activity() const { return last_activity_; }
  /// The URL for a message.
  const std::string& post_url() const { return endpoint_.empty() ? options_.url : endpoint_; }

  /// The state of the server stream, as HttpUpstream has reported it.
  ServerStream server_stream() const { return server_stream_; }
  bool has_server_stream() const { return server_stream_ == ServerStream::open; }
  void set_server_stream(ServerStream state) { server_stream_ = state; }

  const std::string& session_id() const { return session_id_; }
  /// How a message sent now names its session.
  SessionNamedBy session_named_by(bool is_stateful) const {
    if (!is_stateful) return SessionNamedBy::nothing;
    if (answers_elsewhere()) return SessionNamedBy::endpoint;
    return session_id_.empty() ? SessionNamedBy::nothing : SessionNamedBy::header;
  }

  /// The longest idle time of a connection for a message that must not be repeated.
  static constexpr std::chrono::seconds usual_max_idle{4};
  std::chrono::seconds max_idle() const { return max_idle_; }
  void set_max_idle(std::chrono::seconds idle) { max_idle_ = idle; }

  /// Maintained by the transfers.
  UpstreamCounts& counts() { return counts_; }
  const UpstreamCounts& counts() const { return counts_; }

  /// Token, session id, header values, secrets_of_url().
  std::vector<std::string> secrets() const;
  /// `text` with every secret redacted.
  std::string without_secrets(std::string text) const;

 private:
  void forget_headers();
  void append_common_headers(HeaderList& list) const;
  void append_session_headers(HeaderList& list) const;
  void append_configured_headers(HeaderList& list) const;

  CurlLoop& curl_;
  HttpOptions options_;
  AccessToken& token_;
  std::string_view token_origin_;
  ByteBudget& budget_;
  Log& log_;
  const std::vector<std::string> url_secrets_;
  HandlePool handles_;
  AnswerRoom room_;
  HeaderList post_headers_;       ///< for stateful messages
  HeaderList stateless_headers_;  ///< for other messages
  int headers_token_ = 0;         ///< the token's generation in both
  std::string session_id_;
  std::string protocol_version_;   ///< of the session
  std::string stateless_version_;  ///< of messages outside of it
  std::string endpoint_;
  ServerStream server_stream_ = ServerStream::off;
  std::chrono::steady_clock::time_point last_activity_{};
  std::chrono::seconds max_idle_ = usual_max_idle;
  bool has_paused_stream_ = false;
  UpstreamCounts counts_;
};

}  // namespace bridge
