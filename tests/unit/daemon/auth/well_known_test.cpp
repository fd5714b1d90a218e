#include "auth/discovery.hpp"

#include <doctest/doctest.h>

#include "http/client/web_url.hpp"

using namespace bridge;

using Urls = std::vector<std::string>;

TEST_CASE("where a resource's metadata are") {
  CHECK(resource_metadata_urls("https://h/mcp") ==
        Urls{"https://h/.well-known/oauth-protected-resource/mcp",
             "https://h/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("https://h:8443/a/b/") ==
        Urls{"https://h:8443/.well-known/oauth-protected-resource/a/b/",
             "https://h:8443/.well-known/oauth-protected-resource/a/b",
             "https://h:8443/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("https://h") ==
        Urls{"https://h/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("nonsense://h").empty());
}

TEST_CASE("where an authorization server's metadata are") {
  CHECK(server_metadata_urls("https://as") ==
        Urls{"https://as/.well-known/oauth-authorization-server",
             "https://as/.well-known/openid-configuration"});
  CHECK(server_metadata_urls("https://as/") == server_metadata_urls("https://as"));
  const Urls with_path{"https://as/.well-known/oauth-authorization-server/t/1",
                       "https://as/.well-known/openid-configuration/t/1",
                       "https://as/t/1/.well-known/openid-configuration"};
  CHECK(server_metadata_urls("https://as/t/1") == with_path);
  CHECK(server_metadata_urls("https://as/t/1/") == with_path);
  for (const char* wrong :
       {"", "as", "ftp://as", "https://as?x=y", "https://as#f", "https://u:p@as"}) {
    CHECK(server_metadata_urls(wrong).empty());
  }
}

TEST_CASE("the resource is the upstream's URL without what is not its name") {
  CHECK(resource_of("https://user:pw@Host.Example:443/mcp?key=1#f") == "https://host.example/mcp");
  CHECK(resource_of("http://127.0.0.1:8080/mcp/") == "http://127.0.0.1:8080/mcp/");
  CHECK(resource_of("https://h/") == "https://h");
  CHECK(resource_of("http://[::1]:80/a/../b") == "http://[::1]/b");
}

TEST_CASE("a resource covers what is at its origin and below its path") {
  CHECK(covers_resource("https://h/mcp", "https://h/mcp"));
  CHECK(covers_resource("https://h/mcp/", "https://h/mcp"));
  CHECK(covers_resource("https://h/mcp", "https://h/mcp/"));
  CHECK(covers_resource("https://H:443/mcp", "https://h/mcp"));
  CHECK(covers_resource("https://h", "https://h/mcp"));
  CHECK(covers_resource("https://h/", "https://h/a/mcp"));
  CHECK(covers_resource("https://h/a", "https://h/a/mcp"));
  for (const char* other :
       {"https://h/mc", "https://h/mcp2", "https://h/mcp/x", "https://h/other", "http://h/mcp",
        "https://g/mcp", "https://h:444/mcp", "https://h/mcp?x", "https://h/mcp#f",
        "https://u@h/mcp", "", "mcp", "https://h.evil/mcp"}) {
    CAPTURE(other);
    CHECK(!covers_resource(other, "https://h/mcp"));
  }
}

TEST_CASE("plain http is trusted on this machine only") {
  const auto trusted = [](const std::string& url) {
    const auto parsed = parse_web_url(url);
    return parsed && is_trustworthy(*parsed);
  };
  for (const char* url : {"https://anywhere/x", "http://127.0.0.1/x", "http://127.8.9.1:99",
                          "http://localhost:1/", "http://[::1]/"}) {
    CAPTURE(url);
    CHECK(trusted(url));
  }
  for (const char* url :
       {"http://10.0.0.1/", "http://127.evil.example/", "http://localhost.evil.example/",
        "http://[::2]/", "file:///etc/passwd", "http:///x", "", "http://0.0.0.0/"}) {
    CAPTURE(url);
    CHECK(!trusted(url));
  }
}
