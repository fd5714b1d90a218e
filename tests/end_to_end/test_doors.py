"""The session's other doors: HTTP on a Unix socket (BEHAVIOUR, "HTTP frontend"), and pipes (daemon/PIPES.md)."""

import contextlib
import http.client
import json
import os
import select
import socket
import stat
import unittest

import test_clients
import test_ring
import test_routing
import test_server_requests
import test_slow_readers
import test_upgrade
from harness import DEADLINE, Case, Client, eventually, initialize, main, notification, text_of
from harness.binaries import binary
from harness.face import Face
from harness.facing import Facing
from harness.other_user import NOBODY, acting_as, become_nobody, for_others, is_root
from harness.pipe_ends import PipeEnds

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


class OverPipes:
    """All clients of the test come by the folder of pipes, also those that only ask for the status."""

    def start_daemon(self, upstream, *options, **how):
        daemon = super().start_daemon(upstream, "--pipes", *options, **how)
        daemon.socket_path = daemon.pipes
        return daemon


class Ring(OverPipes, test_ring.Taken):
    pass


class Peeking(OverPipes, test_ring.TakesNothing):
    pass


class Routing(OverPipes, test_routing.Notifications):
    pass


class Leaving(OverPipes, test_routing.Leaving):
    pass


class HalfClose(OverPipes, test_clients.HalfClose):
    pass


class Many(OverPipes, test_clients.Many):
    pass


class Questions(OverPipes, test_server_requests.OnARequestsStream):
    pass


class KilledWithAFullQueue(OverPipes, test_slow_readers.KilledWithAFullQueue):
    pass


class Upgrade(OverPipes, test_upgrade.Kept):
    # Not about the stream of a client.
    test_what_takes_longer_than_the_grace_ends_unknown = test_nothing_secret_is_seen_from_outside = None
    test_the_session_stays_and_is_spoken_in = None


class SlowReaders(OverPipes, Case):
    def test_it_gets_all_when_it_reads_or_is_disconnected(self):
        _, daemon = self.bridge("--client-buffer", "100K", "--client-stall", "1s")
        stuck, other = self.client(), self.client()
        stuck.send(*[initialize(n) for n in range(2)])
        stuck.lines(2)
        stuck.send_raw(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"big","arguments":'
                                b'{"bytes":400000}}}\n' % n for n in range(3)))
        self.assertEqual(sorted(message["id"] for message in stuck.lines(3)), [0, 1, 2])
        stuck.send_raw(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"big","arguments":'
                                b'{"bytes":400000}}}\n' % n for n in range(6)))
        self.others(1)
        daemon.logged("disconnected")
        self.assertEqual(other.fence(), [])


