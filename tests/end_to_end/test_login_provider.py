"""A login at an authorization server that people use in earnest: oidc-provider of npm, with its own pages.

On demand: `npm ci` in tests/end_to_end/oidc, then this file; skipped without. The browser is a script that keeps
cookies, follows redirects and fills in the forms.
"""

import html.parser
import json
import unittest
import urllib.parse
import urllib.request

from authorization import provider
from harness import Case, eventually, main


class Form(html.parser.HTMLParser):
    """The first form of a page."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields, self.over = None, {}, False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action")
        elif tag == "input" and not self.over and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value") or ""

    def handle_endtag(self, tag):
        self.over = self.over or tag == "form"


class Browser:
    def __init__(self):
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def sign_in(self, url):
        """The text of the page on which it ends."""
        for _ in range(6):
            with self.opener.open(url, timeout=30) as answer:
                page, place = answer.read().decode(), answer.url
            while True:
                form = Form(page)
                if form.action is None:
                    return page
                for name in ("login", "password"):
                    if name in form.fields:
                        form.fields[name] = "ada"
                data = urllib.parse.urlencode(form.fields).encode()
                with self.opener.open(urllib.parse.urljoin(place, form.action), data, timeout=30) as answer:
                    page, place = answer.read().decode(), answer.url
        return None


@unittest.skipUnless(provider.is_installed(), "oidc-provider is not installed")
class RealProvider(provider.ProviderCase, Case):
    def setUp(self):
        super().setUp()
        self.start_provider()
        self.start_daemon(self.server, "--token-store", self.path("tokens.json"), "--connect-wait", "5s")

    def log_in(self):
        verb = self.nc("login")
        eventually(lambda: b"\n" in verb.stdout(), "the address is shown")
        page = Browser().sign_in(verb.stdout().decode().splitlines()[0])
        self.assertEqual(verb.wait(), 0, verb.stderr())
        self.assertIn("You are logged in", page)

    def stored(self):
        with open(self.path("tokens.json"), encoding="utf-8") as file:
            return json.load(file)["logins"]

    def test_the_browser_signs_in_the_tool_answers_and_the_logout_is_known_there(self):
        self.run_nc("call", "echo", "message=x", code=4)
        self.log_in()
        self.assertEqual(self.run_nc("call", "echo", "message=hello")[0].strip(), "hello")
        [login] = self.stored()
        self.assertIn("mcp", login["scope"].split())
        self.assertTrue(login["refresh_token"])
        _, err = self.run_nc("logout")
        self.assertIn("revoked", err)
        self.run_nc("call", "echo", "message=x", code=4)

    def test_the_refresh_token_is_rotated(self):
        self.log_in()
        [before] = self.stored()

        def is_rotated():
            # A token lives for 5 s; each call has a good one.
            self.assertEqual(self.run_nc("call", "echo", "message=again")[0].strip(), "again")
            [now] = self.stored()
            return now["access_token"] != before["access_token"] and now["refresh_token"] != before["refresh_token"]
        eventually(is_rotated, "there are other tokens")
        [after] = self.stored()
        eventually(lambda: is_rotated() and self.stored()[0]["refresh_token"] != after["refresh_token"], "and others again")


if __name__ == "__main__":
    main()
