#include "http/html_text.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a web page is known by its type or its beginning") {
  CHECK(is_web_page("text/html; charset=utf-8", "x"));
  CHECK(is_web_page("TEXT/HTML", ""));
  CHECK(is_web_page("", "\n <!DOCTYPE html><p>x"));
  CHECK(is_web_page("text/plain", "<HTML><body>"));
  CHECK_FALSE(is_web_page("application/json", "{}"));
  CHECK_FALSE(is_web_page("", "<bold>not a page"));
  CHECK_FALSE(is_web_page("", ""));
}

TEST_CASE("whatever type it was sent with, a text that begins as pages do is one") {
  for (const char* type : {"", "text/plain", "application/octet-stream", "application/json"}) {
    for (const char* page :
         {"<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">", "<html lang=en>", "<head>",
          "<title>502</title>", "<body bgcolor=white>", "<h1>Bad Gateway</h1>", "<H2>x", "<p>x",
          "<center>x", "<div\n class=x>", "<br />\n<b>Fatal error</b>: x", "<b>Fatal error</b>",
          "<pre>Cannot GET /mcp</pre>", "<!-- generated --><x>", "\xEF\xBB\xBF<html>",
          "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"x\">", "<?xml version='1.0'?><html>"}) {
      CAPTURE(type);
      CAPTURE(page);
      CHECK(is_web_page(type, page));
    }
    for (const char* other :
         {"{\"html\":\"<p>\"}", "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>",
          "<Error>", "<id> is not known", "< p>", "<", "<>", "<1>", "a <p>", "<p:x>", "<?xml"}) {
      CAPTURE(type);
      CAPTURE(other);
      CHECK_FALSE(is_web_page(type, other));
    }
  }
}

TEST_CASE("character references are read as the characters they stand for") {
  CHECK(first_line_of_page("<p>can&#39;t reach &quot;a&quot; &#x26; &#X2019;b&#8217; &lt;c&gt;") ==
        "can't reach \"a\" & \xE2\x80\x99"
        "b\xE2\x80\x99 <c>");
  CHECK(first_line_of_page("Caf&eacute; &mdash; &copy; 2026 &euro; &hellip; &yuml;") ==
        "Caf\xC3\xA9 \xE2\x80\x94 \xC2\xA9 2026 \xE2\x82\xAC \xE2\x80\xA6 \xC3\xBF");
  CHECK(first_line_of_page("&nbsp;a&nbsp;&#160; &#10;&#x9;b&nbsp;<p>c") == "a b");
  CHECK(first_line_of_page("&amp;#39; &amp;lt;") == "&#39; &lt;");  // decoded once
  CHECK(first_line_of_page("a&b &unknown; &; &# &#; &#x; &#xg; &") ==
        "a&b &unknown; &; &# &#; &#x; &#xg; &");
}

TEST_CASE("a sign that is no tag is text") {
  CHECK(first_line_of_page("limit <10 and <= 5 <") == "limit <10 and <= 5 <");
  CHECK(first_line_of_page("\xEF\xBB\xBF<?xml version='1.0'?><html><title>x</title>") == "x");
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
