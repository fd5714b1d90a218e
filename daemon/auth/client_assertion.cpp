#include "auth/client_assertion.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/base64.hpp"

namespace bridge {
namespace {

constexpr int least_rsa_bits = 2048;
constexpr std::size_t p256_bytes = 32;

int no_passphrase(char*, int, int, void*) { return -1; }

/// OpenSSL wraps the two numbers in ASN.1, JWS sets them side by side.
std::optional<std::string> side_by_side(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> parts(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), &ECDSA_SIG_free);
  if (!parts) return std::nullopt;
  std::array<unsigned char, 2 * p256_bytes> bytes;
  if (BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), bytes.data(), p256_bytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), bytes.data() + p256_bytes, p256_bytes) < 0) {
    return std::nullopt;
  }
  return std::string(bytes.begin(), bytes.end());
}

bool is_p256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  return EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                        nullptr) == 1 &&
         std::string_view(group.data()) == "prime256v1";
}

}  // namespace

void SigningKey::Cleanup::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

std::variant<SigningKey, std::string> SigningKey::from_pem(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_passphrase, nullptr));
  // Nobody shall find our errors in the queue that curl's TLS uses as well.
  ERR_clear_error();
  if (!key) return std::string("not a private key in PEM, or one with a passphrase");
  if (is_p256(key.get())) return SigningKey(std::move(key), false);
  if (EVP_PKEY_is_a(key.get(), "RSA") != 1) {
    return std::string("neither a P-256 nor an RSA key");
  }
  if (EVP_PKEY_get_bits(key.get()) < least_rsa_bits)
    return std::string("an RSA key below 2048 bits");
  return SigningKey(std::move(key), true);
}

std::optional<std::string> SigningKey::sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  std::string signature;
  bool done = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          bytes, text.size()) == 1;
    signature.resize(size);
  }
  ERR_clear_error();
  if (!done) return std::nullopt;
  return is_rsa_ ? std::optional(std::move(signature)) : side_by_side(signature);
}

namespace {

constexpr std::chrono::seconds assertion_life{60};

}  // namespace

std::optional<std::string> client_assertion(const SigningKey& key, const AssertionClaims& claims) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(claims.now.time_since_epoch());
  const std::string header = JsonObject().add("alg", key.algorithm()).add("typ", "JWT").text();
  const std::string payload = JsonObject()
                                  .add("iss", claims.client_id)
                                  .add("sub", claims.client_id)
                                  .add("aud", claims.audience)
                                  .add("jti", claims.id)
                                  .add("iat", now.count())
                                  .add("exp", (now + assertion_life).count())
                                  .text();
  std::string text = base64url(header) + "." + base64url(payload);
  const auto signature = key.sign(text);
  if (!signature) return std::nullopt;
  return text + "." + base64url(*signature);
}

std::optional<std::string> random_id() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return std::nullopt;
  return base64url(std::string(bytes.begin(), bytes.end()));
}

}  // namespace bridge
