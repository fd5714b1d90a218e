"""Who is at the other end of TLS: certificates are looked at, and shown where they are asked for (BEHAVIOUR,
"Streamable HTTP: connections")."""

import shutil
import signal

from faults import FaultCase, call, main_parallel, patient, text_of
from harness.certificates import Authority, key_of
from harness.tls_front import TlsFront, TlsRefuser


class Tls(FaultCase):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder)
        self.server = self.upstream("--token", "the-token")

    def front(self, certificate, **how):
        front = TlsFront(self.server.port, certificate, **how)
        self.addCleanup(front.close)
        return front

    def refuser(self):
        front = TlsRefuser(self.authority.sign("right"), self.authority.path)
        self.addCleanup(front.close)
        self.addCleanup(lambda: self.assertEqual(front.accepted, []))
        return front

    def daemon_to(self, front, *options, url=None):
        return self.start_daemon(url or front.url, "--connect-wait", patient(1000), *options,
                                 environment={"MCP_SERVER_TOKEN": "the-token"})

    def trusted(self, front, *options, **how):
        return self.daemon_to(front, "--ca-file", self.authority.path, *options, **how)

    def served(self):
        self.assertEqual(text_of(self.client().call("echo", {"message": "private"})), "private")

    def refused(self, says):
        client = self.client()
        client.send(call("echo", {"message": "private"}, 1))
        error = self.assert_error(client.line(), -32000, 1, "tls", "no")
        self.assertIn(says, error["message"])
        self.assertEqual(self.server.log(), [])
        self.assertEqual(self.default_daemon.status()["lastError"]["kind"], "tls")

    def test_a_certificate_of_a_known_authority_is_right(self):
        daemon = self.trusted(self.front(self.authority.sign("right")))
        self.served()
        # TLS to anywhere is no reason to warn about the token.
        self.assertNotIn("warning", daemon.stderr())

    def test_another_content_of_its_file_counts_from_sighup_on(self):
        front = self.front(self.authority.sign("right"))
        stranger = Authority(self.folder, "stranger").path
        daemon = self.daemon_to(front, "--ca-file", stranger)
        client = self.client()
        self.assert_error(client.call("echo", {"message": "x"}, 1), -32000, 1, "tls", "no")
        shutil.copy(self.authority.path, stranger)
        daemon.signal(signal.SIGHUP)
        daemon.logged("were read again")
        self.served()

    def test_one_for_another_host_is_refused(self):
        self.trusted(self.front(self.authority.sign("other", hosts="DNS:elsewhere.example")))
        self.refused("127.0.0.1")

    def test_one_of_an_unknown_authority_is_refused(self):
        self.trusted(self.front(Authority(self.folder, "stranger").sign("right")))
        self.refused("certificate")

    def test_without_a_ca_file_the_systems_authorities_count_and_the_error_names_the_option(self):
        self.daemon_to(self.front(self.authority.sign("right")))
        self.refused("--ca-file")

    def test_insecure_takes_any_and_says_so_on_each_start(self):
        front = self.front(Authority(self.folder, "stranger").sign("old", hosts="DNS:elsewhere.example", expired=True))
        for _ in range(2):
            daemon = self.daemon_to(front, "--insecure")
            self.served()
            warnings = [line for line in daemon.stderr().splitlines() if "warning" in line]
            self.assertEqual(len(warnings), 1, daemon.stderr())
            self.assertIn("--insecure", warnings[0])
            daemon.stop()

    def test_a_client_certificate_is_shown(self):
        mine = self.authority.sign("mine", hosts="DNS:me")
        front = self.front(self.authority.sign("right"), client_authority=self.authority.path)
        self.trusted(front, "--client-cert", mine, "--client-key", key_of(mine))
        self.served()

    def test_without_one_that_is_required_the_request_is_not_delivered(self):
        self.trusted(self.refuser())
        self.refused("certificate required")

    def test_files_that_are_not_there_end_the_start(self):
        for option in ("--ca-file", "--client-cert", "--client-key"):
            said = self.start_daemon("https://127.0.0.1:1/mcp", option, self.path("none"), ready=False, socket=None).fails(78)
            self.assertIn(self.path("none"), said)


if __name__ == "__main__":
    main_parallel(3)
