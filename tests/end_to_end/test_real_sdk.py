"""The SDK's client and servers from npm, on each way through the bridge: peers that know nothing of it."""

import json
import os
import signal

from harness import eventually, main
from harness.binaries import binary
from harness.face import Face
from harness.facing import Facing
from harness.local_server import LocalServer, children
from harness.node import EVERYTHING, HURRY, MODULES, NODE, Node


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


class RealServers(Node, LocalServer):
    def serve_locally(self, *command, **how):
        return self.start_daemon(None, "--connect-wait", "60s", "--", NODE, *command, **how)

    def everything(self):
        return self.serve_locally(EVERYTHING, "stdio", environment=HURRY)

    def server_pid(self):
        self.default_daemon.logged("runs, pid ")  # the socket is there before the server
        watcher, = children(self.default_daemon.pid)
        server, = children(watcher)
        return server


class Everything(RealServers):
    def test_after_it_was_killed_the_same_client_goes_on(self):
        daemon = self.everything()
        client = self.client()
        client.call("echo", {"message": "before"})
        server = self.server_pid()
        os.kill(server, signal.SIGKILL)
        daemon.logged("was ended by signal 9")  # its threads may hold its stdin a little longer than it
        answered = client.call("echo", {"message": "after"}, 2)
        self.assertIn("result", answered)
        self.assertIn("after", answered["result"]["content"][0]["text"])
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)

    def test_mcp_nc_speaks_its_tools_language(self):
        self.everything()
        self.assertIn("42", self.run_nc("call", "get-sum", "a=2", "b=40")[0])
        err = self.run_nc("call", "get-sum", "a=two", code=2)[1]
        self.assertIn("a=two: number expected, for example a=1; 'b' is required", err)
        self.assertIn(f"{self.typed_nc} call get-sum a=1 b=1", self.run_nc("tools", "get-sum")[0])
        place = ["call", "get-structured-content", "location=New York"]
        self.assertRegex(self.run_nc(*place, "--field", "temperature")[0], r"^\d+\n$")
        for words in (["server"], ["templates"], ["subscribe", "demo://resource/dynamic/text/1"], ["log-level", "warning"],
                      ["complete", "resource", "demo://resource/dynamic/text/{resourceId}", "resourceId", "1"], ["agent-help"]):
            self.run_nc(*words)


class Others(RealServers):
    def test_the_filesystem_server_from_a_config_file(self):
        self.write("note.txt", "from the file")
        config = self.write("mcp.json", json.dumps({"mcpServers": {
            "memory": {"command": "no"},
            "files": {"command": NODE, "args": [str(MODULES / "server-filesystem" / "dist" / "index.js"), "${input:folder}"]}}}))
        self.start_daemon(None, "--config", config, "--server", "files", "--input", f"folder={self.folder}", "--connect-wait", "60s")
        out, _ = self.run_nc("call", "read_text_file", f"path={self.folder}/note.txt")
        self.assertIn("from the file", out)

    def test_the_memory_server_keeps_what_one_client_told_it_for_the_next(self):
        self.serve_locally(MODULES / "server-memory" / "dist" / "index.js", environment={"MEMORY_FILE_PATH": self.path("memory.jsonl")})
        entity = '[{"name":"bridge","entityType":"daemon","observations":["holds one session"]}]'
        self.run_nc("call", "create_entities", f"entities={entity}")
        out, _ = self.run_nc("call", "read_graph")
        self.assertIn("holds one session", out)
        eventually(lambda: os.path.exists(self.path("memory.jsonl")), "its file")


if __name__ == "__main__":
    main()
