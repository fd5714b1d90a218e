#include "http/server/tls_server.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL_CTX* context, int descriptor) : ssl_(SSL_new(context)) {
    if (ssl_ == nullptr) return;
    SSL_set_fd(ssl_, descriptor);
    SSL_set_accept_state(ssl_);
  }
  ~TlsStream() override { SSL_free(ssl_); }
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  Result read(char* buffer, std::size_t size) override {
    if (ssl_ == nullptr || broken_) return {State::broken, 0};
    ERR_clear_error();
    const int length =
        SSL_read(ssl_, buffer, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
    return result_of(length);
  }

  Result write(const iovec* pieces, std::size_t count) override {
    if (ssl_ == nullptr || broken_) return {State::broken, 0};
    std::size_t written = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ERR_clear_error();
      const auto size = static_cast<int>(std::min<std::size_t>(pieces[i].iov_len, INT_MAX));
      const int length = SSL_write(ssl_, pieces[i].iov_base, size);
      if (length <= 0) {
        const Result result = result_of(length);
        return written > 0 && result.state != State::broken ? Result{State::done, written} : result;
      }
      written += static_cast<std::size_t>(length);
      if (length < size) break;
    }
    return {State::done, written};
  }

  bool has_pending() const override {
    return ssl_ != nullptr && !broken_ && SSL_has_pending(ssl_) == 1;
  }

  void finish() override {
    if (ssl_ == nullptr || broken_ || SSL_in_init(ssl_) != 0) return;
    ERR_clear_error();
    SSL_shutdown(ssl_);
  }

 private:
  Result result_of(int length) {
    if (length > 0) return {State::done, static_cast<std::size_t>(length)};
    switch (SSL_get_error(ssl_, length)) {
      case SSL_ERROR_WANT_READ: return {State::wants_read, 0};
      case SSL_ERROR_WANT_WRITE: return {State::wants_write, 0};
      case SSL_ERROR_ZERO_RETURN: return {State::ended, 0};
      default: broken_ = true; return {State::broken, 0};
    }
  }

  SSL* ssl_;
  bool broken_ = false;
};

int choose_http_1_1(SSL*, const unsigned char** chosen, unsigned char* chosen_length,
                    const unsigned char* offered, unsigned offered_length, void*) {
  static constexpr unsigned char ours[] = "\x08http/1.1";
  const int outcome = SSL_select_next_proto(const_cast<unsigned char**>(chosen), chosen_length,
                                            ours, sizeof ours - 1, offered, offered_length);
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

[[noreturn]] void refuse_tls(const std::string& option, const std::string& path,
                             const std::string& why = {}) {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  ERR_clear_error();
  const int library = ERR_GET_LIB(error);
  const bool is_unreadable =
      library == ERR_LIB_PEM || library == ERR_LIB_ASN1 || library == ERR_LIB_OSSL_DECODER;
  std::string text = !why.empty() ? why : reason != nullptr ? reason : "cannot be used";
  if (why.empty() && is_unreadable) text = fmt::format("not valid PEM ({})", text);
  throw StartError(exit_code::configuration,
                   fmt::format("{}: {}: {}", option, printable(path), text));
}

constexpr std::size_t max_pem_file = 1u << 20;

using Pem = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// OpenSSL would open the file itself, and block on a FIFO. `content` must outlive the result.
Pem open_pem(const std::string& option, const std::string& path, FileContent& content) {
  content = read_regular_file(path, max_pem_file);
  if (!content.fault.empty()) refuse_tls(option, path, content.fault);
  return {BIO_new_mem_buf(content.bytes.data(), static_cast<int>(content.bytes.size())), &BIO_free};
}

/// A key that needs a passphrase cannot be used: there is no prompt.
int no_passphrase(char*, int, int, void*) { return -1; }

void use_certificate(SSL_CTX* ssl, const std::string& option, const std::string& path) {
  FileContent content;
  const Pem pem = open_pem(option, path, content);
  const std::unique_ptr<X509, decltype(&X509_free)> own(
      PEM_read_bio_X509_AUX(pem.get(), nullptr, no_passphrase, nullptr), &X509_free);
  if (!own || SSL_CTX_use_certificate(ssl, own.get()) != 1) refuse_tls(option, path);
  while (X509* const issuer = PEM_read_bio_X509(pem.get(), nullptr, no_passphrase, nullptr)) {
    if (SSL_CTX_add0_chain_cert(ssl, issuer) == 1) continue;
    X509_free(issuer);
    refuse_tls(option, path);
  }
  const unsigned long error = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (error != 0 && !at_end) refuse_tls(option, path);
  ERR_clear_error();
}

void use_private_key(SSL_CTX* ssl, const std::string& option, const std::string& path) {
  FileContent content;
  const Pem pem = open_pem(option, path, content);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(pem.get(), nullptr, no_passphrase, nullptr), &EVP_PKEY_free);
  if (!key || SSL_CTX_use_PrivateKey(ssl, key.get()) != 1) refuse_tls(option, path);
  if (SSL_CTX_check_private_key(ssl) != 1) refuse_tls(option, path);
}

}  // namespace

struct TlsServer::Context {
  SSL_CTX* ssl = SSL_CTX_new(TLS_server_method());
  Context() = default;
  ~Context() { SSL_CTX_free(ssl); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

TlsServer::TlsServer(const std::string& certificate, const std::string& private_key)
    : context_(std::make_unique<Context>()) {
  SSL_CTX* ssl = context_->ssl;
  if (ssl == nullptr) throw StartError(exit_code::configuration, "TLS cannot be used");
  SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
  SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Partial writes, from a buffer that may have moved: the rest of a queue is passed again as it
  // is.
  SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(ssl, choose_http_1_1, nullptr);
  use_certificate(ssl, "--http-cert", certificate);
  use_private_key(ssl, "--http-key", private_key);
}

TlsServer::~TlsServer() = default;

std::unique_ptr<ByteStream> TlsServer::accept(int descriptor) const {
  return std::make_unique<TlsStream>(context_->ssl, descriptor);
}

void check_client_certificate(const std::string& certificate, const std::string& private_key) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> ssl(SSL_CTX_new(TLS_client_method()),
                                                              &SSL_CTX_free);
  if (!ssl) throw StartError(exit_code::configuration, "TLS cannot be used");
  use_certificate(ssl.get(), "--client-cert", certificate);
  if (private_key.empty()) {
    use_private_key(ssl.get(), "--client-cert", certificate);
  } else {
    use_private_key(ssl.get(), "--client-key", private_key);
  }
}

void check_authorities(const std::string& path) {
  FileContent content;
  const Pem pem = open_pem("--ca-file", path, content);
  const std::unique_ptr<X509, decltype(&X509_free)> first(
      PEM_read_bio_X509_AUX(pem.get(), nullptr, no_passphrase, nullptr), &X509_free);
  if (!first) refuse_tls("--ca-file", path);
}

}  // namespace bridge
