"""Logins that outlive the daemon, and daemons that share one (BEHAVIOUR, "Login: store")."""

import json
import os
import stat

from authorization import LoginCase, get, signed_in
from harness import eventually, main


class TheStore(LoginCase):
    def stored(self, path=None):
        with open(path or self.path("tokens.json"), encoding="utf-8") as file:
            return json.load(file)["logins"]

    def with_store(self, *options, **how):
        return self.serve("--token-store", self.path("tokens.json"), *options, **how)

    def test_a_restart_keeps_the_login(self):
        daemon = self.with_store()
        self.log_in()
        self.assertEqual(stat.S_IMODE(os.stat(self.path("tokens.json")).st_mode), 0o600)
        daemon.stop()
        self.with_store(socket="s2")
        self.echoed()
        self.assertEqual(self.login()["state"], "ok")
        self.assertEqual((len(self.server.authorizations), self.server.refreshes), (1, []))

    def test_the_state_is_known_before_anybody_asks(self):
        daemon = self.with_store()
        self.log_in()
        daemon.stop()
        daemon = self.with_store(socket="s2")
        self.assertEqual(self.login()["state"], "ok")
        self.server.refresh_status = 400
        self.server.revoke_all()
        self.refused("invalid_grant")
        daemon.stop()
        self.with_store(socket="s3")
        self.assertEqual(self.login()["state"], "needed")
        self.assertFalse(self.default_daemon.status()["upstream"]["ready"])

    def test_the_state_directory_has_one_by_itself(self):
        self.serve("--state-dir", self.path("state"))
        self.log_in()
        [login] = self.stored(self.path("state/tokens.json"))
        self.assertEqual((login["upstream"], login["issuer"]), (self.server.url, self.server.issuer))

    def test_without_one_the_log_says_that_a_restart_loses_it(self):
        self.serve()
        self.log_in()
        self.assertIn("a restart loses it", self.default_daemon.stderr())

    def test_a_logout_is_one_of_the_file_as_well(self):
        self.with_store()
        self.log_in()
        self.run_nc("logout")
        self.assertEqual(self.stored(), [])

    def test_another_image_of_the_program_goes_on_with_it(self):
        daemon = self.serve()
        self.log_in()
        daemon.upgrade()
        self.echoed()
        self.assertEqual(self.login()["state"], "ok")
        self.server.revoke_all()
        self.echoed()
        self.assertEqual((len(self.server.authorizations), len(self.server.refreshes)), (1, 1))

    def test_a_file_that_cannot_be_used_is_refused_at_the_start_and_left_as_it_is(self):
        for text, mode, says in (('{"version":1,"logins":[]}', 0o644, "chmod 600"), ("my diary", 0o600, "not a token store")):
            with self.subTest(text):
                path = self.write("tokens.json", text, mode=mode)
                self.assertIn(says, self.with_store(ready=False).fails(78))
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), text)


class TwoDaemons(LoginCase):
    def setUp(self):
        super().setUp()
        store = ("--token-store", self.path("tokens.json"))
        self.one = self.serve(*store, socket="one")
        self.two = self.serve(*store, socket="two")

    def test_a_login_at_one_is_one_at_the_other(self):
        two = self.client(self.two)
        self.assertIn("error", two.call("echo", {"message": "x"}))
        self.default_daemon = self.one
        get(signed_in(self.begin()["url"]))
        self.state_when("ok")
        eventually(lambda: "result" in two.call("echo", {"message": "x"}), "the other one is logged in")
        self.assertEqual(self.login(self.two)["state"], "ok")


if __name__ == "__main__":
    main()
