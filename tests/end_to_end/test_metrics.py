"""What the metrics count, and that the exposition is one (BEHAVIOUR, "Logs and metrics")."""

import json
import os
import re
import stat
import unittest

from harness import Case, answer, call, eventually, main, notification, request, text_of
from harness.binaries import ROOT
from harness.metrics import Metrics, promtool

DASHBOARD = ROOT / "docker" / "grafana" / "mcp-session-bridge.json"
RULES = ROOT / "docker" / "prometheus" / "rules.yaml"
SEQUENCE = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


class Requests(Case):
    def outcomes(self, metrics, of="call"):
        return {outcome: metrics.sum("mcp_bridge_requests_total", **{"class": of}, outcome=outcome)
                for outcome in ("ok", "error", "bridge_error", "cancelled", "left")}

    def assert_all_accounted_for(self, daemon):
        metrics, status = daemon.metrics(), daemon.status()["requests"]
        ended = metrics.sum("mcp_bridge_requests_total")
        waiting = metrics.sum("mcp_bridge_requests_in_flight") + metrics.sum("mcp_bridge_requests_queued")
        self.assertEqual(ended + waiting, status["total"])
        self.assertEqual(metrics.sum("mcp_bridge_requests_total", outcome="error")
                         + metrics.sum("mcp_bridge_requests_total", outcome="bridge_error"), status["errors"])

    def test_each_ends_with_one_outcome(self):
        server, daemon = self.bridge("--request-timeout", "500ms", "--orphans", "cancel")
        client = self.client()
        client.call("echo", {"message": "x"})
        client.call("echo", {"message": "y"}, 2)
        self.assertIn("error", client.request("tools/call", {"name": "no such tool"}, 3))
        server.fault({"hang": True}, method="tools/call")
        self.assert_error(client.call("echo", {"message": "x"}, 4), -32000, 4, "timeout")
        # Cancelled by the client, then left behind by one: answers to neither.
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 5, token="t"))
        client.line()
        client.send(notification("notifications/cancelled", {"requestId": 5}))
        leaving = self.client()
        leaving.send(call("slow", {"steps": 1000, "delayMs": 50}, 1, token="t"))
        leaving.line()
        leaving.close()
        metrics = daemon.metrics_when(lambda seen: self.outcomes(seen)["left"] == 1, "a request left behind")
        self.assertEqual(self.outcomes(metrics), {"ok": 2, "error": 1, "bridge_error": 1, "cancelled": 1, "left": 1})
        self.assertEqual(metrics.sum("mcp_bridge_request_errors_total", kind="timeout"), 1)
        self.assertEqual(metrics.sum("mcp_bridge_request_errors_total"), 1)
        # What the bridge is asked itself is counted apart.
        self.assertEqual(metrics.sum("mcp_bridge_requests_total"), 6)
        self.assertGreaterEqual(metrics.sum("mcp_bridge_control_requests_total"), 1)
        self.assert_all_accounted_for(daemon)

    def test_durations_are_in_the_histograms(self):
        _, daemon = self.bridge()
        client = self.client()
        for id in range(20):
            client.call("echo", {"message": "x"}, id)
        self.assertEqual(text_of(client.call("slow", {"steps": 1, "delayMs": 300}, "slow")), "done after 1 steps")
        metrics = daemon.metrics()
        whole, added = "mcp_bridge_request_duration_seconds", "mcp_bridge_added_latency_seconds"
        self.assertEqual(metrics.sum(whole + "_count", **{"class": "call"}), 21)
        self.assertEqual(metrics.sum(added + "_count"), 21)
        self.assertGreaterEqual(metrics.sum(whole + "_sum"), 0.3)
        self.assertLess(metrics.sum(added + "_sum"), metrics.sum(whole + "_sum"))
        self.assertLessEqual(metrics.sum(whole + "_bucket", **{"class": "call", "le": "0.25"}), 20)
        self.assertEqual(metrics.sum(whole + "_bucket", **{"class": "call", "le": "+Inf"}), 21)

    def test_what_waits_is_seen_while_it_does(self):
        server, daemon = self.bridge("--max-inflight", "1")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1), call("echo", {}, 2), call("echo", {}, 3))
        server.log("tools/call", wait=1)
        metrics = daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_requests_queued") == 2, "two waiting requests")
        self.assertEqual(metrics.sum("mcp_bridge_requests_in_flight"), 1)
        self.assertEqual(metrics.sum("mcp_bridge_clients", kind="unix"), 2)
        self.assertGreater(metrics.sum("mcp_bridge_buffered_bytes"), 0)
        self.assert_all_accounted_for(daemon)


