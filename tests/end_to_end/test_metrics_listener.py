"""--metrics-listen: metrics and health without the token that also calls tools (BEHAVIOUR, "Logs and metrics")."""

import http.client
import signal
import socket

from harness import main
from harness.metrics import Metrics
from harness.upgrading import Upgrading


class MetricsListener(Upgrading):
    def get(self, path):
        """Status and body, as the address in the status answers."""
        url = self.default_daemon.status()["metrics"]
        self.assertRegex(url, r"^http://127\.0\.0\.1:[1-9]\d*$")
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def test_it_serves_metrics_and_health_and_nothing_else(self):
        self.bridge("--metrics-listen", "127.0.0.1:0")
        self.client().call("echo", {"message": "x"})
        status, text = self.get("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(Metrics(text).of("mcp_bridge_requests_total", **{"class": "call", "outcome": "ok"}), [1])
        self.assertEqual(self.get("/healthz"), (200, "ok\n"))
        self.assertEqual(self.get("/readyz"), (200, "ready\n"))
        self.assertEqual(self.get("/mcp")[0], 404)

    def test_ready_is_what_the_status_says_of_the_upstream_and_alive_is_not(self):
        server = self.upstream()
        url = server.url
        server.stop()
        self.start_daemon(url, "--metrics-listen", "127.0.0.1:0", "--connect-wait", "100ms")
        self.assertEqual(self.get("/readyz")[0], 200)
        self.client().request("tools/list")
        self.assertEqual(self.get("/readyz")[0], 503)
        self.assertEqual(self.get("/healthz")[0], 200)

    def test_its_address_is_the_same_after_an_upgrade(self):
        _, daemon = self.bridge("--metrics-listen", "127.0.0.1:0")
        before = daemon.status()["metrics"]
        for _ in range(2):
            self.upgrade()
            self.assertEqual(daemon.status()["metrics"], before)
            self.assertEqual(self.get("/healthz")[0], 200)
        daemon.signal(signal.SIGHUP)
        daemon.logged("read again")
        self.assertEqual(self.get("/metrics")[0], 200)

    def test_an_address_that_cannot_be_had_ends_the_start(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        same = "127.0.0.1:%d" % (port + 1 if port < 65535 else port - 1)
        for code, options in ((73, ["--metrics-listen", "127.0.0.1:%d" % port]),
                              (64, ["--metrics-listen", "nonsense"]),
                              (78, ["--metrics-listen", "nonsense", "--check"]),
                              (64, ["--metrics-listen", same, "--http", same])):
            with self.subTest(options):
                said = self.start_daemon("http://127.0.0.1:9/mcp", *options, ready=False).fails(code)
                self.assertIn("--metrics-listen", said)
        every_address = self.start_daemon("http://127.0.0.1:9/mcp", "--metrics-listen", "0.0.0.0:9464", "--check", ready=False)
        self.assertEqual(every_address.wait(), 0, every_address.stderr())


if __name__ == "__main__":
    main()
