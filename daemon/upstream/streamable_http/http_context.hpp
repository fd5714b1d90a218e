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
#include "upstream/streamable_http/failures.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// curl's handles for requests to one upstream, with everything set that all of them need.
///
/// The loop's thread only; a part of HttpContext. Memory: at most 16 unused handles, some
/// 70 KiB each; but for the second after a burst, in which as many clients call again.
class HandlePool {
 public:
  /// All of them outlive this.
  HandlePool(CurlLoop& curl, const HttpOptions& options, ByteBudget& budget);

  /// One of those given back, or a new one.
  CurlHandle take();
  /// For what is not to stay with a handle: it is not given back.
  CurlHandle make();
  /// For the next taker. One whose last transfer had no connection is destroyed instead: libcurl
  /// 8.14 loses the name that it looked up for it when it is used again.
  void give_back(CurlHandle handle);
  /// Where their requests go.
  void set_url(const std::string& url);
  /// The options have changed: none of those given back is used again.
  void clear() { idle_.clear(); }

 private:
  struct UrlCleanup {
    void operator()(void* url) const;
  };

  void drop_surplus();

  CurlLoop& curl_;
  const HttpOptions& options_;
  ByteBudget& budget_;                     ///< is told what a burst has left behind
  std::unique_ptr<void, UrlCleanup> url_;  ///< parsed once: else curl parses it for every request
  std::vector<CurlHandle> idle_;
  std::size_t unused_ = 0;  ///< of the idle ones, since the timer was set
  DeadlineTimer surplus_timer_;
};

/// What the transfers to one upstream share: options, the session's headers, handles. Owned by
/// HttpUpstream; outlives its transfers. The loop's thread only. BEHAVIOUR, "Streamable HTTP:
/// requests" and "Connections". Memory: texts of bounded length (header_limit) and the HandlePool.
class HttpContext {
 public:
  HttpContext(CurlLoop& curl, HttpOptions options, AccessToken& token, ByteBudget& budget,
              Log& log);

  CurlLoop& curl() { return curl_; }
  SteadyTime now() const { return curl_.loop().now(); }
  const HttpOptions& options() const { return options_; }
  ByteBudget& budget() { return budget_; }
  Log& log() { return log_; }

  HandlePool& handles() { return handles_; }

  /// The headers of a message's POST: of one that is stateful in this session, or before there is
  /// one; of any other without a session.
  HeaderList post_headers(const Outgoing& message);
  /// The headers of a GET or DELETE. `last_event_id` may be empty.
  HeaderList stream_headers(const std::string& last_event_id) const;

  void set_session_id(std::string id);
  void set_protocol_version(std::string version);
  /// Of the messages that are sent outside of a session.
  void set_stateless_version(std::string version);
  AccessToken& token() { return token_; }
  bool offers_login() const { return token_.login() != nullptr; }
  /// What SIGHUP may change: headers, timeouts, what the files of certificates hold.
  void reconfigure(const HttpOptions& options);
  void forget_session();

  /// Messages go to this URL instead, and what they are answered comes on a stream of its own: the
  /// bodies of their answers say nothing (HTTP+SSE). Empty: as usual.
  void set_endpoint(const std::string& url);
  bool answers_elsewhere() const { return !endpoint_.empty(); }
  /// A sign of life on that stream.
  void note_activity() { last_activity_ = now(); }
  std::chrono::steady_clock::time_point last_activity() const { return last_activity_; }
  /// The URL for a message.
  const std::string& post_url() const { return endpoint_.empty() ? options_.url : endpoint_; }

  /// Whether the server stream is open: kept up by HttpUpstream.
  bool has_server_stream() const { return has_server_stream_; }
  void set_server_stream(bool is_open) { has_server_stream_ = is_open; }

  const std::string& session_id() const { return session_id_; }
  /// By what a message that is sent now names its session.
  SessionNamedBy session_named_by(bool is_stateful) const {
    if (!is_stateful) return SessionNamedBy::nothing;
    if (answers_elsewhere()) return SessionNamedBy::endpoint;
    return session_id_.empty() ? SessionNamedBy::nothing : SessionNamedBy::header;
  }

  /// For how long a connection may have been idle before a message that must not be repeated.
  static constexpr std::chrono::seconds usual_max_idle{4};
  std::chrono::seconds max_idle() const { return max_idle_; }
  void set_max_idle(std::chrono::seconds idle) { max_idle_ = idle; }

  /// Kept up by the transfers.
  UpstreamCounts& counts() { return counts_; }
  const UpstreamCounts& counts() const { return counts_; }

  /// Token, session id, values of headers.
  std::vector<std::string> secrets() const;
  /// `text` with every secret in it redacted.
  std::string without_secrets(std::string text) const;

 private:
  void forget_headers();
  void append_post_headers(HeaderList& list) const;
  void append_common_headers(HeaderList& list) const;
  void append_session_headers(HeaderList& list) const;
  void append_configured_headers(HeaderList& list) const;

  CurlLoop& curl_;
  HttpOptions options_;
  AccessToken& token_;
  ByteBudget& budget_;
  Log& log_;
  HandlePool handles_;
  HeaderList post_headers_;       ///< of stateful messages
  HeaderList stateless_headers_;  ///< of the others
  int headers_token_ = 0;         ///< the token's generation in both
  std::string session_id_;
  std::string protocol_version_;   ///< of the session
  std::string stateless_version_;  ///< of the messages outside of it
  std::string endpoint_;
  bool has_server_stream_ = false;
  std::chrono::steady_clock::time_point last_activity_{};
  std::chrono::seconds max_idle_ = usual_max_idle;
  UpstreamCounts counts_;
};

}  // namespace bridge
