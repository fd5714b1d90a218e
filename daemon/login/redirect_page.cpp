#include "login/redirect_page.hpp"

#include <fmt/format.h>

namespace bridge {
namespace {

int status_of(RedirectPage page) { return page == RedirectPage::unknown_address ? 400 : 200; }

std::string_view text_of(RedirectPage page) {
  switch (page) {
    case RedirectPage::logged_in: return "You are logged in. You can close this page.";
    case RedirectPage::not_logged_in:
      return "You are not logged in. The terminal says why. You can close this page.";
    case RedirectPage::unknown_address: break;
  }
  return "This is not the answer to a login that waits here.";
}

}  // namespace

HttpResponse redirect_page(RedirectPage page) {
  HttpResponse response;
  response.status = status_of(page);
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Cache-Control", "no-store"},
                      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"}};
  response.body = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcp-session-bridge</title>"
      "<p>{}</p></html>\n",
      text_of(page));
  return response;
}

}  // namespace bridge
