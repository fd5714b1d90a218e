"""A login at an authorization server that people use in earnest: oidc-provider of npm, with its own pages.

On demand: `npm ci` in tests/end_to_end/oidc, then this file; skipped without. The browser is a script that keeps
cookies, follows redirects and fills in the forms.
"""

import base64
import html.parser
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from authorization import ProtectedServer
from harness import Case, eventually, main
from harness.binaries import ROOT, binary
from harness.by_name import ByName

FOLDER = ROOT / "tests" / "end_to_end" / "oidc"


class Resource(ProtectedServer):
    """Asks the provider about tokens."""

    def use(self, issuer):
        self.issuer = issuer
        self.documents["/.well-known/oauth-protected-resource/mcp"] = {
            "resource": self.url, "authorization_servers": [issuer], "scopes_supported": ["mcp"]}
        self.challenge = f'Bearer resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp", scope="mcp"'
        body = json.dumps({"redirect_uris": ["https://resource.example/none"]}).encode()
        request = urllib.request.Request(issuer + "/reg", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            client = json.load(answer)
        pair = f"{client['client_id']}:{client['client_secret']}".encode()
        self.basic = "Basic " + base64.b64encode(pair).decode()

    def scopes_of(self, token):
        if not token:
            return None
        form = urllib.parse.urlencode({"token": token}).encode()
        request = urllib.request.Request(self.issuer + "/token/introspection", form, {"Authorization": self.basic})
        with urllib.request.urlopen(request, timeout=30) as answer:
            known = json.load(answer)
        return set(known.get("scope", "").split()) if known.get("active") else None


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


def provided(case):
    """A resource of the provider, both until the end of the case."""
    server = Resource()
    case.addCleanup(server.stop)
    provider = case.run_process("provider", ["node", FOLDER / "server.mjs", server.url])
    server.use(eventually(lambda: [line for line in provider.stdout().decode().splitlines()
                                   if line.startswith("http")], "the provider listens")[0])
    return server


@unittest.skipUnless((FOLDER / "node_modules").exists() and shutil.which("node"), "oidc-provider is not installed")
class RealProvider(Case):
    def setUp(self):
        super().setUp()
        self.server = provided(self)
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


@unittest.skipUnless((FOLDER / "node_modules").exists() and shutil.which("node"), "oidc-provider is not installed")
class ByItsName(ByName):
    def test_a_login_outlives_the_daemon_that_nobody_used(self):
        self.own({"real": {"url": provided(self).url}})
        idle = {"MCP_BRIDGE_IDLE_EXIT": "1s"}
        verb = self.run_process("login", [binary("MCP_NC"), "@real", "login"], environment={**self.environment, **idle},
                                stdin=subprocess.DEVNULL)
        eventually(lambda: b"\n" in verb.stdout(), "the address is shown")
        pid = self.running()["real"]
        verb.signal(signal.SIGINT)
        self.assertEqual(verb.wait(), 130)
        # The pending login keeps the daemon: nobody is connected for longer than it would stay.
        time.sleep(2)
        self.assertEqual(self.running(), {"real": pid})
        self.assertIn("You are logged in", Browser().sign_in(verb.stdout().decode().splitlines()[0]))
        self.assert_gone(pid)
        self.echoes("@real", **idle)
        store = self.path("home/.local/state/mcp-bridged/tokens.json")
        self.assertEqual(os.stat(store).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
