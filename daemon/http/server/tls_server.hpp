#pragma once

#include <memory>
#include <string>

#include "http/server/http_connection.hpp"

namespace bridge {

/// The frontend's certificate, and TLS for its connections: TLS 1.2 and newer, HTTP/1.1 by ALPN.
/// Owned by the HttpServer; the loop's thread only.
class TlsServer {
 public:
  /// PEM files: the certificate with its chain, and its key. Throws StartError (78).
  TlsServer(const std::string& certificate, const std::string& private_key);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// The handshake happens within the first reads and writes.
  std::unique_ptr<ByteStream> accept(int descriptor) const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Whether libcurl will be able to use the PEM files of --client-cert and --client-key ("": the key
/// is in the same file), and of --ca-file. Throws StartError (78).
void check_client_certificate(const std::string& certificate, const std::string& private_key);
void check_authorities(const std::string& path);

}  // namespace bridge
