"""The most memory that large messages take while they pass: one, and many at once (BEHAVIOUR, "Limits"). On the release
programs, where there are some."""

import json
import re
import selectors
import threading
import time

from harness import DEADLINE, Client, call, main
from harness.binaries import is_sanitized, release_binary
from harness.facing import Facing
from harness.local_server import LocalServer
from harness.scripted_server import InTwo, ScriptedServer, answer_to, chunked, good, json_response

PROGRAM = release_binary("MCP_BRIDGED")
# A little more than a power of two: what doubles its room to grow has the most of it twice then.
LARGE = (4 << 20) + (256 << 10)
# Of the message: once as it came, and what the parts of it need that are under way.
LIMIT = 1.5
STREAM = [("Content-Type", "text/event-stream")]


def with_large_text(answer):
    """A good server whose calls are answered with one large text, as `answer(message)` writes it."""
    def script(asked):
        if asked.method != "tools/call" or not asked.message["params"]["arguments"].get("bytes"):
            return good(asked)
        message = answer_to(asked)
        message["result"]["content"][0]["text"] = "x" * asked.message["params"]["arguments"]["bytes"]
        return answer(json.dumps(message))
    return script


class MemoryOfAMessage(LocalServer):
    def start_daemon(self, *arguments, **how):
        return super().start_daemon(*arguments, program=PROGRAM, **how)

    def before(self, script):
        server = ScriptedServer(script)
        self.addCleanup(server.close)
        return self.start_daemon(server)

    def assert_peak(self, daemon, arguments):
        client = self.client()
        client.request("tools/call", {"name": "echo", "arguments": {"message": "small"}})
        idle = daemon.status_field("VmRSS")
        client.send(call("big", arguments))
        received = client.raw_line(deadline=60)
        self.assertIn(b'"result"', received[:200])
        taken = (daemon.status_field("VmHWM") - idle) * 1024 / LARGE
        if not is_sanitized(PROGRAM):
            self.assertLess(taken, LIMIT, "times the message")

    def test_the_memory_of_one_is_there_for_the_next(self):
        """Until it is given back, a second after the last: to have pages made costs as much as a copy."""
        daemon = self.before(with_large_text(json_response))
        client = self.client()

        def pages_made_by_calls(count):
            before = daemon.pages_made()
            for n in range(count):
                client.send(call(n, {"bytes": LARGE}))
                self.assertIn(b'"result"', client.raw_line(deadline=60)[:200])
            return daemon.pages_made() - before

        first = pages_made_by_calls(1)
        # A machine that does nothing else for a second between two of them has one more of the first.
        fewest = min(pages_made_by_calls(2) for _ in range(3))
        if not is_sanitized(PROGRAM):
            self.assertLess(fewest, min(first, 100))

    def test_a_json_answer_whose_length_is_said(self):
        self.assert_peak(self.before(with_large_text(json_response)), {"bytes": LARGE})

    def test_a_json_answer_whose_length_is_not_said(self):
        daemon = self.before(with_large_text(
            lambda message: chunked(message, [("Content-Type", "application/json")], [])))
        self.assert_peak(daemon, {"bytes": LARGE})

    def test_an_answer_in_one_event(self):
        daemon = self.before(with_large_text(
            lambda message: chunked(f"event: message\ndata: {message}\n\n", STREAM, [])))
        self.assert_peak(daemon, {"bytes": LARGE})

    def test_an_answer_of_a_local_server(self):
        self.assert_peak(self.start_local(), {"bytes": LARGE})

    def test_a_call_of_a_client(self):
        self.assert_peak(self.before(good), {"text": "x" * LARGE})


BUFFERED = 16 << 20
MANY = 48
EACH = 1 << 20
# Of --max-buffered: what is held, what was released and not yet returned, and what libcurl needs for so many at once.
MOST_BUFFERED = 2


