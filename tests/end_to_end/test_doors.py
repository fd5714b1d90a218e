"""The session's other doors: HTTP on a Unix socket (BEHAVIOUR, "HTTP frontend")."""

import http.client
import json
import os
import select
import socket
import stat
import unittest

from harness import DEADLINE, main, notification, text_of
from harness.binaries import binary
from harness.face import Face
from harness.facing import Facing
from harness.other_user import NOBODY, acting_as, is_root

AGENT, OTHER = NOBODY, NOBODY - 1


class HttpOnASocket(Facing):
    def test_it_serves_like_the_port_and_knows_its_callers(self):
        audit = self.path("audit")
        token = self.write("token", "secret\n")
        self.face("--http", "127.0.0.1:0", "--http-token-file", token, "--audit", audit, address=self.path("http"))
        urls = self.default_daemon.status()["http"]
        port, local = (Face(url.removesuffix("/mcp")) for url in urls)
        self.faces += [port, local]
        self.assertEqual(port.call("echo", {"message": "x"}).status, 401)
        self.assertEqual(text_of(local.call("echo", {"message": "hi"}).json()), "hi")
        self.assertEqual(local.call("echo", {"message": "x"}, headers={"Host": "evil.example"}).status, 200)
        refused = local.call("echo", {"message": "x"}, headers={"Origin": "http://localhost"})
        self.assertEqual(refused.status, 403)
        with open(audit, encoding="utf-8") as lines:
            client = json.loads(lines.readline())["client"]
        self.assertEqual((client["uid"], client["pid"]), (os.getuid(), os.getpid()))
        self.assertTrue(client["command"])
        session = local.session()
        self.assertEqual(local.ask("ping", session=session).status, 200)
        port.token = "secret"
        self.assertEqual(port.ask("ping", session=session).status, 404)

    def test_the_ring_is_taken_and_given_back(self):
        server, face = self.face(address=self.path("http"))
        session = face.session()
        stream = face.stream(session)
        for said in ("one", "two"):
            server.emit(notification("notifications/message", {"level": "info", "data": said}))
            if said == "one":
                self.assertEqual(stream.message()["params"]["data"], "one")
                self.untaken(0)
        self.newest(2)
        self.assertTrue(select.select([stream.socket], [], [], DEADLINE)[0])
        stream.close()
        self.untaken(1)
        self.assertEqual(face.stream(session).message()["params"]["data"], "two")

    def test_its_file_is_the_socket_s_and_nothing_else_is_replaced(self):
        path = self.path("http")
        self.face("--socket-mode", "0660", address=path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)
        other = self.start_daemon(self.processes[0], "--http", path, socket="other", ready=False)
        self.assertRegex(other.fails(73), f"socket {path} is already served by process [0-9]+; .*--http")
        os.unlink(path)
        self.default_daemon = self.processes[1]
        self.default_daemon.logged(f"{path} is published again")
        self.assertEqual(Face("http+unix://" + path.replace("/", "%2F")).get("/healthz").status, 200)

    def test_one_that_is_passed_is_served(self):
        server = self.upstream()
        listeners = []
        for name in ("passed-http", "passed"):
            listeners.append(socket.socket(socket.AF_UNIX))
            listeners[-1].bind(self.path(name))
            listeners[-1].listen()
        descriptors = [one.fileno() for one in listeners]
        script = 'export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=http:any; exec "$@" 3<&%d 4<&%d' % tuple(descriptors)
        self.run_process("daemon", ["sh", "-c", script, "sh", binary("MCP_BRIDGED"), "--url", server.url],
                         pass_fds=descriptors)
        for one in listeners:
            one.close()
        face = Face("http+unix://" + self.path("passed-http").replace("/", "%2F"))
        self.assertEqual(text_of(face.call("echo", {"message": "hi"}).json()), "hi")

    @unittest.skipUnless(is_root(), "other users are needed")
    def test_policy_and_jobs_go_by_the_uid(self):
        os.chmod(self.folder, 0o755)
        policy = self.write("policy", json.dumps({"rules": [
            {"uid": AGENT, "tools": ["echo"]}, {"http": True}, {"uid": "root"}]}))
        _, face = self.face("--socket-mode", "0666", "--policy", policy, address=self.path("http"))

        def ask(uid, method, params):
            with acting_as(uid):
                connection = face.connect()
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.sendall((f"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
            response = http.client.HTTPResponse(connection)
            response.begin()
            return json.loads(response.read())

        def call(uid, tool):
            return ask(uid, "tools/call", {"name": tool, "arguments": {"message": "hi"}})

        self.assertEqual(text_of(call(AGENT, "echo")), "hi")
        self.assertEqual(call(AGENT, "add")["error"]["data"]["kind"], "denied")
        self.assertEqual(call(OTHER, "echo")["error"]["data"]["kind"], "denied")
        self.assertEqual(face.get("/mcp/stream", accept="text/event-stream").status, 403)
        job = ask(AGENT, "bridge/submit", {"method": "tools/call",
                                           "params": {"name": "echo", "arguments": {"message": "job"}}})["result"]["job"]
        self.assertEqual([one["job"] for one in ask(AGENT, "bridge/jobs", {})["result"]["jobs"]], [job])

    @unittest.skipUnless(is_root(), "other users are needed")
    def test_only_admitted_users_may_connect(self):
        os.chmod(self.folder, 0o755)
        _, face = self.face("--socket-mode", "0666", "--allow-uid", str(AGENT), address=self.path("http"))
        for uid, served in ((AGENT, True), (OTHER, False)):
            with acting_as(uid):
                connection = face.connect()
            try:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = connection.recv(100)
            except OSError:
                answer = b""
            self.assertEqual(answer.startswith(b"HTTP/1.1 200"), served, uid)

    def test_an_abstract_one_is_served_and_dialled(self):
        name = "@" + self.marker[:20]
        _, face = self.face(address=name)
        self.assertEqual(text_of(face.call("echo", {"message": "hi"}).json()), "hi")
        self.start_daemon(f"http+unix://{name}/mcp", socket="second")
        self.assertEqual(text_of(self.client().call("echo", {"message": "through two"})), "through two")


if __name__ == "__main__":
    main()
