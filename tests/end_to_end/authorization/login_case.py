"""Test cases of logins: a server that wants a person, a daemon, and a person who does as is asked."""

from harness import Case, eventually

from .login_server import LoginServer, get, signed_in


class LoginCase(Case):
    """At its end: no request was wrong, and nothing secret was shown anywhere."""

    def setUp(self):
        super().setUp()
        self.server = LoginServer()
        self.addCleanup(self.server.stop)

    def serve(self, *options, offer=True, **how):
        if offer and not self.server.documents:
            self.server.offer()
        return self.start_daemon(self.server, "--connect-wait", "3s", *options, **how)

    def tearDown(self):
        try:
            if not self.failed:
                self.assertEqual(self.server.faults, [])
                shown = "".join(process.stderr() + process.stdout().decode(errors="replace")
                                for process in self.processes)
                if self.default_daemon and self.default_daemon.running():
                    shown += repr(self.default_daemon.status()) + repr(self.default_daemon.metrics())
                for secret in self.server.secrets():
                    self.assertNotIn(secret, shown)
        finally:
            super().tearDown()

    # The control methods.

    def ask(self, params=None, method="bridge/login", daemon=None):
        """The whole answer."""
        client = (daemon or self.default_daemon).client()
        try:
            return client.request(method, params or {}, id=7)
        finally:
            client.close()

    def begin(self, **params):
        answer = self.ask(params)
        self.assertIn("result", answer, answer)
        self.assertEqual(answer["result"]["state"], "pending")
        return answer["result"]

    def log_in(self, **params):
        """A person does all that is to be done; returns the page on which the browser ends."""
        address = signed_in(self.begin(**params)["url"])
        page = get(address)
        self.assertEqual(self.state_when("ok"), "ok")
        return page

    def login(self, daemon=None):
        return (daemon or self.default_daemon).status()["upstream"]["login"]

    def state_when(self, state, daemon=None):
        eventually(lambda: self.login(daemon)["state"] == state, f"the login is {state}")
        return state

    def echoed(self, text="x", client=None, id=1):
        answer = (client or self.client()).call("echo", {"message": text}, id)
        self.assertIn("result", answer, answer)
        self.assertEqual(answer["result"]["content"][0]["text"], text)

    def refused(self, *parts):
        """The data of the error that a call ends with."""
        error = self.client().call("echo", {"message": "x"})["error"]
        self.assertEqual(error["data"]["kind"], "auth", error)
        for part in parts:
            self.assertIn(part, error["message"])
        return error["data"]
