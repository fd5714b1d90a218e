"""A login by a code that is typed on another device: RFC 8628 (BEHAVIOUR, "Login: flow")."""

import subprocess

from authorization import LoginCase
from harness import eventually, main


class Device(LoginCase):
    def end(self):
        return self.ask({"waitMs": 60000})

    def test_the_code_is_shown_and_the_login_comes(self):
        self.server.device_answers = ["authorization_pending"]
        self.serve()
        offer = self.begin(mode="device")
        self.assertEqual((offer["userCode"], offer["verificationUri"]), ("WDJB-MJHT", self.server.issuer + "/code"))
        self.assertNotIn("url", offer)
        self.assertEqual(self.end()["result"]["state"], "ok")
        self.echoed()
        [registered] = self.server.registrations
        self.assertIn("urn:ietf:params:oauth:grant-type:device_code", registered["grant_types"])

    def test_the_grant_is_chosen_by_the_operator(self):
        self.serve("--oauth-grant", "device")
        self.assertIn("userCode", self.begin())
        self.assertEqual(self.end()["result"]["state"], "ok")

    def test_a_server_that_offers_none(self):
        self.server.offer(device_authorization_endpoint=None)
        self.serve()
        self.assertIn("no login by a device code", self.ask({"mode": "device"})["error"]["message"])

    def test_the_verb_shows_the_code(self):
        self.serve()
        verb = self.nc("login", "--device", stdin=subprocess.DEVNULL)
        eventually(lambda: b"WDJB-MJHT" in verb.stdout(), "the code is shown")
        self.assertEqual(verb.wait(), 0)
        self.assertIn(self.server.issuer + "/code", verb.stderr())

    def test_beside_a_login_in_a_browser_it_is_told_that_this_one_is_pending(self):
        self.serve()
        self.begin()
        verb = self.nc("login", "--device", stdin=subprocess.DEVNULL)
        eventually(lambda: "a login in a browser is pending" in verb.stderr(), "the word of it")
        self.run_nc("login", "--cancel")
        self.assertEqual(verb.wait(), 1)
        self.assertNotIn(b"WDJB-MJHT", verb.stdout())

    def test_a_denied_login_is_exit_status_1_and_an_expired_one_124(self):
        self.serve()
        for answer, code in (("access_denied", 1), ("expired_token", 124)):
            self.server.device_answers = [answer]
            verb = self.nc("login", "--device")
            self.assertEqual(verb.wait(), code)


if __name__ == "__main__":
    main()
