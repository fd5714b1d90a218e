// Known secrets, found in whatever form they stand.
#include "text/secret_forms.hpp"

#include <doctest/doctest.h>

#include <string>

#include "text/base64.hpp"

using namespace bridge;

namespace {

const std::string secret = "s3cret/\"pass word\"+\xC3\xA4";

std::string shown(const std::string& text) { return SecretForms({secret}).blotted(text); }

}  // namespace

TEST_CASE("a known secret is blotted out as bytes and in JSON") {
  CHECK(shown("a " + secret + " b") == "a *** b");
  CHECK(shown(R"({"x":"s3cret/\"pass word\"+)"
              "\xC3\xA4"
              R"("})") == R"({"x":"***"})");
  CHECK(shown(R"({"x":"s3cret\/\"pass word\"+)"
              "\xC3\xA4"
              R"("})") == R"({"x":"***"})");
}

TEST_CASE("a known secret is blotted out in its percent forms") {
  CHECK(shown("k=s3cret%2F%22pass%20word%22%2B%C3%A4&x") == "k=***&x");
  CHECK(shown("k=s3cret%2f%22pass%20word%22%2b%c3%a4&x") == "k=***&x");
  CHECK(shown("k=s3cret%2F%22pass+word%22%2B%C3%A4&x") == "k=***&x");
}

TEST_CASE("a known secret is blotted out in Base64 wherever it begins and ends") {
  for (const std::string before : {"", "u", "us", "user:"}) {
    for (const std::string after : {"", "x", "xy", "xyz"}) {
      for (const bool url : {false, true}) {
        CAPTURE(before);
        CAPTURE(after);
        CAPTURE(url);
        const std::string text = before + secret + after;
        const std::string encoded = url ? base64url(text) : base64(text);
        const std::string left = shown(encoded);
        CHECK(left.find("***") != left.npos);
        // What is left beside it has some bits of the secret's edges at most.
        CHECK(left.size() <= before.size() * 4 / 3 + after.size() * 4 / 3 + 3 + 8);
      }
    }
  }
}

TEST_CASE("a secret of less than eight bytes is not looked for, and a longer one goes first") {
  CHECK(SecretForms({"short"}).blotted("short") == "short");
  CHECK(SecretForms({"longsecret", "longsecret-and-more"}).blotted("longsecret-and-more") == "***");
  CHECK(SecretForms().blotted("text") == "text");
}
