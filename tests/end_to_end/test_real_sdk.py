"""The SDK's client and server-everything, on each way through the bridge: peers that know nothing of it."""

from harness import main
from harness.binaries import binary
from harness.face import Face
from harness.facing import Facing
from harness.node import EVERYTHING, HURRY, NODE, Node


class EachWay(Node, Facing):
    def before(self, kind, *options, **how):
        """A daemon before server-everything, over HTTP, HTTP+SSE or as a child."""
        if kind == "stdio":
            return self.start_daemon(None, "--connect-wait", "60s", *options, "--", NODE, EVERYTHING, "stdio",
                                     environment=HURRY, **how)
        server = self.serve(EVERYTHING, kind)
        return self.start_daemon(server.url.replace("/mcp", "/sse") if kind == "sse" else server, *options, **how)

    def test_each_script_runs_over_the_socket_and_the_http_frontend(self):
        """One client that does everything, two at once with equal ids, and one that answers the server's requests."""
        for kind in ("streamableHttp", "sse", "stdio"):
            daemon = self.before(kind, "--http", "127.0.0.1:0", socket=kind)
            face = Face.of(daemon).url + "/mcp"
            for name in ("one_client", "two_clients", "answers_requests"):
                for where in ((binary("MCP_NC"), daemon.socket_path), (face,)):
                    with self.subTest(kind, script=name, over=where[0]):
                        self.run_script(name, *where)
            self.assertEqual(daemon.status()["upstream"]["reopened"], 0)


class OneSession(Node):
    def setUp(self):
        super().setUp()
        self.server = self.serve(EVERYTHING, "streamableHttp")
        self.daemon = self.start_daemon(self.server)
        self.nc = (binary("MCP_NC"), self.daemon.socket_path)

    def assert_one_session(self):
        self.assertEqual(self.printed(self.server).count("Session initialized with ID"), 1)

    def test_updates_while_nobody_is_connected_go_to_the_next_client(self):
        uri = self.run_script("subscribes_and_leaves", *self.nc)
        self.others(0)
        gathered = self.daemon.status_when(lambda status: status["ring"]["untaken"] >= 3, "three untaken")["ring"]["untaken"]
        self.run_script("collects_updates", *self.nc, uri, gathered - 1)
        self.assertEqual(self.daemon.status()["ring"]["dropped"], 0)
        self.assert_one_session()

    def test_ten_after_one_another_are_one_session(self):
        self.run_script("ten_clients", *self.nc)
        self.assert_one_session()


if __name__ == "__main__":
    main()
