"""Where the upstream's token comes from: a file, a command, the environment (BEHAVIOUR, "Authorization: token
sources")."""

import os
import signal
import time

from harness import Case, call, eventually, main, text_of, within


class Tokens(Case):
    def echoed(self, client, text="x", id=1):
        self.assertEqual(text_of(client.call("echo", {"message": text}, id)), text)

    def replace(self, name, text):
        os.rename(self.write(name + ".new", text), self.path(name))

    def runs(self, name="runs"):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read().count("run")
        except FileNotFoundError:
            return 0

    def assert_unseen(self, daemon, *secrets):
        """Nowhere that somebody else looks."""
        places = {"log": daemon.stderr(), "stdout": daemon.stdout().decode(), "status": repr(daemon.status())}
        with open(f"/proc/{daemon.pid}/cmdline", encoding="utf-8") as file:
            places["argv"] = file.read()
        for place, text in places.items():
            for secret in secrets:
                self.assertNotIn(secret, text, place)


class File(Tokens):
    def setUp(self):
        super().setUp()
        self.server = self.upstream("--token", "first-token")
        self.daemon = self.start_daemon(self.server, "--token-file", self.write("t", "first-token\n"))

    def test_a_replaced_file_is_noticed_when_the_old_token_is_refused(self):
        client = self.client()
        self.echoed(client)
        self.replace("t", "second-token\n")
        self.server.control("POST", "token", '{"token":"second-token"}')
        self.echoed(client, id=2)
        self.assert_unseen(self.daemon, "first-token", "second-token")

    def test_no_token_of_late_is_shown_when_the_upstream_names_it(self):
        client = self.client()
        self.echoed(client)
        tokens = ["first-token", "second-token", "third-token", "fourth-token"]
        for id, token in enumerate(tokens[1:]):
            self.replace("t", token + "\n")
            self.server.control("POST", "token", '{"token":"%s"}' % token)
            self.echoed(client, id=id)
        self.server.fault({"status": 500, "contentType": "text/plain", "body": "seen " + ", ".join(tokens)}, method="tools/call")
        message = client.call("echo", {}, 9)["error"]["message"]
        self.assertIn("seen ***, ***", message)
        self.assert_unseen(self.daemon, *tokens)

    def test_sighup_reads_the_file(self):
        client = self.client()
        self.echoed(client)
        self.server.control("POST", "token", '{"token":""}')
        self.replace("t", "second-token\n")
        self.daemon.signal(signal.SIGHUP)

        def used():
            self.echoed(client)
            return self.server.log("tools/call")[-1]["headers"]["authorization"] == "Bearer second-token"

        eventually(used, "the second token")
        self.assertEqual(self.server.state()["initializes"], 1)

    def test_a_file_that_cannot_be_read_at_start_is_78(self):
        for content in (None, "", "two words", "x" * 70000):
            with self.subTest(content and content[:10]):
                path = self.path("none") if content is None else self.write("bad", content)
                said = self.start_daemon(self.server, "--token-file", path, socket="s2", ready=False).fails(78)
                self.assertIn(path, said)


class InPlainHttp(Tokens):
    def test_a_token_for_another_host_is_warned_about(self):
        daemon = self.start_daemon("http://192.0.2.1/mcp", environment={"MCP_SERVER_TOKEN": "first-token"})
        daemon.logged("warning the token is sent to http://192.0.2.1/mcp over plain http")
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", environment={"MCP_SERVER_TOKEN": "first-token"}, socket="s2")
        self.assertNotIn("plain http", daemon.stderr())


class Refused(Tokens):
    """The upstream refuses the token, and no other can be had (BEHAVIOUR, "Authorization: refused tokens")."""

    def test_it_is_noticed_while_nobody_calls_and_told_once_until_it_is_accepted_again(self):
        server = self.upstream("--token", "old-token")
        daemon = self.start_daemon(server, "--token-file", self.write("t", "old-token\n"), "--keepalive", "200ms")
        self.echoed(self.client())
        self.clients.pop().close()
        self.assertEqual(daemon.metrics().sum("mcp_bridge_token_failures_total"), 0)
        server.control("POST", "token", '{"token":"new-token"}')
        daemon.logged("refuses the daemon: ")
        self.assertEqual(daemon.status()["upstream"]["state"], "refused")
        metrics = daemon.metrics_when(lambda metrics: metrics.sum("mcp_bridge_token_failures_total") > 2, "refused pings")
        self.assertEqual(metrics.sum("mcp_bridge_upstream_ready"), 0)
        self.assertEqual(metrics.sum("mcp_bridge_session_state", state="refused"), 1)
        self.run_nc("status", "--ready", code=4)
        self.assertEqual(daemon.stderr().count("refuses the daemon"), 1)
        self.assertIn(" warning the upstream ", daemon.stderr())
        self.replace("t", "new-token\n")
        daemon.logged("accepts requests again")
        self.assertEqual(daemon.status()["upstream"]["state"], "open")
        self.assertEqual(daemon.metrics().sum("mcp_bridge_upstream_ready"), 1)


