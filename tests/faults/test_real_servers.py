"""Servers from npm that restart, and that close their streams by design."""

from faults import FaultCase, call, eventually, main_parallel, text_of
from harness.node import EVERYTHING, MODULES, NODE, Node

# What Node takes to start on a busy machine.
PATIENT = ("--connect-wait", "60s")
EXAMPLES = MODULES / "sdk" / "dist" / "esm" / "examples" / "server"


class Everything(Node, FaultCase):
    def test_it_restarts_in_the_middle_and_clients_do_not_notice(self):
        server = self.serve(EVERYTHING, "streamableHttp")
        daemon = self.start_daemon(server, *PATIENT)
        client = self.client()
        uri = client.request("resources/list", None, 1)["result"]["resources"][0]["uri"]
        self.assertEqual(client.request("resources/subscribe", {"uri": uri}, 2)["result"], {})
        self.assertEqual(client.request("logging/setLevel", {"level": "debug"}, 3)["result"], {})
        self.assertEqual(text_of(client.call("echo", {"message": "before"}, 4)), "Echo: before")
        server.kill()
        # Some ask while nobody is there, some when it is back and has forgotten the session.
        client.send(*[call("echo", {"message": f"m{id}"}, id) for id in range(10, 20)])
        daemon.status_when(lambda status: status["upstream"]["state"] == "waiting", "away")
        again = self.serve(EVERYTHING, "streamableHttp", port=server.port)
        for id, answer in self.collect(client, 10).items():
            self.assertIn("result", answer, answer)
            self.assertEqual(text_of(answer), f"Echo: m{id}")
        self.reopened(1)
        self.assertEqual(self.printed(again).count("Session initialized with ID"), 1)
        # The subscription is there again: its updates come.
        listener = self.client()
        listener.call("toggle-subscriber-updates", {}, 5)
        updated = eventually(lambda: next((one for one in (listener.line() for _ in range(1))
                                           if one.get("method") == "notifications/resources/updated"), None), "an update")
        self.assertEqual(updated["params"]["uri"], uri)
        listener.call("toggle-subscriber-updates", {}, 6)

    def test_a_call_under_way_when_it_restarts_is_not_made_again(self):
        server = self.serve(EVERYTHING, "streamableHttp")
        self.start_daemon(server, *PATIENT)
        client = self.client()
        client.send(call("trigger-long-running-operation", {"duration": 60, "steps": 60}, 1, token="t"))
        while client.line().get("method") != "notifications/progress":
            pass
        server.kill()
        # Its stream had event ids: whether it can be continued only the next one knows.
        self.serve(EVERYTHING, "streamableHttp", port=server.port)
        self.assert_error(client.answer(1), -32000, 1, None, "unknown")
        self.assertEqual(text_of(client.call("echo", {"message": "after"}, 2)), "Echo: after")


class McpProxy(Node, FaultCase):
    """npm's mcp-proxy, which answers a session that it has forgotten with 401, although the key is good."""

    def serve_proxy(self, port=0):
        return self.serve(MODULES.parent / "mcp-proxy" / "dist" / "bin" / "mcp-proxy.mjs", "--host", "127.0.0.1",
                          "--port", str(port), "--apiKey", "k", "--server", "stream", "--", NODE, EVERYTHING, "stdio",
                          port=port)

    def test_it_is_killed_and_started_again_and_the_next_call_is_answered(self):
        server = self.serve_proxy()
        self.start_daemon(f"http://127.0.0.1:{server.port}/mcp", "--header", "X-API-Key: k", *PATIENT)
        client = self.client()
        self.assertEqual(text_of(client.call("echo", {"message": "before"}, 1)), "Echo: before")
        server.kill()
        self.serve_proxy(server.port)
        self.assertEqual(text_of(client.call("echo", {"message": "after"}, 2)), "Echo: after")
        self.reopened(1)


class Examples(Node, FaultCase):
    def test_one_that_closes_its_streams_by_design_looks_like_one_that_does_not(self):
        server = self.serve(EXAMPLES / "ssePollingExample.js")
        daemon = self.start_daemon(server)
        client = self.client()
        self.assertEqual(text_of(client.call("long-task", {}, 1)), "Long task completed successfully!")
        said = [one["params"]["data"].split(" ")[1] for one in client.others if one["method"] == "notifications/message"]
        self.assertEqual(sorted(said, key=lambda text: int(text[:-1])), ["25%", "50%", "75%", "100%"])
        self.assertEqual(self.printed(server).count("Starting long-task"), 1)
        self.assertEqual(self.printed(server).count("Closing SSE stream"), 1)
        self.assertEqual(daemon.status()["upstream"]["reopened"], 0)


if __name__ == "__main__":
    main_parallel(2)
