"""How the bridge learns which eras its server speaks: by what the first client of each era needs, and when again
(BEHAVIOUR, "Eras: what a server speaks")."""

import os
import socket

from harness import call, initialize, main, request, text_of
from harness.eras import Eras
from harness.modern_protocol import VERSION
from harness.old_sse_server import OldSseServer

ECHO = request("tools/call", {"name": "echo", "arguments": {"message": "x"}}, 1)
DISCOVER = "server/discover"


class Probe(Eras):
    def echoes(self, client=None):
        """A bare call from a shell, which is a legacy client."""
        mine = client or self.client()
        answer = mine.send(ECHO).answer(1)
        self.assertIn("result", answer)
        self.assertEqual(text_of(answer), "x")

    def modern_echoes(self, client=None):
        self.assertEqual(text_of((client or self.modern()).call_tool("echo", {"message": "x"})), "x")

    def count(self, server, method):
        return len(server.received(method))

    def asked(self, server, initialize=0, discover=0, eras=None):
        self.assertEqual((self.count(server, "initialize"), self.count(server, DISCOVER)), (initialize, discover))
        if eras:
            self.assertEqual(self.default_daemon.status()["upstream"]["eras"], eras)


class OverHttp(Probe):
    def test_a_client_costs_a_server_of_its_own_era_one_handshake_and_nothing_more(self):
        for mode in ("legacy", "dual"):
            with self.subTest(mode):
                server, _ = self.bridged(mode)
                for _ in range(3):
                    self.echoes()
                self.asked(server, initialize=1, eras="legacy")
                self.assertEqual([one.method for one in server.received()][:3], ["initialize", "GET", "notifications/initialized"])
        for mode in ("modern", "dual"):
            with self.subTest(mode, client="modern"):
                server, _ = self.bridged(mode)
                for _ in range(3):
                    self.modern_echoes()
                self.asked(server, discover=1, eras="modern")

    def test_a_legacy_client_of_a_modern_server_is_refused_once_and_then_translated(self):
        server, _ = self.bridged("modern")
        for _ in range(3):
            self.echoes()
        self.assertIn("result", self.client().send(initialize(7)).answer(7))
        self.asked(server, initialize=1, discover=1, eras="modern")

    def test_a_modern_client_of_a_legacy_server_is_refused_once_and_then_translated(self):
        server, _ = self.bridged("legacy")
        for _ in range(3):
            self.modern_echoes()
        self.asked(server, initialize=1, discover=1, eras="legacy")
        declared = server.received("initialize")[0].params["capabilities"]
        self.assertLessEqual({"elicitation", "sampling", "roots"}, set(declared))


class Both(Probe):
    """A server of both eras serves each client in its own, side by side (BEHAVIOUR, "Eras: a server of both")."""

    def both(self):
        server, daemon = self.bridged("dual")
        legacy, modern = self.client(), self.modern()
        self.echoes(legacy)
        self.modern_echoes(modern)
        self.asked(server, initialize=1, discover=1, eras="both")
        return server, daemon, legacy, modern

    def test_a_modern_request_has_no_session_and_a_legacy_one_has(self):
        server, _, _, _ = self.both()
        legacy, modern = server.received("tools/call")
        self.assertFalse(modern.header("Mcp-Session-Id"))
        self.assertEqual((modern.header("MCP-Protocol-Version"), modern.header("Mcp-Method")), (VERSION, "tools/call"))
        self.assertIn("io.modelcontextprotocol/clientCapabilities", modern.params["_meta"])
        self.assertEqual(legacy.header("MCP-Protocol-Version"), "2025-11-25")
        self.assertTrue(legacy.header("Mcp-Session-Id"))
        self.assertFalse(legacy.header("Mcp-Method"))
        self.assertNotIn("_meta", legacy.params)

    def test_a_lost_legacy_session_does_not_disturb_a_modern_call(self):
        server, daemon, legacy, modern = self.both()
        held = modern.begin("tools/call", {"name": "hold", "arguments": {"key": "a"}})
        server.wait_held("a")
        server.forget_sessions()
        self.echoes(legacy)
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)
        server.release("a")
        self.assertIn("result", modern.response(held))
        self.asked(server, initialize=2, discover=1, eras="both")

    def test_both_are_remembered_by_the_next_daemon(self):
        folder = os.path.join(self.folder, "state")
        server = self.server("dual")
        daemon = self.before(server, "--state-dir", folder)
        self.echoes()
        self.modern_echoes()
        self.asked(server, initialize=1, discover=1, eras="both")
        daemon.crash()
        self.before(server, "--state-dir", folder)
        self.echoes()
        self.modern_echoes()
        self.assertEqual(self.count(server, "initialize"), 1)  # taken up
        self.assertEqual(self.default_daemon.status()["upstream"]["eras"], "both")


