"""Nothing of a login that is secret is shown anywhere, whatever the server says (BEHAVIOUR, "Login")."""

import os
import urllib.parse

from authorization import LoginCase, get, signed_in
from harness import eventually, main


class Echoing(LoginCase):
    """A server that repeats in its errors all that it was sent."""

    def serve_loudly(self, *options):
        return self.serve("--log-level", "debug", "--state-dir", self.path("state"), *options)

    def tearDown(self):
        try:
            if not self.failed:
                self.look_everywhere()
        finally:
            super().tearDown()

    def look_everywhere(self):
        daemon = self.default_daemon
        places = {}
        for name in ("cmdline", "environ"):
            with open(f"/proc/{daemon.pid}/{name}", "rb") as file:
                places[name] = file.read().decode(errors="replace")
        for folder, _, files in os.walk(self.path("state")):
            for name in files:
                if name != "tokens.json":
                    with open(os.path.join(folder, name), "rb") as file:
                        places[name] = file.read().decode(errors="replace")
        for secret in [*self.server.secrets(), *self.said]:
            for place, text in places.items():
                self.assertNotIn(secret, text, place)
            self.assertNotIn(secret, "".join(self.shown))

    def setUp(self):
        super().setUp()
        self.said, self.shown = [], []
        issue = self.server.issue

        def loud(form, headers):
            answer = issue(form, headers)
            secret = [form[name] for name in ("code", "code_verifier", "refresh_token", "client_secret", "device_code") if name in form]
            basic = headers.get("Authorization", "").partition(" ")[2]
            self.said += secret + ([basic] if basic else [])
            if answer and answer[0] != 200:
                return answer[0], {**answer[1], "error_description": "you sent " + " ".join(secret + [basic])
                                   + " or " + urllib.parse.urlencode(form)}
            return answer
        self.server.issue = loud

    def failing(self, params=None):
        answer = self.ask(params)
        self.shown.append(repr(answer))
        return answer

    def test_at_the_exchange_of_the_code(self):
        for method in ("client_secret_basic", "client_secret_post"):
            with self.subTest(method):
                self.server.auth_method = method
                self.server.offer(token_endpoint_auth_methods_supported=[method])
                if self.default_daemon:
                    self.default_daemon.stop()
                self.serve_loudly()
                address = signed_in(self.begin()["url"])
                self.server.codes.clear()  # it knows the code no more
                status, _, page = get(address)
                self.assertEqual(status, 200)
                self.assertIn("not logged in", page)
                self.assertIn("invalid_grant", self.failing({"waitMs": 60000})["error"]["message"])

    def test_at_the_refresh(self):
        self.serve_loudly()
        self.log_in()
        self.server.refresh_status = 400
        self.server.revoke_all()
        answer = self.client().call("echo", {"message": "x"})
        self.shown.append(repr(answer))
        self.assertIn("invalid_grant", answer["error"]["message"])

    def test_at_the_redirect(self):
        self.serve_loudly()
        url = self.begin()["url"]
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        self.server.error = {"error": "access_denied", "error_description": "your state was " + asked["state"]}
        _, _, page = get(signed_in(url))
        self.shown.append(page)
        answer = self.failing({"waitMs": 60000})
        self.assertIn("access_denied", answer["error"]["message"])
        self.said.append(asked["state"])

    def test_in_a_refused_registration(self):
        self.server.refusal_of_registration = (400, {"error": "invalid_client_metadata", "error_description": "\x1b[2J\u202enope"})
        self.serve_loudly()
        answer = self.failing()
        self.assertIn("invalid_client_metadata", answer["error"]["message"])
        self.assertNotIn("\x1b", answer["error"]["message"])

    def test_with_the_monitor_and_a_full_log(self):
        self.serve_loudly()
        monitor = self.nc("monitor")
        # It looks on from some call on.
        eventually(lambda: (self.ask(method="tools/list"), monitor.stdout())[1], "the monitor shows what passes")
        address = signed_in(self.begin()["url"])
        self.ask({"callback": address})
        self.state_when("ok")
        self.echoed()
        eventually(lambda: b"echo" in monitor.stdout(), "the call is shown")
        self.shown.append(monitor.stdout().decode())
        self.said.append(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))["code"])
        self.run_nc("logout")


if __name__ == "__main__":
    main()
