"""Many callers of the HTTP frontend at once, slow ones among them, and its bounds."""

import resource
import threading

from harness import eventually, initialize, main, notification, text_of
from harness.face import BOTH, JSON, STREAM
from harness.facing import Facing


class Many(Facing):
    def test_200_sessions_at_once_each_with_its_own_answers(self):
        server, face = self.face()
        problems = []

        def one(n):
            try:
                session = face.session()
                stream = face.stream(session)
                for k in range(3):
                    answer = face.call("echo", {"message": f"{n}/{k}"}, k, session, accept=BOTH if k else JSON)
                    if text_of(answer.json()) != f"{n}/{k}":
                        problems.append((n, k, answer.body))
                stream.close()
                if face.request("DELETE", "/mcp", session=session).status != 204:
                    problems.append((n, "delete"))
            except Exception as error:
                problems.append((n, repr(error)))

        threads = [threading.Thread(target=one, args=(n,)) for n in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertEqual(server.state()["initializes"], 1)
        self.clients_of_kind("http", 0)

    def test_16_streams_of_which_one_never_reads(self):
        server, face = self.face("--handshake", "eager", "--http-stream-buffer", "64K")
        server.streams(1)
        sessions = [face.session() for _ in range(8)]
        streams = [face.stream(name) for name in sessions] + [face.stream(path="/mcp/stream") for _ in range(7)]
        never = face.stream(path="/mcp/stream", receive_buffer=4096)
        never.comment()
        # Together more than the kernel and the buffer hold for the one that does not read.
        for n in range(100):
            server.emit(notification("notifications/message", {"level": "info", "data": f"{n} " + "x" * 60_000}))
            for index, stream in enumerate(streams):
                self.assertEqual(stream.message()["params"]["data"].split()[0], str(n), index)
        self.default_daemon.logged("a subscriber of /mcp/stream was dropped")
        self.assertEqual(text_of(face.call("echo", {"message": "still there"}).json()), "still there")

    def test_a_stream_that_is_not_read_costs_no_memory_for_notifications(self):
        server, face = self.face("--handshake", "eager", "--ring-bytes", "1M")
        server.streams(1)
        idle = [face.stream(face.session(), receive_buffer=4096) for _ in range(20)]
        for stream in idle:
            stream.comment()
        server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"$N%s"}}' % ("x" * 1000), 30000)
        self.newest(30000)
        status = self.default_daemon.status()
        self.assertLessEqual(max(one["queuedBytes"] for one in status["clients"]), 1 << 20)
        # Who reads on behind what the kernel has for it comes to what is not there any more.
        while "notifications were pushed out of the ring before a client came to them" not in self.default_daemon.stderr():
            for _ in range(50):
                idle[0].message()
        self.assertEqual(face.get("/healthz").status, 200)

    def test_requests_are_served_beside_as_many_streams_as_there_may_be(self):
        _, face = self.face("--http-max-streams", "40")
        streams = [face.stream(path="/mcp/stream") for _ in range(40)]
        self.assertEqual({stream.status for stream in streams}, {200})
        refused = face.get("/mcp/stream", accept=STREAM)
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "5"))
        self.assertEqual(face.get("/sse", accept=STREAM).status, 503)
        session = face.session()
        self.assertEqual(face.get("/mcp", session=session, accept=STREAM).status, 503)
        self.assertEqual(face.ask("ping", session=session).status, 200)
        streams[0].close()
        eventually(lambda: face.stream(session).status == 200, "room for a stream")

    def test_1000_idle_connections_with_1024_file_descriptors_shut_out_nobody(self):
        server = self.upstream()
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
        face = self.face_before(server, before_exec=few)
        self.default_daemon.logged("the HTTP frontend has at most 384 connections at a time")
        for _ in range(1000):
            face.connect()
        clients = [self.client() for _ in range(200)]
        for n, client in enumerate(clients):
            self.assertEqual(text_of(client.call("echo", {"message": str(n)})), str(n))
        self.assertEqual(text_of(face.call("echo", {"message": "x"}).json()), "x")
        self.assertNotIn("cannot accept", self.default_daemon.stderr())
        self.assertLess(self.default_daemon.fds(), 1024)

    def test_with_all_buffers_full_what_is_for_the_server_is_refused_and_control_requests_are_answered(self):
        _, face = self.face("--max-buffered", "256K", "--client-stall", "60s")
        session = face.session()
        accepted = face.call("big", {"bytes": 400_000}, 0, session, headers={"Prefer": "respond-async"})
        self.assertEqual(accepted.status, 202)
        eventually(lambda: any(client["queuedBytes"] >= 400_000 for client in face.get("/status").json()["clients"]), "the answer")
        refused = face.ask("ping", session=session)
        self.assertEqual(refused.status, 503)
        self.assert_error(refused.json(), -32000)
        self.assertEqual(face.get("/healthz").status, 200)
        # A session can be opened; control requests are answered, with and without a session.
        self.assertTrue(face.session())
        for name in (session, None):
            self.assertIn("pid", face.ask("bridge/status", session=name).json()["result"])
        # Somebody reads, and there is room again.
        stream = face.stream(session)
        self.assertEqual(stream.message()["id"], 0)
        stream.close()
        eventually(lambda: face.ask("ping", session=session).status == 200, "room in the buffers")

    def test_a_session_whose_initialize_nobody_got_to_see_ends(self):
        server, face = self.face("--http-max-sessions", "1")
        server.fault({"delayMs": 300}, method="initialize")
        caller = face.send_post(initialize())
        server.log("initialize", wait=1)
        caller.close()
        eventually(lambda: face.post(initialize()).status == 200, "room for a session")


class Mixed(Facing):
    def test_the_socket_and_the_face_share_the_session(self):
        server, face = self.face()
        client = self.client()
        client.send(initialize(0))
        client.answer(0)
        session = face.session()
        stream = face.stream(session)
        self.assertEqual(text_of(face.call("echo", {"message": "http"}, 5, session).json()), "http")
        self.assertEqual(text_of(client.call("echo", {"message": "unix"}, 5)), "unix")
        server.emit(notification("notifications/message", {"level": "info", "data": "both"}))
        self.assertEqual(client.line()["params"]["data"], "both")
        self.assertEqual(stream.message()["params"]["data"], "both")
        self.assertEqual(server.state()["initializes"], 1)
        kinds = sorted(one["kind"] for one in self.default_daemon.status()["clients"])
        self.assertEqual(kinds, ["http", "unix", "unix"])

    def test_an_idle_face_wakes_up_for_nothing(self):
        _, face = self.face()
        face.session()
        kept = face.connect()
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        kept.recv(4096)
        stream = face.stream(path="/mcp/stream")
        stream.comment()

        def switches():
            return self.default_daemon.status_field("voluntary_ctxt_switches")

        def is_asleep():
            before = switches()
            self.run_tool(["sleep", "0.5"])
            return switches() == before

        # What went before may still have something to tidy up. Whatever polls never sleeps so long.
        eventually(is_asleep, "half a second without a wake-up")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    main()
