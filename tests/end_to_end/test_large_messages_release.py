"""The most memory that one large message takes while it passes. On the release programs, where there are some."""

import json

from harness import call, main
from harness.binaries import is_sanitized, release_binary
from harness.local_server import LocalServer
from harness.scripted_server import ScriptedServer, answer_to, chunked, good, json_response

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


if __name__ == "__main__":
    main()
