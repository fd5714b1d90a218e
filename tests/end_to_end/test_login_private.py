"""A server at a public address names others at private ones (BEHAVIOUR, "Login: flow"): the public address is one of
this machine for once, in a network of the test's own. As root; skipped without.
"""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import unittest
import urllib.parse

from authorization import LoginCase
from authorization.login_server import LoginServer
from harness import main
from harness.certificates import Authority

PUBLIC = "9.9.9.9"
CLONE_NEWNET = 0x40000000


def setUpModule():
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise unittest.SkipTest("only root has networks of its own, and needs ip of iproute2")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise unittest.SkipTest(f"there is no network of its own: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", PUBLIC + "/32", "dev", "lo"], check=True)


class Trap:
    """Something inside that nobody outside may reach."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def was_reached(self):
        try:
            self.socket.accept()[0].close()
            return True
        except BlockingIOError:
            return False


class Public(LoginCase):
    def setUp(self):
        super().setUp()
        self.server.stop()
        self.authority = Authority(self.folder)
        certificate = self.authority.sign("server", f"IP:{PUBLIC}")
        self.server = LoginServer(certificate, PUBLIC)
        self.addCleanup(self.server.stop)
        self.trap = Trap()
        self.addCleanup(self.trap.socket.close)

    def serve_public(self, *options, **how):
        return self.serve("--ca-file", self.path("authority.pem"), *options, **how)

    def refusal_of_login(self):
        answer = self.ask()
        self.assertIn("error", answer, answer)
        return answer["error"]["message"]

    def come_back(self):
        """The person's browser does, without looking at the server's certificate."""
        query = urllib.parse.urlsplit(self.begin()["url"]).query
        return self.ask({"callback": self.server.authorize(query)})

    def test_the_server_itself_is_no_private_one(self):
        self.serve_public()
        self.assertEqual(self.come_back()["result"]["state"], "ok")
        self.echoed()

    def test_an_authorization_server_inside_is_not_even_connected_to(self):
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            with self.subTest(host):
                self.server.issuer = f"https://{host}:{self.trap.port}/as"
                self.server.offer()
                if self.default_daemon:
                    self.default_daemon.stop()
                self.serve_public()
                self.assertIn("--oauth-allow-private", self.refusal_of_login())
                self.assertFalse(self.trap.was_reached())

    def test_unless_the_operator_allows_it(self):
        self.server.issuer = f"https://127.0.0.1:{self.trap.port}/as"
        self.server.offer()
        self.serve_public("--oauth-allow-private", "--connect-timeout", "1s")
        client = self.client()
        client.send({"jsonrpc": "2.0", "id": 1, "method": "bridge/login", "params": {}})
        self.trap.socket.setblocking(True)
        self.trap.socket.settimeout(30)
        self.trap.socket.accept()[0].close()
        self.assertIn("error", client.answer(1))

    def test_metadata_of_the_resource_inside(self):
        self.server.offer()
        self.server.challenge = f'Bearer resource_metadata="https://127.0.0.1:{self.trap.port}/metadata"'
        del self.server.documents["/.well-known/oauth-protected-resource/mcp"]
        self.serve_public()
        self.assertIn("--oauth-allow-private", self.refusal_of_login())
        self.assertFalse(self.trap.was_reached())

    def test_a_registration_endpoint_inside(self):
        self.server.offer(registration_endpoint=f"http://127.0.0.1:{self.trap.port}/register")
        self.serve_public()
        self.assertIn("--oauth-allow-private", self.refusal_of_login())
        self.assertFalse(self.trap.was_reached())

    def test_a_token_endpoint_inside(self):
        self.server.token_url = f"https://127.0.0.1:{self.trap.port}/token"
        self.server.offer()
        self.serve_public()
        self.assertIn("--oauth-allow-private", self.come_back()["error"]["message"])
        self.assertFalse(self.trap.was_reached())

    def test_a_stored_login_is_judged_again_after_a_restart(self):
        daemon = self.serve_public("--token-store", self.path("tokens.json"))
        self.assertEqual(self.come_back()["result"]["state"], "ok")
        daemon.stop()
        with open(self.path("tokens.json"), encoding="utf-8") as file:
            stored = json.load(file)
        [login] = stored["logins"]
        # As if the name had another address by now.
        login["token_endpoint"] = f"https://127.0.0.1:{self.trap.port}/token"
        login["revocation_endpoint"] = f"https://127.0.0.1:{self.trap.port}/revoke"
        self.write("tokens.json", json.dumps(stored))
        self.serve_public("--token-store", self.path("tokens.json"), socket="s2")
        self.server.revoke_all()
        self.refused("--oauth-allow-private")
        _, err = self.run_nc("logout", code=1)
        self.assertIn("--oauth-allow-private", err)
        self.assertFalse(self.trap.was_reached())


if __name__ == "__main__":
    main()