class PipesFolder(Case):
    def served(self, *options, upstream=(), **how):
        return self.start_daemon(self.upstream(*upstream), "--pipes", self.path("pipes"), *options, **how)

    def through(self, client=None):
        client = client or Client(self.path("pipes"))
        self.clients.append(client)
        self.assertEqual(text_of(client.call("echo", {"message": "hi"})), "hi")
        return client

    def entries(self):
        return sorted(os.listdir(self.path("pipes")))

    def test_what_is_not_a_client_s_is_removed_unopened(self):
        daemon = self.served()
        self.through()
        name = self.path("pipes/" + "n" * 16)
        kept = self.write("kept", "kept")
        os.mkfifo(self.path("fifo"))
        before = daemon.fds()

        @contextlib.contextmanager
        def pair(made_in, made_out=os.mkfifo):
            made_out(name + ".out")
            reading = os.open(name + ".out", os.O_RDONLY | os.O_NONBLOCK) if made_out is os.mkfifo else None
            made_in(name + ".in")
            yield
            if reading is not None:
                os.close(reading)

        def file_of(path):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))

        def other_owner(path):
            os.mkfifo(self.path("other"))
            os.chown(self.path("other"), AGENT, -1)
            os.rename(self.path("other"), path)

        strange = [file_of, os.mkdir, lambda path: os.symlink(self.path("fifo"), path), lambda path: os.symlink(kept, path),
                   lambda path: os.link(self.path("fifo"), path), lambda path: socket.socket(socket.AF_UNIX).bind(path)]
        if is_root():
            strange += [lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3)), other_owner]
        for made in strange:
            with pair(made):
                eventually(lambda: self.entries() == [".lock"], lambda: f"nothing in {self.entries()}")
            if made is not other_owner:
                with pair(os.mkfifo, made):
                    eventually(lambda: self.entries() == [".lock"], lambda: f"nothing in {self.entries()}")
        os.mkfifo(name + ".out")
        os.mkfifo(name + ".in")  # nothing reads from the first
        eventually(lambda: self.entries() == [".lock"], "nothing but the lock")
        os.mkfifo(name + ".in")  # there is no other
        file_of(self.path("pipes/anything"))
        eventually(lambda: self.entries() == [".lock"], "nothing but the lock")
        self.through().close()
        daemon.logged("removed")
        eventually(lambda: daemon.fds() <= before, "the end of the descriptors")
        self.assertEqual(os.stat(self.path("fifo")).st_nlink, 1)

    def test_ten_thousand_entries_delay_nobody(self):
        daemon = self.served()
        for n in range(10_000):
            os.close(os.open(self.path(f"pipes/file{n}"), os.O_CREAT | os.O_WRONLY))
        self.through()
        eventually(lambda: self.entries() == [".lock"], "nothing but the lock")
        self.assertLess(daemon.stderr().count("removed"), 100)

    def test_a_writer_that_never_stops_is_disconnected_and_delays_no_other(self):
        daemon = self.served("--client-buffer", "100K", "--client-stall", "1s")
        other, endless = self.through(), PipeEnds(self.path("pipes"))
        self.addCleanup(endless.close)

        def is_disconnected():
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(endless.writing, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' * 50)
            self.assertEqual(text_of(other.call("echo", {"message": "hi"})), "hi")
            return "disconnected" in daemon.stderr()

        eventually(is_disconnected, "its end")
        other.close()
        eventually(lambda: "pipes" not in [one["kind"] for one in daemon.status()["clients"]], "the end of both")

    @unittest.skipUnless(is_root(), "other users are needed")
    def test_a_daemon_of_another_user_opens_what_it_may(self):
        os.chmod(self.folder, 0o755)
        home = self.path("home")
        os.mkdir(home)
        os.chown(home, NOBODY, NOBODY)
        daemon = self.start_daemon(self.upstream(), "--pipes", home + "/pipes", socket=home + "/s",
                                   program=for_others(self, binary("MCP_BRIDGED")), before_exec=become_nobody)
        self.through(Client(home + "/pipes")).close()
        before = daemon.fds()
        name = "n" * 16
        begun, ready = f"{home}/pipes/.{name}", f"{home}/pipes/{name}"
        for closed in (".in", ".out"):
            for end in (".in", ".out"):
                os.mkfifo(begun + end, 0o600)
                os.chmod(begun + end, 0o606)
            reading = os.open(begun + ".out", os.O_RDONLY | os.O_NONBLOCK)
            os.chmod(begun + closed, 0o600)  # after the client has opened it
            for end in (".out", ".in"):
                os.rename(begun + end, ready + end)
            eventually(lambda: os.listdir(home + "/pipes") == [".lock"], "nothing but the lock")
            os.close(reading)
        daemon.logged("cannot be opened: Permission denied")
        self.assertLessEqual(daemon.fds(), before)
        os.chmod(home + "/pipes", 0o755)  # the daemon's folder, by root: what is in it can still be opened
        self.through(Client(home + "/pipes"))

    def test_the_folder_is_made_and_removed_and_made_again(self):
        daemon = self.served()
        self.assertEqual(stat.S_IMODE(os.stat(self.path("pipes")).st_mode), 0o700)
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere)
        replacements = ((os.mkdir, os.rmdir), (lambda path: os.symlink(elsewhere, path), os.unlink))
        for times, (replace, remove) in enumerate(replacements, 1):
            os.rename(self.path("pipes"), self.path(f"moved{times}"))
            replace(self.path("pipes"))
            daemon.logged("pipes folder", times)
            remove(self.path("pipes"))
            daemon.logged(f"{self.path('pipes')} is published again", times)
        self.assertEqual(os.listdir(elsewhere), [])
        client = self.through()
        self.assertEqual(daemon.terminate(), 0)
        client.expect_closed()
        self.assertFalse(os.path.exists(self.path("pipes")))

    def test_after_a_kill_its_clients_see_the_end_and_the_next_serves(self):
        daemon = self.served()
        client = self.through()
        daemon.crash()
        client.expect_closed()
        waiting = Client(self.path("pipes"))
        self.served(socket="other")
        self.through(waiting)

    def test_folders_that_are_refused(self):
        os.mkdir(self.path("pipes"))
        self.write("pipes/file", "kept")
        os.symlink(self.folder, self.path("link"))
        self.write("regular", "x")
        server = self.upstream()
        for options, code, why in (
                (("--pipes", self.path("pipes")), 73, "was not made by a daemon"), (("--pipes", self.path("link")), 73, "opened"),
                (("--pipes", self.path("regular")), 73, "opened"), (("--pipes", self.path("no/folder")), 73, "made"),
                (("--pipes", "--pipes-mode", "0777"), 64, "0777"), (("--pipes", "--pipes-mode", "0733"), 64, "0733")):
            with self.subTest(options):
                self.assertIn(why, self.start_daemon(server, *options, ready=False).fails(code))
        self.assertEqual(self.entries(), ["file"])
        daemon = self.start_daemon(server, "--pipes", self.path("taken"))
        other = self.start_daemon(server, "--pipes", self.path("taken"), socket="other", ready=False)
        self.assertIn("served by another daemon", other.fails(73))
        self.default_daemon = daemon

    @unittest.skipUnless(is_root(), "other users are needed")
    def test_other_users_come_as_themselves(self):
        os.chmod(self.folder, 0o755)
        audit = self.path("audit")
        daemon = self.served("--pipes-mode", "1733", "--allow-uid", str(AGENT), "--allow-uid", "0", "--audit", audit)
        with acting_as(AGENT):
            client = self.through()
        eventually(lambda: os.path.getsize(audit) > 0, "a line of the audit")
        with open(audit, encoding="utf-8") as lines:
            self.assertEqual(json.loads(lines.readline())["client"]["uid"], AGENT)
        self.assertEqual(daemon.status()["pipes"], self.path("pipes"))
        mine = [one for one in daemon.status()["clients"] if one["kind"] == "pipes"]
        self.assertEqual([one["uid"] for one in mine], [AGENT])
        with acting_as(OTHER):
            refused = Client(self.path("pipes"))
        self.clients.append(refused)
        refused.expect_closed()
        daemon.logged(f"client of uid {OTHER} (pid 0) is not allowed")
        self.assertEqual(client.fence(), [])


if __name__ == "__main__":
    main()