class MemoryOfManyAnswers(Facing, LocalServer):
    """Together they are three times as large as --max-buffered."""

    def start_daemon(self, *arguments, **how):
        return super().start_daemon(*arguments, "--max-buffered", str(BUFFERED), program=PROGRAM, **how)

    def server(self, answer):
        """Writes its large answers when all of them have been asked for, and none to its end before `self.rest` is set:
        what is received of them cannot be passed on meanwhile."""
        all_asked, script = threading.Barrier(MANY), with_large_text(answer)
        self.rest = threading.Event()

        def at_once(asked):
            if asked.method != "tools/call" or not asked.message["params"]["arguments"].get("bytes"):
                return script(asked)
            all_asked.wait(4 * DEADLINE)
            return InTwo(script(asked), self.rest)

        server = ScriptedServer(at_once)
        self.addCleanup(server.close)
        self.addCleanup(self.rest.set)
        return server

    def assert_bounded(self, daemon, idle):
        if not is_sanitized(PROGRAM):
            self.assertLess((daemon.status_field("VmHWM") - idle) * 1024 / BUFFERED, MOST_BUFFERED, "times --max-buffered")

    def read_all(self, connections, is_whole):
        """Reads them side by side until each has its answer, which is not kept."""
        waiting = selectors.DefaultSelector()
        for connection in connections:
            waiting.register(connection, selectors.EVENT_READ, {"bytes": 0, "first": b""})
        while waiting.get_map():
            ready = waiting.select(2 * DEADLINE)
            self.assertTrue(ready, f"{len(waiting.get_map())} answers do not come: {[key.data for key in waiting.get_map().values()][:2]}")
            for key, _ in ready:
                part, had = key.fileobj.recv(1 << 20), key.data
                had["bytes"] += len(part)
                had["first"] = (had["first"] + part[:300])[:300]
                self.assertTrue(part, had)
                if is_whole(had):
                    waiting.unregister(key.fileobj)
        waiting.close()

    def assert_large_wait_and_small_do_not(self, answer):
        face = self.face_before(self.server(answer), "--client-stall", "60s")
        daemon, other = self.default_daemon, self.client()
        other.call("echo", {"message": "small"})
        idle = daemon.status_field("VmRSS")
        callers = []
        for n in range(MANY):
            body = call("big", {"bytes": EACH}, n)
            callers.append(face.connect(receive_buffer=4096))
            callers[-1].sendall((f"POST /mcp HTTP/1.1\r\nHost: {face.authority}\r\nContent-Type: application/json\r\n"
                                 "Accept: application/json\r\nMCP-Protocol-Version: 2025-03-26\r\n"
                                 f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        # Each of these calls takes a round in which all that may be read is read: without a limit, all of the answers.
        daemon.metrics_when(lambda metrics: metrics.sum("mcp_bridge_buffered_bytes") > BUFFERED // 2, "much that is buffered")
        began = time.monotonic()
        for _ in range(200):
            self.assertIn("result", other.call("echo", {"message": "small"}))
        self.assertLess(daemon.metrics().sum("mcp_bridge_buffered_bytes"), 1.1 * BUFFERED)
        # On a busy machine some have not grown for a second, and are ended.
        may_end = time.monotonic() - began > 0.7
        self.rest.set()
        self.read_all(callers, lambda had: had["bytes"] > EACH and had["bytes"] >= whole_length(had["first"]) or
                      may_end and b'"kind":"overloaded"' in had["first"])
        self.assert_bounded(daemon, idle)

    def test_bodies_whose_length_is_said_wait_for_room_and_small_calls_do_not(self):
        self.assert_large_wait_and_small_do_not(json_response)

    def test_bodies_whose_length_is_not_said_wait_for_room_and_small_calls_do_not(self):
        self.assert_large_wait_and_small_do_not(
            lambda message: chunked(message, [("Content-Type", "application/json")], []))

    def test_events_wait_for_room_and_small_calls_do_not(self):
        self.assert_large_wait_and_small_do_not(
            lambda message: chunked(f"event: message\ndata: {message}\n\n", STREAM, []))

    def test_answers_of_a_local_server_wait_on_its_pipe(self):
        daemon = self.start_local(options=["--client-stall", "60s"])
        self.tool("echo", {"message": "small"})
        idle = daemon.status_field("VmRSS")
        clients = [Client(daemon.socket_path, receive_buffer=4096) for _ in range(MANY)]
        self.clients += clients
        for n, client in enumerate(clients):
            client.send(call("big", {"bytes": EACH}, n))
        daemon.status_when(lambda status: sum(client["queuedBytes"] for client in status["clients"]) > BUFFERED // 2,
                           "much that is not read")
        self.read_all([client.socket for client in clients], lambda had: had["bytes"] > EACH)
        self.assert_bounded(daemon, idle)


def whole_length(beginning):
    """Of an HTTP response."""
    head, _, _ = beginning.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), beginning
    return len(head) + 4 + int(re.search(rb"(?i)content-length: *([0-9]+)", head)[1])


if __name__ == "__main__":
    main()