class Sse(Probe):
    def test_http_and_sse_is_not_probed(self):
        server = OldSseServer()
        self.addCleanup(server.stop)
        self.start_daemon(server.url)
        self.assertIn("result", self.client().send(request("tools/call", {"name": "echo", "arguments": {}}, 1)).answer(1))
        self.assertNotIn(DISCOVER, server.methods())


class OnStdio(Probe):
    def test_each_kind_of_server_for_a_legacy_client(self):
        for mode, asked in (("dual", {"initialize": 1, "eras": "legacy"}), ("legacy", {"initialize": 1, "eras": "legacy"}),
                            ("modern", {"initialize": 1, "discover": 1, "eras": "modern"})):
            with self.subTest(mode):
                server, _ = self.bridged(mode, stdio=True)
                self.echoes()
                self.modern_echoes()
                self.asked(server, **asked)
                self.assertEqual(server.starts, 1)

    def test_a_command_that_is_of_another_era_after_its_next_start(self):
        for before, after in (("legacy", "modern"), ("modern", "legacy")):
            with self.subTest(before, after=after):
                server, daemon = self.bridged(before, stdio=True)
                self.echoes()
                server.becomes(after)
                daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
                self.echoes()
                self.assertEqual(self.era_of_upstream(), after)


class Told(Probe):
    def test_era_legacy_never_discovers(self):
        for mode in ("legacy", "dual"):
            for stdio in (False, True):
                with self.subTest(mode, stdio=stdio):
                    server, _ = self.bridged(mode, "--era", "legacy", stdio=stdio)
                    self.modern_echoes()
                    self.asked(server, initialize=1, eras="legacy")

    def test_a_legacy_server_that_is_called_modern_says_why_it_fails(self):
        server = self.server("legacy")
        self.before(server, "--era", "modern", "--connect-wait", "2s")
        answer = self.client().send(ECHO).answer(1)
        self.assertIn("--era modern", answer["error"]["message"])
        self.assertEqual(self.count(server, "initialize"), 0)


class ClientsDiscover(Probe):
    def test_it_opens_the_session_and_is_answered_from_it(self):
        for mode in ("legacy", "modern", "dual"):
            for carrier in ("socket", "face"):
                with self.subTest(mode, carrier=carrier):
                    server, _ = self.bridged(mode, face=True)
                    client = self.modern() if carrier == "socket" else self.modern_face()
                    for _ in range(2):
                        result = client.ask(DISCOVER)["result"]
                        self.assertIn(VERSION, result["supportedVersions"])
                        self.assertIn("tools", result["capabilities"])
                        self.assertEqual(result["instructions"], "Ask nicely.")
                        self.assertIn("io.modelcontextprotocol/serverInfo", result["_meta"])
                    self.assertEqual(self.count(server, DISCOVER), 1)

    def test_with_the_handshake_of_the_client_a_modern_request_is_one(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                self.bridged(mode, "--handshake", "client")
                bare = self.client()
                bare.send(call("echo", {"message": "x"}, 1))
                self.assert_error(bare.answer(1), -32000, 1, "not_initialized", "no")
                self.assertEqual(text_of(self.modern().call_tool("echo", {"message": "x"})), "x")

    def test_the_status_says_the_eras(self):
        _, daemon = self.bridged("modern")
        modern, legacy = self.modern(), self.client()
        modern.ask(DISCOVER)
        legacy.send(initialize(0)).answer(0)
        status = daemon.status()
        self.assertEqual(status["upstream"]["era"], "modern")
        self.assertEqual(sorted(one.get("era", "") for one in status["clients"] if one.get("era")), ["legacy", "modern"])
        out, _ = self.run_nc("status")
        self.assertIn("modern", out)
        self.assertIn("era", daemon.metrics().text)


if __name__ == "__main__":
    main()
