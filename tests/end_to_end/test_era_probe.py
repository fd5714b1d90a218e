"""How the bridge learns the era of its server: one `server/discover`, what each answer to it decides, and when it asks again."""

import json
import signal
import socket

from harness import call, initialize, main, request, text_of
from harness.eras import Eras
from harness.modern_protocol import VERSION
from harness.modern_upstream import error
from harness.old_sse_server import OldSseServer

ECHO = request("tools/call", {"name": "echo", "arguments": {"message": "x"}}, 1)
DISCOVER = "server/discover"


class Probe(Eras):
    def echoes(self, client=None):
        """A bare call from a shell."""
        mine = client or self.client()
        answer = mine.send(ECHO).answer(1)
        self.assertIn("result", answer)
        self.assertEqual(text_of(answer), "x")

    def count(self, server, method):
        return len(server.received(method))

    def probed(self, server, times, era):
        self.assertEqual((self.count(server, DISCOVER), self.era_of_upstream()), (times, era))
        if era == "modern":
            self.assertEqual(self.count(server, "initialize"), 0)


class OverHttp(Probe):
    def test_a_modern_server_is_asked_once_and_never_sent_an_initialize(self):
        for mode in ("modern", "dual"):
            with self.subTest(mode):
                server, _ = self.bridged(mode)
                for _ in range(3):
                    self.echoes()
                self.assertIn("result", self.client().send(initialize(7)).answer(7))
                self.probed(server, 1, "modern")

    def test_a_legacy_server_is_asked_once_before_its_first_initialize(self):
        server, _ = self.bridged("legacy")
        for _ in range(3):
            self.echoes()
        self.probed(server, 1, "legacy")
        self.assertEqual([one.method for one in server.received()][:2], [DISCOVER, "initialize"])

    def test_the_probe_is_a_whole_request_of_its_revision(self):
        server, _ = self.bridged("modern")
        self.echoes()
        probe = server.received(DISCOVER)[0]
        self.assertEqual((probe.header("MCP-Protocol-Version"), probe.header("Mcp-Method")), (VERSION, DISCOVER))
        self.assertEqual(probe.params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"], "mcp-session-bridge")

    def test_the_errors_that_only_a_modern_server_knows(self):
        for name in ("-32020", "-32021", "-32022 modern"):
            with self.subTest(name):
                server = self.server("modern")
                server.probe(name)
                self.before(server)
                self.echoes()
                self.assertEqual(self.era_of_upstream(), "modern")
                self.assertEqual(self.count(server, "initialize"), 0)

    def test_no_common_modern_version_but_a_legacy_one(self):
        server = self.server("legacy")
        server.probe("-32022 legacy")
        self.before(server)
        self.echoes()
        self.probed(server, 1, "legacy")

    def test_no_common_version_at_all_is_refused(self):
        server = self.server("legacy")
        server.probe("-32022 none", times=None)
        daemon = self.before(server)
        self.assertIn("error", self.client().send(ECHO).answer(1))
        self.assertEqual(daemon.status()["upstream"]["state"], "refused")
        self.assertEqual(self.count(server, "initialize"), 0)

    def test_answers_that_decide_nothing_are_asked_again_with_the_opening(self):
        for name in ("401", "403", "407", "429", "503"):
            with self.subTest(name):
                server = self.server("modern")
                server.probe(name)
                self.before(server)
                client = self.client()
                client.send(ECHO).answer(1)  # what it says is another test's
                self.echoes(client)
                self.assertGreaterEqual(self.count(server, DISCOVER), 2)
                self.assertEqual(self.era_of_upstream(), "modern")
                self.assertEqual(self.count(server, "initialize"), 0)

    def test_a_server_that_is_not_reached_is_asked_when_it_is(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        daemon = self.start_daemon(f"http://127.0.0.1:{port}/mcp")
        client = self.client().send(ECHO)
        daemon.status_when(lambda status: status["lastError"], "a refused connection")
        server = self.server("modern", port=port)
        self.assertEqual(text_of(client.answer(1)), "x")
        self.probed(server, 1, "modern")

    def test_what_any_other_server_says_means_legacy_and_is_remembered(self):
        for name in ("400", "404", "405", "empty result", "-32600", "-32601", "-32602"):
            with self.subTest(name):
                server = self.server("legacy")
                server.probe(name)
                self.before(server)
                self.echoes()
                self.probed(server, 1, "legacy")
                server.forget_sessions()
                self.echoes()
                self.probed(server, 1, "legacy")

    def test_a_broken_server_is_legacy_for_this_session_alone(self):
        for name, times in (("500", 1), ("closed", 2)):
            with self.subTest(name):
                server = self.server("legacy")
                server.probe(name, times)
                self.before(server)
                self.echoes()
                self.assertEqual(self.era_of_upstream(), "legacy")
                before = self.count(server, DISCOVER)
                server.forget_sessions()
                self.echoes()
                self.assertEqual(self.count(server, DISCOVER), before + 1)

    def test_one_closed_connection_decides_nothing(self):
        server = self.server("modern")
        server.probe("closed", 1)
        self.before(server)
        self.echoes()
        self.probed(server, 2, "modern")

    def test_http_and_sse_is_not_probed(self):
        server = OldSseServer()
        self.processes.append(Stopping(server))
        self.start_daemon(server.url)
        self.assertIn("result", self.client().send(request("tools/call", {"name": "echo", "arguments": {}}, 1)).answer(1))
        self.assertNotIn(DISCOVER, server.methods())


class Stopping:
    """An in-process server among the processes of a test."""

    name, exit_codes = "old-sse", (0,)

    def __init__(self, server):
        self.server = server

    def running(self):
        return self.server.running()

    def stop(self):
        self.server.stop()

    def kill(self):
        pass

    def sanitizer_report(self):
        return None


class AskedAgain(Probe):
    def test_a_server_that_was_upgraded_under_us(self):
        for how in ("as the revision says", "-32020", "-32021", "-32602"):
            with self.subTest(how):
                server, _ = self.bridged("legacy")
                self.echoes()
                server.becomes("modern")
                if how.startswith("-"):
                    server.refusal = error(int(how), "params._meta is missing a required field")
                self.echoes()
                self.assertEqual(self.era_of_upstream(), "modern")
                self.assertEqual(self.count(server, DISCOVER), 2)

    def test_one_that_was_downgraded(self):
        server, _ = self.bridged("modern")
        self.echoes()
        server.becomes("legacy")
        self.echoes()
        self.assertEqual(self.era_of_upstream(), "legacy")
        self.assertEqual(self.count(server, "initialize"), 1)

    def test_what_was_refused_counts_as_not_delivered(self):
        server, _ = self.bridged("legacy")
        self.echoes()
        server.becomes("modern")
        client = self.client()
        client.send(request("tools/call", {"name": "fail", "arguments": {}}, 1))
        self.assertTrue(client.answer(1)["result"]["isError"])  # it was carried out, by a second sending


class OnStdio(Probe):
    def test_each_kind_of_server(self):
        for mode, era in (("modern", "modern"), ("dual", "modern"), ("legacy", "legacy")):
            with self.subTest(mode):
                server, _ = self.bridged(mode, stdio=True)
                self.echoes()
                self.probed(server, 1, era)
                self.assertEqual(server.starts, 1)

    def test_a_child_that_dies_of_it_is_started_again_and_legacy(self):
        server = self.server("legacy")
        server.probe("closed")
        self.before(server, stdio=True)
        self.echoes()
        self.assertEqual(server.starts, 2)
        self.probed(server, 1, "legacy")

    def test_silence_is_answered_by_an_initialize_after_two_seconds(self):
        server = self.server("legacy")
        server.probe("silence")
        self.before(server, stdio=True)
        self.echoes()
        self.assertEqual(server.starts, 1)
        self.probed(server, 1, "legacy")

    def test_whichever_of_the_two_is_answered_with_a_result_decides(self):
        server = self.server("dual")
        server.probe("silence")
        server.fault("initialize", silent=True)
        self.before(server, stdio=True, ready=True)
        client = self.client().send(ECHO)
        server.wait_for(DISCOVER)
        server.wait_for("initialize")
        self.assertEqual(len(server.received(DISCOVER)), 1)
        client.close()

    def test_after_another_start_of_the_same_command_it_is_not_asked_again(self):
        server, daemon = self.bridged("legacy", stdio=True)
        self.echoes()
        server.restart()
        daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
        self.echoes()
        self.probed(server, 1, "legacy")

    def test_a_command_that_is_of_another_era_after_its_next_start(self):
        refusals = (None, error(-32601, "Method not found"), error(-32602, "params._meta is missing a required field"))
        for before, after, refusal in [("legacy", "modern", one) for one in refusals] + [("modern", "legacy", None)]:
            with self.subTest(before, after=after, refusal=refusal):
                server, daemon = self.bridged(before, stdio=True)
                self.echoes()
                server.refusal = refusal
                server.becomes(after)
                daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
                self.echoes()
                self.assertEqual(self.era_of_upstream(), after)


class Told(Probe):
    def test_era_legacy_never_asks(self):
        for mode in ("legacy", "dual"):
            for stdio in (False, True):
                with self.subTest(mode, stdio=stdio):
                    server, _ = self.bridged(mode, "--era", "legacy", stdio=stdio)
                    self.echoes()
                    self.probed(server, 0, "legacy")
                    self.assertEqual(self.count(server, "initialize"), 1)

    def test_era_modern_never_initializes(self):
        for stdio in (False, True):
            with self.subTest(stdio=stdio):
                server, _ = self.bridged("dual", "--era", "modern", stdio=stdio)
                self.echoes()
                self.assertEqual((self.count(server, "initialize"), self.era_of_upstream()), (0, "modern"))

    def test_a_legacy_server_that_is_called_modern_says_why_it_fails(self):
        server = self.server("legacy")
        self.before(server, "--era", "modern", "--connect-wait", "2s")
        answer = self.client().send(ECHO).answer(1)
        self.assertIn("error", answer)
        self.assertEqual(self.count(server, "initialize"), 0)

    def test_another_word_is_refused_at_start(self):
        daemon = self.start_daemon("http://127.0.0.1:1/mcp", "--era", "both", ready=False)
        daemon.exit_codes = (64,)
        self.assertEqual(daemon.wait(), 64)
        self.assertIn("--era", daemon.stderr())


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

    def test_a_health_check_takes_nothing_from_the_ring(self):
        server, daemon = self.bridged("legacy", "--handshake", "eager")
        server.wait_reaches("notifications/tools/list_changed")
        server.emit("notifications/tools/list_changed")
        self.newest(1)
        client = self.modern()
        client.ask(DISCOVER)
        client.close()
        self.others(0)
        self.untaken(1)
        self.assertEqual(self.client().line()["method"], "notifications/tools/list_changed")

    def test_it_waits_for_a_server_that_comes_later(self):
        server = self.server("modern")
        server.probe("503", 2)
        self.before(server)
        self.assertIn("result", self.modern().ask(DISCOVER))

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


class Bounds(Probe):
    def test_a_stopped_child_does_not_hold_the_daemon(self):
        """The probe has no answer, and neither has what follows: the daemon still ends in time."""
        server = self.server("legacy")
        server.fault("*", times=None, silent=True)
        daemon = self.before(server, stdio=True)
        client = self.client().send(ECHO)
        server.wait_for(DISCOVER)
        daemon.signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)
        self.assertEqual(json.loads(client.rest().splitlines()[-1])["error"]["data"]["kind"], "shutdown")


if __name__ == "__main__":
    main()
