#include "auth/oauth_token.hpp"

#include <doctest/doctest.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "json/json_text.hpp"
#include "text/base64.hpp"

using namespace bridge;

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Key rsa(unsigned bits) { return {EVP_RSA_gen(bits), &EVP_PKEY_free}; }
Key elliptic(const char* curve) { return {EVP_EC_gen(curve), &EVP_PKEY_free}; }

std::string pem_of(const Key& key, const char* passphrase = nullptr) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  REQUIRE(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(),
                                        passphrase ? EVP_aes_128_cbc() : nullptr, nullptr, 0,
                                        nullptr, const_cast<char*>(passphrase)) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string fault_of_pem(const std::string& pem) {
  const auto key = SigningKey::from_pem(pem);
  const auto* fault = std::get_if<std::string>(&key);
  return fault == nullptr ? "" : *fault;
}

/// R and S back into ASN.1, by OpenSSL.
std::string to_der(const std::string& raw) {
  REQUIRE(raw.size() == 64);
  const auto* bytes = reinterpret_cast<const unsigned char*>(raw.data());
  ECDSA_SIG* parts = ECDSA_SIG_new();
  ECDSA_SIG_set0(parts, BN_bin2bn(bytes, 32, nullptr), BN_bin2bn(bytes + 32, 32, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts, &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  ECDSA_SIG_free(parts);
  return out;
}

bool verifies(const Key& key, const std::string& text, const std::string& signature) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  REQUIRE(EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1);
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(text.data()),
                          text.size()) == 1;
}

struct Jwt {
  explicit Jwt(const std::string& text) {
    const auto first = text.find('.');
    const auto second = text.find('.', first + 1);
    REQUIRE(second != text.npos);
    header = decode_base64(text.substr(0, first)).value();
    payload = decode_base64(text.substr(first + 1, second - first - 1)).value();
    signed_part = text.substr(0, second);
    signature = decode_base64(text.substr(second + 1)).value();
  }
  std::string header, payload, signed_part, signature;
};

Jwt assertion_by(const std::string& pem) {
  const auto key = SigningKey::from_pem(pem);
  REQUIRE(std::holds_alternative<SigningKey>(key));
  const auto now =
      std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'900));
  const auto text =
      client_assertion(std::get<SigningKey>(key), {"cl\"ient", "https://as", "id-1", now});
  REQUIRE(text);
  return Jwt(*text);
}

}  // namespace

TEST_CASE("the claims of a client assertion") {
  const Jwt jwt = assertion_by(pem_of(elliptic("P-256")));
  CHECK(jwt.header == R"({"alg":"ES256","typ":"JWT"})");
  CHECK(
      jwt.payload ==
      R"({"iss":"cl\"ient","sub":"cl\"ient","aud":"https://as","jti":"id-1","iat":1700000000,"exp":1700000060})");
}

TEST_CASE("an assertion by a P-256 key verifies as ES256, also where a number is short") {
  const Key key = elliptic("P-256");
  const std::string pem = pem_of(key);
  for (int i = 0; i < 300; ++i) {
    const Jwt jwt = assertion_by(pem);
    REQUIRE(jwt.signature.size() == 64);
    REQUIRE(verifies(key, jwt.signed_part, to_der(jwt.signature)));
  }
  const Jwt jwt = assertion_by(pem);
  CHECK(!verifies(elliptic("P-256"), jwt.signed_part, to_der(jwt.signature)));
}

TEST_CASE("an assertion by an RSA key verifies as RS256") {
  const Key key = rsa(2048);
  const Jwt jwt = assertion_by(pem_of(key));
  CHECK(jwt.header == R"({"alg":"RS256","typ":"JWT"})");
  CHECK(verifies(key, jwt.signed_part, jwt.signature));
  CHECK(!verifies(key, jwt.signed_part + "x", jwt.signature));
}

TEST_CASE("keys that cannot sign are refused, and nobody is asked for a passphrase") {
  CHECK(fault_of_pem("").find("not a private key") != std::string::npos);
  CHECK(fault_of_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
            .find("not a private key") != std::string::npos);
  CHECK(fault_of_pem(pem_of(elliptic("P-256"), "hush")).find("passphrase") != std::string::npos);
  CHECK(fault_of_pem(pem_of(elliptic("P-384"))).find("P-256") != std::string::npos);
  CHECK(fault_of_pem(pem_of(rsa(1024))).find("2048") != std::string::npos);
  CHECK(fault_of_pem(pem_of(rsa(2048))) == "");
}
