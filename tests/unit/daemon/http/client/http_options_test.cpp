#include "http/client/http_options.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../../../temporary_folder.hpp"

using namespace bridge;

TEST_CASE("a URL is shown without userinfo and query") {
  HttpOptions options;
  CHECK(set_url(options, "https://user:pw@a.example:8443/mcp?key=1#x").empty());
  CHECK(options.target == "https://a.example:8443/mcp");
  CHECK(options.unix_socket.empty());
  CHECK(set_url(options, "http://a.example").empty());
  CHECK(options.target == "http://a.example/");
}

TEST_CASE("a server on a Unix socket is named in the URL's host") {
  HttpOptions options;
  CHECK(set_url(options, "http+unix://%2Frun%2Fx.sock/mcp?a=1").empty());
  CHECK(options.unix_socket == "/run/x.sock");
  CHECK(options.url == "http://localhost/mcp?a=1");
  CHECK(options.target == "unix:/run/x.sock/mcp");
  CHECK(set_url(options, "http+unix://%2Frun%2Fx.sock").empty());
  CHECK(options.url == "http://localhost/");
  CHECK(is_local(options));
  CHECK(set_url(options, "http://a.example/").empty());
  CHECK(options.unix_socket.empty());
}

TEST_CASE("what is no URL of these schemes is refused with a reason") {
  for (const char* url :
       {"", "ftp://a/b", "file:///etc/passwd", "://x", "http://", "http+unix:///mcp",
        "http+unix://@/mcp", "http+unix://%00/mcp", "http://a b/"}) {
    CAPTURE(url);
    HttpOptions options;
    CHECK_FALSE(set_url(options, url).empty());
  }
}

TEST_CASE("a socket's path in a URL is as long as a Unix socket's can be, and no longer") {
  HttpOptions options;
  CHECK(set_url(options, "http+unix://%2F" + std::string(106, 'x') + "/mcp").empty());
  CHECK(options.unix_socket.size() == 107);
  CHECK(set_url(options, "http+unix://%2F" + std::string(107, 'x') + "/mcp").find("107") !=
        std::string::npos);
}

TEST_CASE("a redirect stays within scheme, host and port") {
  const std::string base = "http://a.example/mcp";
  CHECK(same_origin_url(base, "/other?x=1") == "http://a.example/other?x=1");
  CHECK(same_origin_url(base, "mcp/") == "http://a.example/mcp/");
  CHECK(same_origin_url(base, "http://a.example:80/x").find("/x") != std::string::npos);
  for (const char* location :
       {"https://a.example/mcp", "http://b.example/mcp", "http://a.example:8080/mcp",
        "//b.example/mcp", "http://a.example.evil/"})
    CHECK_MESSAGE(same_origin_url(base, location).empty(), location);
}

TEST_CASE("this machine is known by its names") {
  for (const auto& [url, local] : {std::pair{"http://localhost:1/", true},
                                   {"http://127.0.0.1/", true},
                                   {"http://127.8.9.1/", true},
                                   {"http://[::1]:1/", true},
                                   {"http://a.example/", false},
                                   {"http://10.0.0.1/", false},
                                   {"http://localhost.example/", false}}) {
    const auto& tried = url;  // clang 14 captures no structured binding
    CAPTURE(tried);
    HttpOptions options;
    REQUIRE(set_url(options, url).empty());
    CHECK(is_local(options) == local);
  }
}

TEST_CASE("where the TLS library's own file is there, nothing else is chosen") {
  const TemporaryFolder folder;
  CHECK(choose_ca_file(folder.write("usual", "x"), {folder.write("other", "x")},
                       folder.write("own", "x")) == "");
}

TEST_CASE("in the image of another distribution that one's file is chosen, the first there is") {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing");
  const std::string second = folder.write("second", "x");
  CHECK(choose_ca_file(missing, {missing, second, folder.write("third", "x")},
                       folder.write("own", "x")) == second);
  CHECK(choose_ca_file("", {second}, "") == second);
}

TEST_CASE(
    "the copy shipped with the program is found by its libraries, wherever the program is run from") {
  CHECK(shipped_ca_file("/opt/mcp-session-bridge/lib/libcurl.so.4") ==
        "/opt/mcp-session-bridge/share/mcp-session-bridge/ca-certificates.crt");
  CHECK(shipped_ca_file("/home/lib/x///lib/libcurl.so.4") ==
        "/home/lib/x///share/mcp-session-bridge/ca-certificates.crt");
  CHECK(shipped_ca_file("libcurl.so.4") == "");
  CHECK(shipped_ca_file("") == "");
}

TEST_CASE("where there is none at all the program's own copy is chosen, if it has one") {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing");
  const std::string own = folder.write("own", "x");
  CHECK(choose_ca_file(missing, {missing}, own) == own);
  CHECK(choose_ca_file(missing, {missing}, missing) == "");
  CHECK(choose_ca_file(missing, {}, "") == "");
}
