#include "upstream/http/html_text.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a web page is known by its type or its beginning") {
  CHECK(is_web_page("text/html; charset=utf-8", "x"));
  CHECK(is_web_page("TEXT/HTML", ""));
  CHECK(is_web_page("", "\n <!DOCTYPE html><p>x"));
  CHECK(is_web_page("text/plain", "<HTML><body>"));
  CHECK_FALSE(is_web_page("application/json", "{}"));
  CHECK_FALSE(is_web_page("", "<b>not a page"));
  CHECK_FALSE(is_web_page("", ""));
}

TEST_CASE("of a web page its first line is told, without tags") {
  CHECK(first_line_of_page("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n"
                           "<center><h1>502 Bad Gateway</h1></center><hr>nginx</body></html>") ==
        "502 Bad Gateway");
  CHECK(first_line_of_page("<!DOCTYPE html><!-- <p>no --><style>p{}</style><script>1<2</script>"
                           "<p>Not  <b>found</b>\n here &amp; there</p><p>more") ==
        "Not found here & there");
  CHECK(first_line_of_page("plain & simple, 1 < 2") == "plain & simple, 1 < 2");
  CHECK(first_line_of_page("&lt;script&gt;") == "<script>");
}

TEST_CASE("a page that is cut, empty or broken is no trouble") {
  for (const char* page :
       {"", "<", "<html", "<!--", "<script>x", "<title></title>", "  \n ", "<p><p>", "</", "<!"}) {
    CAPTURE(page);
    CHECK(first_line_of_page(page).size() <= 1);
  }
  CHECK(first_line_of_page("<title>Error</ti") == "Error");
}
