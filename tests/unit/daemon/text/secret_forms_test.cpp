// Finds known secrets in any encoded form.
#include "text/secret_forms.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../../words.hpp"
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

TEST_CASE("a known secret is blotted out in every way in which JSON can spell it") {
  const std::string odd = "a/b\"c\\d\te\xC3\xA4\xF0\x9F\x98\x80z";
  const SecretForms forms({odd});
  const char* const characters[][4] = {{"a", "\\u0061"},
                                       {"/", "\\/", "\\u002f", "\\u002F"},
                                       {"b", "\\u0062"},
                                       {"\\\"", "\\u0022"},
                                       {"c", "\\u0063"},
                                       {"\\\\", "\\u005c", "\\u005C"},
                                       {"d", "\\u0064"},
                                       {"\\t", "\\u0009"},
                                       {"e", "\\u0065"},
                                       {"\xC3\xA4", "\\u00e4", "\\u00E4"},
                                       {"\xF0\x9F\x98\x80", "\\ud83d\\ude00", "\\uD83D\\uDE00"},
                                       {"z", "\\u007a"}};
  unsigned drawn = 1;
  for (int round = 0; round < 500; ++round) {
    std::string spelled = "{\"x\":\"";
    for (const auto& spellings : characters) {
      drawn = drawn * 1103515245 + 12345;
      std::size_t count = 0;
      while (count < 4 && spellings[count] != nullptr) ++count;
      spelled += spellings[(drawn >> 16) % count];
    }
    CAPTURE(spelled);
    CHECK(forms.blotted(spelled + "\"}") == "{\"x\":\"***\"}");
    CHECK(forms.blotted(spelled.substr(0, spelled.size() - 1)).find("***") == spelled.npos);
  }
  // A combination of Base64 and percent-encoding is found, too.
  CHECK(forms.blotted(R"(a%2Fb%22c%5Cd%09e%C3%A4%F0%9F%98%80z)") == "***");
  CHECK(forms.blotted(R"(\u0061\u00252Fb%22c%5Cd%09e%C3%A4%F0%9F%98%80z)") == "***");
  for (const char* broken : {"a\\u", "a\\u00", "a\\", "\\ud83d", "\\ud83d\\u0061", "a\\x62"})
    CHECK(forms.blotted(broken) == broken);
}

TEST_CASE("the strings of grants are blotted out, and many take no longer than their text") {
  CHECK(without_grants("mcpg_1234567 mcpg_12345678, mcpg_12345678-_x\"") ==
        "mcpg_1234567 mcpg_***, mcpg_***\"");
  CHECK(without_grants("mcpg_") == "mcpg_");
  CHECK(without_grants("none") == "none");
  for (const char* const spelled :
       {R"(\u006dcpg_12345678)", R"(mc\u0070g\u005F1234\u00355678)", R"(\\u006d\\u0063pg_12345678)",
        "mcp%67%5F1234%35678", "%6dcpg_12345678", R"(mcpg_\u0061\u0062\u0063\u0064efgh)"}) {
    CAPTURE(spelled);
    const std::string left = without_grants('"' + std::string(spelled) + "\" 5678");
    CHECK(left.ends_with("***\" 5678"));
    CHECK_FALSE(contains(left, "234"));
  }
  for (const char* const other : {R"(\u006dcpg 12345678)", R"(mcp\\g_12345678)", "mcp%6g_12345678",
                                  R"(mcpg_12\n345678)", "100%", "\\\\\\u00", "mcpg_1234%"})
    CHECK(without_grants(other) == other);
  CHECK(without_grants("mmcpg_12345678") == "mmcpg_***");
  CHECK(without_grants("mcpmcpg_12345678") == "mcpmcpg_***");
  const std::string slashes(4'000'000, '\\');
  CHECK((without_grants("mcpg_12345678" + slashes) == "mcpg_***" + slashes));
  std::string many;
  std::string blotted_out;
  for (int i = 0; i < 500'000; ++i) {
    many += "mcpg_12345678 ";
    blotted_out += "mcpg_*** ";
  }
  CHECK((without_grants(many) == blotted_out));
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
        // The rest contains at most some bits of the secret's edges.
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
