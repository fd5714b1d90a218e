"""Callers of the HTTP frontend that go away, freeze, or never fetch: what they hold is given back, and everybody else
is served (BEHAVIOUR, "HTTP frontend: sessions")."""

import json
import socket
import struct

from harness import call, eventually, initialize, main, text_of
from harness.face import BOTH, STREAM
from harness.facing import Facing

LATER = {"Prefer": "respond-async"}
SHORT = ("--client-buffer", "256K", "--client-stall", "700ms", "--http-session-idle", "1s")


def reset(connection):
    """Closes it as the end of a killed process with unread data does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Abandoned(Facing):
    def everything_is_given_back(self):
        self.clients_of_kind("http", 0)
        self.in_flight(0)
        self.default_daemon.status_when(lambda status: status["requests"]["queued"] == 0, "no waiting request")

    def test_sessions_that_put_off_calls_and_never_fetch_them_end_and_their_slots_are_free(self):
        for orphans in ("finish", "cancel"):
            with self.subTest(orphans):
                _, face = self.face(*SHORT, "--max-inflight", "16", "--orphans", orphans)
                sessions = [face.session() for _ in range(4)]
                for session in sessions:
                    calls = [json.loads(call("big", {"bytes": 100_000}, n)) for n in range(20)]
                    self.assertEqual(face.post(calls, session, headers=LATER).status, 202)
                # In between a client of the socket has its turn.
                self.assertEqual(text_of(self.client().call("echo", {"message": "served"}, 1)), "served")
                self.everything_is_given_back()
                self.default_daemon.logged("an HTTP session has ended: nothing was taken for 700 ms")
                self.assertEqual(face.get("/mcp", session=sessions[0], accept=STREAM).status, 404)
                self.default_daemon.stop()

    def test_calls_whose_process_was_killed_hold_nothing(self):
        for accept in ("application/json", STREAM, BOTH):
            with self.subTest(accept):
                server, face = self.face(*SHORT, "--max-inflight", "8", upstream=("--answers", "sse"))
                session = face.session()
                callers = []
                for n in range(20):
                    body = call("slow", {"steps": 1, "delayMs": 200, "bytes": 0}, n) if n % 2 else call("big", {"bytes": 100_000}, n)
                    head = [f"POST /mcp HTTP/1.1\r\nHost: {face.authority}\r\nContent-Type: application/json\r\n"
                            f"Mcp-Session-Id: {session}\r\nAccept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n{body}"]
                    callers.append(face.connect(receive_buffer=4096))
                    callers[-1].sendall("".join(head).encode())
                server.log("tools/call", wait=1)
                for caller in callers:
                    reset(caller)
                self.assertEqual(text_of(self.client().call("echo", {"message": "served"}, 1)), "served")
                self.everything_is_given_back()
                self.default_daemon.stop()

    def test_the_stream_of_a_post_whose_reader_is_frozen_holds_no_slot(self):
        server, face = self.face(*SHORT, "--max-inflight", "4")
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 50_000}}
        server.fault({"sse": [{"data": note}] * 100, "thenAnswer": True}, method="tools/call", times=4)
        session = face.session()
        body = json.dumps([json.loads(call("echo", {"message": "x"}, n)) for n in range(4)])
        frozen = face.connect(receive_buffer=4096)
        frozen.sendall((f"POST /mcp HTTP/1.1\r\nHost: {face.authority}\r\nContent-Type: application/json\r\nMcp-Session-Id: {session}\r\n"
                        f"Accept: {STREAM}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        server.log("tools/call", wait=4)
        self.assertEqual(text_of(self.client().call("echo", {"message": "served"}, 1)), "served")
        self.everything_is_given_back()


class NotFetched(Facing):
    def reopened(self, face, session, last):
        """The session's stream, once the end of the one before was noticed."""
        def opened():
            stream = face.stream(session, last=last)
            return stream if stream.status == 200 else None
        return eventually(opened, "the stream")

    def test_an_answer_whose_first_stream_was_reset_unread_comes_again_with_and_without_an_event_id(self):
        for resumes in (False, True):
            with self.subTest(resumes=resumes):
                _, face = self.face()
                session = face.session()
                if resumes:
                    before = face.stream(session)
                    before.begun()
                    before.close()
                face.call("big", {"bytes": 5_000_000}, 7, session, headers=LATER)
                self.in_flight(0)
                first = face.connect(receive_buffer=4096)
                first.sendall(f"GET /mcp HTTP/1.1\r\nHost: {face.authority}\r\nMcp-Session-Id: {session}\r\nAccept: {STREAM}\r\n\r\n".encode())
                self.assertTrue(first.recv(16))
                reset(first)
                again = self.reopened(face, session, before.last_id if resumes else None)
                self.assertEqual(again.message()["id"], 7)
                # And once: what was read is not sent a third time.
                again.close()
                last = self.reopened(face, session, again.last_id)
                face.call("echo", {"message": "fence"}, 9, session, headers=LATER)
                self.assertEqual(last.message()["id"], 9)
                self.default_daemon.stop()


class Full(Facing):
    def test_the_session_unused_for_longest_makes_room_for_another(self):
        _, face = self.face("--http-max-sessions", "3")
        with_stream, oldest, later = [face.session() for _ in range(3)]
        stream = face.stream(with_stream)
        stream.comment()
        self.assertEqual(face.ask("ping", session=oldest).status, 200)  # now `later` is the one unused for longest
        newest = face.session()
        self.assertEqual(face.ask("ping", session=later).status, 404)
        for session in (with_stream, oldest, newest):
            self.assertEqual(face.ask("ping", session=session).status, 200)
        # Those that are used make no room.
        for session in (oldest, newest):
            face.stream(session).comment()
        full = face.post(initialize())
        self.assertEqual((full.status, full.headers["Retry-After"]), (503, "5"))
        self.assertEqual(face.ask("ping").status, 200)


class Refused(Facing):
    def test_a_refused_initialize_gives_out_no_session_id_in_whatever_form_it_is_answered(self):
        for accept in ("application/json", STREAM, BOTH):
            with self.subTest(accept):
                server, face = self.face()
                server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}}', method="initialize")
                refused = face.post(initialize(3), accept=accept)
                message = refused.messages()[0] if accept == STREAM else refused.json()
                self.assertEqual((message["id"], message["error"]["code"]), (3, -32602))
                self.assertNotIn("Mcp-Session-Id", refused.headers)
                opened = face.post(initialize(4), accept=accept)
                self.assertTrue(opened.headers["Mcp-Session-Id"])
                self.default_daemon.stop()


if __name__ == "__main__":
    main()
