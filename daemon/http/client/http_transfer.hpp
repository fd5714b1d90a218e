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

/// As long as curl's CURL_ERROR_SIZE.
using CurlErrorText = std::array<char, 256>;

/// Ends a handle, and has what that refers to for as long as it lives.
struct CurlCleanup {
  void operator()(CURL* handle) const;
  std::shared_ptr<const TrustFiles> trust{};    ///< what it opens
  std::unique_ptr<CurlErrorText> error_text{};  ///< what it says of a failure
};
using CurlHandle = std::unique_ptr<CURL, CurlCleanup>;

/// How the upstream is reached and trusted: proxy, its Unix socket, HTTP version, TLS.
void apply_transport_options(CURL* handle, const HttpOptions& options);

/// How many connections were opened for the transfer that has just ended.
std::uint64_t connections_opened(CURL* handle);

/// Makes the handle a GET.
void set_get(CURL* handle);
/// For what may take long: a gateway on the way does not take the connection for idle. Until it is
/// cleared; connections that are open have it for as long as they are.
void set_tcp_keep_alive(CURL* handle);
void clear_tcp_keep_alive(CURL* handle);
/// For a large body: it is copied, and sent, in larger pieces. What curl takes for one stays with
/// the handle, which is not for others then.
void set_large_upload(CURL* handle);
/// A GET of a stream that stays: the former, and no connection that was idle for long. It is not
/// for others then.
void set_stream(CURL* handle);

/// These lines before those of a list, which is shared and not copied. The lines are not copied
/// either: they outlive the result.
HeaderList with_lines(const std::vector<std::string>& lines, const HeaderList& list);

/// Appends to a list that may be empty.
void append_header(HeaderList& list, const std::string& line);
/// The same for what a peer has said: nothing is appended unless it passes the gate. Whoever took
/// it in has told the refusal.
void append_said(HeaderList& list, std::string_view name, const std::string& said,
                 std::size_t limit, Blanks blanks = Blanks::none);

}  // namespace bridge

namespace bridge {

/// The place to which a server sends one request (BEHAVIOUR, "Streamable HTTP: answers"). 307 and
/// 308 keep the method; only the same origin gets the token and the session id (RFC 9110,
/// section 15.4). Pure but for apply().
class Redirection {
 public:
  /// Whether the answer to a request for `url` sends it to another place that is to be asked
  /// instead. At most five times for one request.
  bool follow(const std::string& url, const ResponseHead& head);
  /// Another request follows, which begins at the place that was found.
  void begin_request() { hops_ = 0; }

  bool is_elsewhere() const { return !place_.empty(); }
  /// Where a request for `url` goes.
  const std::string& place(const std::string& url) const { return place_.empty() ? url : place_; }
  /// Sends the handle's request there. Such a handle is not given back: it knows another URL than
  /// the rest.
  void apply(CURL* handle) const;

 private:
  std::string place_;
  int hops_ = 0;
};

/// What an HttpTransfer's owner does with what comes.
class TransferReceiver {
 public:
  // From within curl: only to note what came, and to mark the transfer as ready.
  virtual void head_line_received(bool complete) { static_cast<void>(complete); }
  /// The first byte of the body is there: body_received() follows.
  virtual void body_begins() {}
  /// False ends the transfer.
  virtual bool body_received(std::string_view bytes) = 0;
  /// Whether more is to be read only once HttpTransfer::go_on() says so: from a fast peer curl
  /// takes up to a hundred buffers before anything of it can be told.
  virtual bool has_enough() const { return false; }

  /// From the loop: it was marked as ready, or it is over, with this CURLcode.
  virtual void transfer_progressed(bool done, int result) = 0;

 protected:
  ~TransferReceiver() = default;
};

/// One HTTP request after the other, and of each the head of its answer and where it was sent
/// instead (307, 308): what all that speak HTTP to a server have in common.
///
/// A part of its receiver, which outlives its use. The loop's thread only. Memory: of the body
/// what the receiver keeps. Destruction ends what runs.
class HttpTransfer final : private CurlTransfer {
 public:
  HttpTransfer(CurlLoop& curl, TransferReceiver& receiver) : curl_(curl), receiver_(receiver) {}
  ~HttpTransfer() override { close(); }
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  /// A handle for such requests, one after the other, be they one transfer's or several's.
  static CurlHandle make_handle(std::shared_ptr<const TrustFiles> trust);

  /// Takes a handle for the next request, which goes to where the last one was redirected; returns
  /// it for what else is to be set. REQUIRES: make_handle() made it, and nothing runs.
  CURL* prepare(CurlHandle handle, HeaderList headers);
  void start();
  /// Ends what runs. The handle may be used again, unless it was redirected.
  CurlHandle close();
  void pause(bool paused);
  /// Reads what the receiver had enough of; nothing if there is no such.
  void go_on();
  void mark_ready() { curl_.mark_ready(*this); }

  bool is_running() const { return state_ != State::idle; }
  CURL* handle() const { return handle_.get(); }
  bool was_connected() const { return CurlTransfer::was_connected(); }
  /// Whether who was connected to has an address that the whole internet can reach; of the last
  /// request. It may be a proxy.
  bool is_peer_public() const;
  const ResponseHead& head() const { return head_; }
  Redirection& redirection() { return redirection_; }
  const Redirection& redirection() const { return redirection_; }
  /// curl's own words on a failure; may be empty. REQUIRES: it has the handle still.
  const char* error_text() const { return handle_.get_deleter().error_text->data(); }

  /// What was kept of the answer's body.
  const std::string& body() const { return body_.bytes(); }
  ReceivedText take_body() { return body_.take(); }
  void expect_body(std::size_t bytes) { body_.expect(bytes); }
  /// Keeps more of it. False, and nothing is kept, if it would be over the limit.
  bool keep_body(std::string_view bytes, std::size_t limit);

 private:
  enum class State : std::uint8_t { idle, head, body };
  struct Callbacks;

  void transfer_progressed(bool done, int result) override;

  CurlLoop& curl_;
  TransferReceiver& receiver_;
  HeaderList headers_;
  CurlHandle handle_;
  State state_ = State::idle;  ///< with another one curl has the handle
  bool has_more_ = false;      ///< of which the receiver had enough
  ResponseHead head_;
  ArrivingText body_;
  Redirection redirection_;
};

}  // namespace bridge