class TheRest(Case):
    def test_bytes_of_both_sides(self):
        _, daemon = self.bridge()
        client = self.client()
        client.call("echo", {"message": "x"})
        names = ["mcp_bridge_client_received_bytes_total", "mcp_bridge_client_sent_bytes_total",
                 "mcp_bridge_upstream_sent_bytes_total", "mcp_bridge_upstream_received_bytes_total"]
        before = daemon.metrics()
        client.call("echo", {"message": "x" * 200_000}, 2)
        after = daemon.metrics()
        # The exposition itself, asked for over the socket, is some of what was sent.
        slack = {name: 2000 for name in names}
        slack["mcp_bridge_client_sent_bytes_total"] = 2 * len(before.text)
        for name in names:
            grown = after.sum(name) - before.sum(name)
            self.assertGreaterEqual(grown, 200_000, name)
            self.assertLess(grown, 200_000 + slack[name], name)

    def test_a_lost_session_and_the_server_stream(self):
        server, daemon = self.bridge()
        client = self.client()
        client.fence()
        server.streams(1)
        first = daemon.metrics()
        self.assertEqual(first.sum("mcp_bridge_sessions_opened_total"), 1)
        self.assertEqual(first.sum("mcp_bridge_session_reopenings_total"), 0)
        self.assertEqual(first.sum("mcp_bridge_session_state", state="open"), 1)
        self.assertEqual(first.sum("mcp_bridge_session_state"), 1)
        server.control("POST", "sessions/drop")
        client.fence()
        metrics = daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_server_stream_open") == 1, "an open stream")
        self.assertEqual(metrics.sum("mcp_bridge_sessions_opened_total"), 2)
        self.assertEqual(metrics.sum("mcp_bridge_session_reopenings_total"), 1)
        self.assertEqual(metrics.sum("mcp_bridge_server_stream_openings_total"), 2)
        self.assertGreaterEqual(metrics.sum("mcp_bridge_upstream_connections_total"), 2)
        self.assertEqual(metrics.sum("mcp_bridge_upstream_ready"), 1)

    def test_an_upstream_that_was_away(self):
        server = self.upstream()
        proxy = self.proxy(server.port)
        daemon = self.start_daemon(f"http://127.0.0.1:{proxy.port}/mcp")
        client = self.client()
        client.fence()
        server.streams(1)
        proxy.command("refuse on")
        proxy.command("reset-all")
        client.send(request("tools/list", None, 1))  # only reads, so it waits for the upstream
        away = daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_upstream_ready") == 0, "an upstream that is away")
        self.assertEqual(away.sum("mcp_bridge_session_state", state="waiting"), 1)
        self.assertEqual(away.sum("mcp_bridge_upstream_reconnects_total"), 0)
        proxy.command("refuse off")
        self.assertIn("result", client.answer(1))
        back = daemon.metrics()
        self.assertEqual(back.sum("mcp_bridge_upstream_ready"), 1)
        self.assertEqual(back.sum("mcp_bridge_upstream_reconnects_total"), 1)
        self.assertEqual(daemon.status()["upstream"]["reconnects"], 1)

    def test_tokens_and_a_server_that_refuses_them(self):
        server = self.upstream("--token", "first")
        path = self.write("t", "wrong\n")
        daemon = self.start_daemon(server, "--token-file", path)
        client = self.client()
        self.assertIn("error", client.request("tools/list", None, 1))
        # The alert of a server that cannot be reached is silent while this state is 1.
        self.assert_refused(daemon)
        os.rename(self.write("t.new", "first\n"), path)
        client.fence()
        metrics = daemon.metrics()
        self.assertEqual(metrics.sum("mcp_bridge_session_state", state="open"), 1)
        self.assertEqual(metrics.sum("mcp_bridge_token_refreshes_total"), 1)
        os.remove(path)
        server.control("POST", "token", '{"token":"another"}')
        for _ in range(2):  # refused; then there is none to ask with
            self.assertIn("error", client.call("echo", {"message": "x"}))
        self.assert_refused(daemon)
        self.assertGreaterEqual(daemon.metrics().sum("mcp_bridge_token_failures_total"), 1)

    def assert_refused(self, daemon):
        metrics = daemon.metrics()
        self.assertEqual((metrics.sum("mcp_bridge_upstream_ready"), metrics.sum("mcp_bridge_session_state", state="refused")), (0, 1))

    def test_the_ring(self):
        server, daemon = self.bridge("--ring", "10")
        self.client().fence()
        self.clients.pop().close()
        self.others(0)
        server.emit(SEQUENCE, count=15)
        self.newest(15)
        metrics = daemon.metrics()
        self.assertEqual({name: metrics.sum("mcp_bridge_ring_" + name) for name in
                          ("notifications", "untaken", "capacity", "published_total", "taken_total", "dropped_total")},
                         {"notifications": 10, "untaken": 10, "capacity": 10, "published_total": 15, "taken_total": 0,
                          "dropped_total": 5})
        self.client().lines(10)
        daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_ring_taken_total") == 10, "all taken")

    def test_clients_and_what_is_odd(self):
        server, daemon = self.bridge("--client-capabilities", "{}")
        client = self.client()
        client.fence()
        before = daemon.metrics()
        client.send("this is no JSON", answer(99))
        client.fence()
        server.emit({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 7, "progress": 1}})
        server.emit('{"jsonrpc":"2.0","id":1}')
        after = daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_malformed_messages_total") == 1, "a malformed message")
        for name in ("invalid_frames", "unknown_answers", "discarded_notifications"):
            name = f"mcp_bridge_{name}_total"
            self.assertEqual(after.sum(name) - before.sum(name), 1, name)
        self.assertGreaterEqual(after.sum("mcp_bridge_clients_connected_total"), 3)
        self.assertEqual(after.sum("mcp_bridge_clients_refused_total"), 0)
        self.assertGreater(after.sum("mcp_bridge_resident_memory_bytes"), 1 << 20)
        self.assertGreater(after.sum("mcp_bridge_open_fds"), 5)
        self.assertGreater(after.sum("mcp_bridge_cpu_seconds_total"), 0)