class Command(Tokens):
    def command(self, script, *options, token="good-token"):
        self.server = self.upstream("--token", token)
        wait = () if "--connect-wait" in options else ("--connect-wait", "3s")
        self.daemon = self.start_daemon(self.server, "--token-command", f"echo run >> {self.path('runs')}; {script}",
                                        *wait, *options)
        return self.client()

    def test_it_is_run_once_and_again_when_its_token_is_refused(self):
        client = self.command(f"cat {self.write('t', 'good-token')}")
        for id in range(5):
            self.echoed(client, id=id)
        self.assertEqual(self.runs(), 1)
        self.write("t", "newer-token\n")
        self.server.control("POST", "token", '{"token":"newer-token"}')
        for id in range(5):
            self.echoed(client, id=id)
        self.assertEqual(self.runs(), 2)

    def test_a_second_401_goes_to_the_client_with_the_challenge(self):
        client = self.command(f"cat {self.write('t', 'bad-token')}")
        self.server.fault({"status": 401, "headers": {"WWW-Authenticate": 'Bearer realm="r", error="bad-token"'},
                           "body": "no", "contentType": "text/plain"}, times=-1)
        answer = client.call("echo", {"message": "x"})
        error = self.assert_error(answer, -32001, 1, "auth", "no")
        self.assertEqual(error["data"]["status"], 401)
        self.assertIn("Bearer", error["data"]["wwwAuthenticate"])
        self.assertNotIn("bad-token", repr(answer))
        self.assertEqual(self.runs(), 2)

    def test_what_waits_for_it_at_the_end_was_not_sent(self):
        marker, token = self.path("second"), self.write("t", "good-token")
        client = self.command(f"[ ! -e {marker} ] || sleep 100; touch {marker}; cat {token}", "--grace", "60s")
        self.echoed(client)
        self.server.control("POST", "token", '{"token":"newer-token"}')
        self.server.forget_log()
        client.send(call("echo", {"message": "x"}, 7))
        eventually(lambda: self.runs() == 2, "the second run")
        # Told to end, the daemon does not wait for the token that the request waits for.
        began = time.monotonic()
        self.daemon.signal(signal.SIGTERM)
        self.assert_error(client.line(), -32000, 7, "shutdown", "no")
        self.assertEqual(self.daemon.wait(), 0)
        self.assertLess(time.monotonic() - began, within(15))
        self.assertEqual(len(self.server.log("tools/call")), 1)

    def test_its_failure_is_the_clients_error(self):
        client = self.command(f"cat {self.write('t', 'hush-hush')}; echo why >&2; exit 7")
        answer = client.call("echo", {"message": "x"})
        error = self.assert_error(answer, -32000, 1, "auth", "no")
        self.assertIn("exit code 7", error["message"])
        self.daemon.logged("token command: why")
        self.assert_unseen(self.daemon, "hush-hush")

    def test_while_it_runs_the_daemon_does_everything_else(self):
        go = self.path("go")
        client = self.command(f"while [ ! -e {go} ]; do sleep 0.05; done; echo good-token", "--connect-wait", "60s")
        client.send(call("echo", {"message": "waited"}))
        eventually(self.runs, "the command")
        for _ in range(3):
            self.daemon.status()
        self.assertFalse(client.readable())
        self.write("go", "")
        self.assertEqual(text_of(client.line()), "waited")

    def test_the_command_comes_before_the_file_and_that_before_the_environment(self):
        server = self.upstream()
        token = self.write("t", "from-file")
        environment = {"MCP_SERVER_TOKEN": "from-environment"}
        for options, expected in ((["--token-command", "echo from-command", "--token-file", token], "from-command"),
                                  (["--token-file", token], "from-file"), ([], "from-environment")):
            daemon = self.start_daemon(server, *options, socket=expected, environment=environment)
            server.forget_log()
            self.echoed(self.client(daemon))
            for entry in server.log():
                self.assertEqual(entry["headers"]["authorization"], "Bearer " + expected)

    def test_stderr_goes_to_the_log_without_the_token(self):
        client = self.command(f"set -x; token=$(cat {self.write('t', 'good-token')}); echo about $token >&2; echo $token")
        self.echoed(client)
        self.assertIn("about ***", self.daemon.logged("about"))
        self.assert_unseen(self.daemon, "good-token")


if __name__ == "__main__":
    main()
