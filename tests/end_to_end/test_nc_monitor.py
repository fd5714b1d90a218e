"""bridge/monitor and `mcp-nc monitor`: every message as it passes, and no secret in it (BEHAVIOUR, "Control methods:
bridge/monitor")."""

import base64
import json
import os
import signal
import stat

from harness import eventually, main, request
from harness.facing import Facing

PLAIN = "t0ken-of-the-server.1234567"


class Monitor(Facing):
    def watcher(self):
        client = self.client()
        self.assertEqual(client.request("bridge/monitor", {}, "m")["result"], {})
        return client

    def seen(self, watcher, count):
        lines = [watcher.line() for _ in range(count)]
        self.assertEqual({line["method"] for line in lines}, {"notifications/bridge/monitor"})
        return [line["params"] for line in lines]

    def test_a_call_is_seen_on_its_way_there_and_back(self):
        self.bridge()
        client = self.client()
        client.call("echo", {"message": "first"}, 1)  # opens the session
        watcher = self.watcher()
        client.call("echo", {"message": "seen"}, 2)
        seen = self.seen(watcher, 4)
        self.assertEqual([one["passage"] for one in seen], ["from_client", "to_server", "from_server", "to_client"])
        self.assertEqual([one["message"].get("id") == 2 for one in seen], [True, False, False, True])
        self.assertEqual(seen[0]["message"]["params"]["arguments"], {"message": "seen"})
        self.assertEqual("client" in seen[1], False)
        self.assertEqual(seen[0]["client"], seen[3]["client"])
        # Nothing of the ring is fed to it, and nothing of it is taken.
        self.assertNotIn("missed", seen[3])

    def test_what_is_no_json_without_its_secrets_is_text(self):
        self.start_daemon(self.upstream(), environment={"MCP_SERVER_TOKEN": "1234567890"})
        client = self.client()
        client.call("echo", {"message": "first"}, 1)
        watcher = self.watcher()
        client.call("echo", {"message": "x", "number": 1234567890}, 2)
        sent = self.seen(watcher, 1)[0]
        self.assertNotIn("message", sent)
        self.assertIn('"number":***', sent["text"])

    def test_what_is_long_is_shown_in_part(self):
        self.bridge()
        client = self.client()
        client.call("echo", {"message": "first"}, 1)
        watcher = self.watcher()
        client.call("echo", {"message": "x" * 70_000}, 2)
        for one in self.seen(watcher, 4):
            self.assertNotIn("message", one)
            self.assertGreater(one["bytes"], 70_000)
            self.assertLess(len(one["text"]), 70_000)
            self.assertTrue(one["text"].startswith("{"))

    def test_what_the_daemon_answers_itself_is_seen_too_and_its_own_requests_are_not(self):
        self.bridge()
        watcher, other = self.watcher(), self.client()
        watcher.request("bridge/status", {}, 1)
        other.request("bridge/jobs", {}, "j")
        seen = self.seen(watcher, 2)
        self.assertEqual([(one["passage"], one["message"]["id"]) for one in seen], [("from_client", "j"), ("to_client", "j")])

    def test_known_secrets_are_blotted_out(self):
        self.start_daemon(self.upstream(), environment={"MCP_SERVER_TOKEN": PLAIN})
        client = self.client()
        client.call("echo", {"message": "first"}, 1)
        watcher = self.watcher()
        for number, form in enumerate(("x" + PLAIN, base64.b64encode(b"u:" + PLAIN.encode()).decode()), 2):
            self.assertIn(form, json.dumps(client.call("echo", {"message": form}, number)))
            for one in self.seen(watcher, 4):
                shown = json.dumps(one)
                self.assertIn("***", shown)
                self.assertNotIn(PLAIN, shown)
                self.assertNotIn(form, shown)
                self.assertNotIn("text", one)  # it is JSON still

    def test_what_is_answered_to_a_question_of_a_job_is_shown_to_nobody(self):
        self.bridge("--client-capabilities", '{"elicitation":{}}')
        client = self.client()
        watcher = self.watcher()
        client.send({"jsonrpc": "2.0", "id": "a", "method": "bridge/answer", "params": {"job": "x", "result": {"content": "private"}}})
        client.answer("a")
        there, back = self.seen(watcher, 2)
        self.assertEqual(there["message"], {"jsonrpc": "2.0", "id": "a", "method": "bridge/answer"})
        self.assertEqual(back["message"]["error"]["code"], -32602)

    def test_one_that_does_not_read_misses_messages_and_is_told_how_many(self):
        self.bridge()
        watcher, client = self.watcher(), self.client()
        text = "x" * 40_000
        for number in range(1, 61):  # 60 times 4 times 40 kB
            client.call("echo", {"message": text}, number)
        missed = 0
        while not missed:  # once it reads again it is told with what comes next
            client.call("echo", {"message": "again"}, 99)
            missed = sum(watcher.line()["params"].get("missed", 0) for _ in range(8))
        self.assertGreater(missed, 50)
        self.assertEqual(client.call("echo", {"message": "served"}, 1000)["result"]["content"][0]["text"], "served")

    def test_nobody_over_http_may_watch(self):
        face = self.face()[1]
        answer = face.post(request("bridge/monitor", {}, 1)).json()
        self.assertEqual(answer["error"]["code"], -32600)

    def test_mcp_nc_shows_it_in_words_and_as_json(self):
        self.bridge()
        client = self.client()
        client.call("echo", {"message": "first"}, 1)
        for arguments, sign in (([], b"client "), (["--json"], b'"passage":"from_client"')):
            with self.subTest(arguments):
                monitor = self.nc("monitor", "--count", "4", *arguments)
                # It watches as soon as it is shown something.
                while monitor.running():
                    client.call("echo", {"message": "watched"}, 7)
                self.assertEqual((monitor.wait(), monitor.stderr()), (0, ""))
                self.assertEqual(monitor.stdout().count(b"\n"), 4)
                self.assertIn(sign, monitor.stdout())
                self.assertIn(b"watched", monitor.stdout())


class Record(Facing):
    def test_what_was_recorded_is_sent_again_and_the_answers_are_compared(self):
        server, _ = self.bridge()
        record = self.nc("record", self.path("seen"))
        # The first of them may pass before it watches.
        eventually(lambda: self.run_nc("call", "echo", "message=x") and "to_client" in self.recorded(), "a call in the record")
        record.signal(signal.SIGINT)
        self.assertEqual(record.wait(), 0)
        self.assertIn("messages recorded", record.stderr())
        self.assertEqual(stat.S_IMODE(os.stat(self.path("seen")).st_mode), 0o600)
        out, err = self.run_nc("replay", self.path("seen"))
        self.assertEqual(out, "")
        self.assertRegex(err, r"[1-9]\d* sent again, 0 responses changed")
        server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}}', method="tools/call")
        told = json.loads(self.run_nc("replay", "--json", self.path("seen"), code=1)[0])
        self.assertEqual([(one["params"]["name"], one["is"]) for one in told["different"]], [("echo", {"content": []})])

    def recorded(self):
        try:
            with open(self.path("seen"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""


if __name__ == "__main__":
    main()
