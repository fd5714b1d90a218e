"""What hangs on the way to the upstream stops nobody else, and ends no later than it should (BEHAVIOUR, "Session:
tries and back-off")."""

import statistics
import time

from faults import FaultCase, call, eventually, main, within
from matrix.ways import Ways
from matrix import Row

SAMPLES = 300


class Hanging(Ways, FaultCase):
    def build(self, way, *options):
        self.server = self.upstream()
        url, more, how = self.build_way(Row("", None, None, way=way))
        self.daemon = self.start_daemon(url, "--keepalive", "0", "--connect-timeout", "1s", "--connect-wait", "2s",
                                        *more, *options, **how)

    def samples(self, asker, until=None):
        """How long `bridge/status` takes, in ms, time and again; at least so often, and until the time."""
        taken = []
        while len(taken) < SAMPLES or (until and time.monotonic() < until):
            began = time.monotonic()
            asker.request("bridge/status", None, "s")
            taken.append((time.monotonic() - began) * 1000)
        return taken

    def while_it_hangs(self, asker, waiting):
        """The same while 64 requests wait for what hangs, and are told so."""
        clients = [self.client() for _ in range(waiting)]
        for client in clients:
            client.send(*[call("echo", {"message": "x"}, id) for id in range(64 // waiting)])
        # Beyond the connect timeout, where what still hangs is given up, and the connect wait.
        taken = self.samples(asker, until=time.monotonic() + 3)
        for client in clients:
            for answer in self.collect(client, 64 // waiting).values():
                self.assertIn("error", answer)
        return taken

    def is_prompt(self, waiting):
        """Everybody else is answered as before. A busy machine delays some answers, a daemon that waits some of each try."""
        asker = self.client()
        healthy = self.samples(asker)
        delays = []
        for _ in range(4):
            meanwhile = self.while_it_hangs(asker, waiting)
            delays.append((statistics.median(meanwhile) / (5 * statistics.median(healthy) + 2),
                           sorted(meanwhile)[-len(meanwhile) // 100] / (10 * max(healthy) + 20),
                           max(meanwhile) / (10 * max(healthy) + 300)))
            if max(delays[-1]) < 1:
                return
        self.fail(f"median, 99th percentile and maximum, as parts of their limits: {delays}")

    def test_a_silent_name_server(self):
        self.build("name")
        self.names.forget()
        self.names.be_silent()
        self.is_prompt(4)
        # Whoever still waits for the name server does not hold up the end.
        began = time.monotonic()
        self.client().send(call("echo", {}, 1))
        self.daemon.status_when(lambda status: status["upstream"]["state"] == "opening", "a try")
        self.assertEqual(self.daemon.terminate(), 0)
        self.assertLess(time.monotonic() - began, within(4))

    def test_a_connect_that_hangs(self):
        self.build("proxy")
        self.client().fence()
        self.drop_syns()
        self.is_prompt(4)

    def test_a_tls_handshake_that_hangs(self):
        self.build("tls")
        self.client().fence()
        self.proxy_.command("accept-hang on")
        self.drop_connections()
        self.is_prompt(4)


class Reopening(FaultCase):
    def test_it_costs_what_is_needed_and_subscriptions_go_eight_at_a_time(self):
        server, _ = self.bridge()
        client = self.client()
        client.request("logging/setLevel", {"level": "warning"}, 1)
        uris = [f"demo://{n}" for n in range(10)]
        for id, uri in enumerate(uris):
            client.request("resources/subscribe", {"uri": uri}, id)
        server.streams(1)
        server.forget_log()
        # Each answer is late, so who waited for whom is to be seen.
        for method in ("initialize", "notifications/initialized", "logging/setLevel"):
            server.fault({"delayMs": 100}, method=method, times=-1)
        server.fault({"delayMs": 3000}, method="resources/subscribe", times=-1)
        server.control("POST", "sessions/drop", '{"keepStreams":true}')
        client.call("echo", {"message": "x"}, 99)
        eventually(lambda: len(server.log()) >= 16, lambda: server.log())
        sent = [(entry["method"] or entry["httpMethod"], entry["atMs"]) for entry in server.log()]
        methods = [method for method, _ in sent]
        self.assertEqual(methods[:13], ["tools/call", "initialize", "GET", "notifications/initialized", "logging/setLevel",
                                        *["resources/subscribe"] * 8])
        # More than a second has passed: the call no longer waits for the rest of them.
        self.assertEqual(sorted(methods[13:]), ["resources/subscribe", "resources/subscribe", "tools/call"])
        at = dict(reversed(sent))
        for earlier, later in (("initialize", "notifications/initialized"), ("notifications/initialized", "logging/setLevel"),
                               ("logging/setLevel", "resources/subscribe")):
            self.assertGreaterEqual(at[later] - at[earlier], 95)
        subscribed = [time for method, time in sent if method == "resources/subscribe"]
        # Eight at once; the others wait for answers, which take three seconds.
        self.assertLess(subscribed[7] - subscribed[0], 2500)
        self.assertGreaterEqual(subscribed[8] - subscribed[0], 2990)
        self.assertEqual(sorted(body["params"]["uri"] for body in server.bodies("resources/subscribe")), uris)


if __name__ == "__main__":
    main()