class MetricsFile(Case):
    """--metrics-file: for a textfile collector."""

    def test_it_is_there_at_once_readable_by_all_whatever_the_umask_and_goes_with_the_daemon(self):
        os.mkdir(self.path("textfile"))
        path = self.path("textfile/bridge.prom")
        daemon = self.start_daemon(self.upstream(), "--metrics-file", path, before_exec=lambda: os.umask(0o077))
        eventually(lambda: os.path.exists(path), "the file")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o644)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(Metrics(file.read()).sum("mcp_bridge_build_info"), 1)
        daemon.terminate()
        self.assertEqual(os.listdir(self.path("textfile")), [])

    def test_a_folder_that_is_not_there_is_said_at_start(self):
        for more in ([], ["--check"]):
            said = self.start_daemon("http://127.0.0.1:9/mcp", "--metrics-file", self.path("nowhere/bridge.prom"), *more,
                                     ready=False).fails(78)
            self.assertIn("--metrics-file", said)


class Exposition(Case):
    def setUp(self):
        super().setUp()
        policy = self.write("policy.json", '{"rules": [{}]}')
        _, self.daemon = self.bridge("--state-dir", self.path("state"), "--policy", policy, "--audit", self.path("audit.log"))
        self.client().fence()
        self.metrics = self.daemon.metrics()

    def test_names_units_and_types_are_as_prometheus_wants_them(self):
        self.assertEqual(set(self.metrics.types), set(self.metrics.helps))
        for name, kind in self.metrics.types.items():
            with self.subTest(name):
                self.assertRegex(name, "^mcp_bridge_[a-z_]+$")
                self.assertEqual(kind == "counter", name.endswith("_total"))
                self.assertIn(kind, ("counter", "gauge", "histogram"))
                self.assertTrue(self.metrics.helps[name].endswith("."))
                self.assertNotRegex(name, "(milliseconds|_ms|_us|kilobytes|percent)")
        for name, labels in self.metrics.samples:
            self.assertIn(self.metrics.family(name), self.metrics.types)
            self.assertEqual(dict(labels)["socket"], self.daemon.socket_path)

    def assert_known(self, expressions):
        known = {name for name, _ in self.metrics.samples}
        for expression in expressions:
            used = set(re.findall(r"\bmcp_bridge_[a-z_]+", expression))
            self.assertTrue(used, expression)
            self.assertEqual(used - known, set(), expression)

    def test_the_dashboard_asks_for_what_there_is(self):
        dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 20)
        self.assert_known(expressions)
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_promtool_takes_the_exposition_and_the_dashboards_questions(self):
        # As recording rules, with what Grafana fills in.
        dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        rules = [{"record": f"panel_{panel['id']}_{target['refId']}", "expr": target["expr"].replace("$__rate_interval", "5m")}
                 for panel in dashboard["panels"] for target in panel.get("targets", [])]
        path = self.write("rules.yaml", json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
        for arguments, stdin in ((("metrics",), self.metrics.text), (("rules", "--lint=none", path), None)):
            verdict = promtool("check", *arguments, stdin=stdin)
            if verdict is None:
                raise unittest.SkipTest("promtool (Debian's prometheus) is not installed")
            self.assertEqual(verdict, "")

    def test_the_rules_ask_for_what_there_is(self):
        rules = RULES.read_text(encoding="utf-8")
        alerts = re.split(r"\n\s+- alert: ", rules)[1:]
        self.assertGreater(len(alerts), 5)
        self.assert_known(re.search(r"expr:(.*?)\n\s+(?:for|labels):", alert, re.S).group(1) for alert in alerts)


if __name__ == "__main__":
    main()
