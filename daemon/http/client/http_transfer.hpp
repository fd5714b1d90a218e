#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/client/curl_loop.hpp"
#include "http/client/http_options.hpp"
#include "http/client/response_head.hpp"
#include "json/arriving_text.hpp"
#include "text/visible_text.hpp"

struct curl_slist;

namespace bridge {

using HeaderList = std::shared_ptr<curl_slist>;

/// The size of curl's CURL_ERROR_SIZE.
using CurlErrorText = std::array<char, 256>;

/// Destroys a handle, and owns what the handle refers to.
struct CurlCleanup {
  void operator()(CURL* handle) const;
  std::shared_ptr<const TrustFiles> trust{};    ///< the files that it opens
  std::unique_ptr<CurlErrorText> error_text{};  ///< its message about a failure
};
using CurlHandle = std::unique_ptr<CURL, CurlCleanup>;

/// Sets how the upstream is reached and trusted: proxy, Unix socket, HTTP version, TLS.
void apply_transport_options(CURL* handle, const HttpOptions& options);

/// How many connections were opened for the transfer that has just ended.
std::uint64_t connections_opened(CURL* handle);

/// Makes the handle a GET.
void set_get(CURL* handle);
/// For a large body: it is copied, and sent, in larger pieces. curl's buffer for one stays with the
/// handle, which is then not reused for other requests.
void set_large_upload(CURL* handle);
/// A GET of a long-lived stream: not on a connection that was idle for long.
/// The handle is then not reused for other requests.
void set_stream(CURL* handle);

/// Puts these lines before those of a list, which is shared and not copied. The lines are not
/// copied either: they must outlive the result.
HeaderList with_lines(const std::vector<std::string>& lines, const HeaderList& list);

/// Appends to a list that may be empty.
void append_header(HeaderList& list, const std::string& line);
/// The same for text from a peer: appended only if it fits a header. Its receiver has reported the
/// rejection.
void append_checked(HeaderList& list, std::string_view name, const std::string& said,
                    std::size_t limit, Blanks blanks = Blanks::none);

}  // namespace bridge

namespace bridge {

/// The URL to which a server redirects a request (BEHAVIOUR, "Streamable HTTP: answers"). 307 and
/// 308 keep the method; only the same origin gets the token and the session id (RFC 9110, section
/// 15.4). Pure but for apply().
class Redirection {
 public:
  /// Whether the response to a request for `url` redirects it to a URL that is to be requested
  /// instead. At most five times for one request.
  bool follow(const std::string& url, const ResponseHead& head);
  /// Another request follows, which starts at the URL found.
  void begin_request() { hops_ = 0; }

  bool is_elsewhere() const { return !place_.empty(); }
  /// The URL for a request for `url`.
  const std::string& place(const std::string& url) const { return place_.empty() ? url : place_; }
  /// Sets that URL on the handle. Such a handle is not reused: its URL differs from that of the
  /// others.
  void apply(CURL* handle) const;

 private:
  std::string place_;
  int hops_ = 0;
};

/// Makes HTTP requests one after the other; has the head of each response and its redirection (307,
/// 308). The common part of all that speak HTTP to a server.
///
/// A part of its receiver, which outlives its use. The loop's thread only. Memory: of a body only
/// what the receiver keeps. Destruction ends the request.
class HttpTransfer final : private CurlTransfer {
 public:
  HttpTransfer(CurlLoop& curl, TransferReceiver& receiver) : CurlTransfer(&receiver), curl_(curl) {}
  ~HttpTransfer() override { close(); }
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  /// A handle for such requests, one after the other, of one transfer or several.
  static CurlHandle make_handle(std::shared_ptr<const TrustFiles> trust);

  /// Takes a handle for the next request, which goes to where the last one was redirected; returns
  /// it for further options. REQUIRES: make_handle() made it, and no request is under way.
  CURL* prepare(CurlHandle handle, HeaderList headers);
  void start();
  /// Ends the request. The handle may be reused, unless it was redirected.
  CurlHandle close();
  void pause(bool paused);
  /// Continues reading after has_enough(); otherwise does nothing.
  void proceed();
  void mark_ready() { curl_.mark_ready(*this); }

  bool is_running() const { return state_ != State::idle; }
  CURL* handle() const { return handle_.get(); }
  bool was_connected() const { return CurlTransfer::was_connected(); }
  /// Whether the last request was sent to an address that the whole internet can reach. It may be a
  /// proxy's. After close() only known if the response refuses the token (401, 403).
  bool is_peer_public() const;
  const ResponseHead& head() const { return head_; }
  Redirection& redirection() { return redirection_; }
  const Redirection& redirection() const { return redirection_; }
  /// curl's message about a failure; may be empty. REQUIRES: the handle was not closed.
  const char* error_text() const { return handle_.get_deleter().error_text->data(); }

  /// The kept part of the response's body.
  const std::string& body() const { return body_.bytes(); }
  ReceivedText take_body() { return body_.take(); }
  void expect_body(std::size_t bytes) { body_.expect(bytes); }
  /// Whether the response has a body in a coding that is not decoded: then it ends with its head,
  /// as CURLE_BAD_CONTENT_ENCODING.
  bool has_undecodable_body() const {
    return !head_.can_be_decoded() && head_.content_length != 0 && head_.status != 204;
  }
  /// Keeps these bytes too. False, and nothing is kept, if the body would exceed the limit.
  bool keep_body(std::string_view bytes, std::size_t limit);

 private:
  enum class State : std::uint8_t { idle, head, body };
  struct Callbacks;

  int transfer_over(int result) override;

  CurlLoop& curl_;
  HeaderList headers_;
  CurlHandle handle_;
  State state_ = State::idle;     ///< unless idle, curl has the handle
  bool has_more_ = false;         ///< the receiver had enough
  bool was_peer_public_ = false;  ///< after close()
  ResponseHead head_;
  ArrivingText body_;
  Redirection redirection_;
};

}  // namespace bridge
