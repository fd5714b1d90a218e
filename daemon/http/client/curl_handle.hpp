#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/client/curl_loop.hpp"
#include "http/client/http_options.hpp"
#include "text/header_text.hpp"

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
