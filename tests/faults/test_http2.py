"""HTTP/2 behind nginx: one connection for many requests, and what its announced end does to those that are on their way
(BEHAVIOUR, "Streamable HTTP: connections")."""

from faults import FaultCase, call, main_parallel, request, text_of
from harness.certificates import Authority
from harness.nginx import Nginx


class Http2(FaultCase):
    def behind_nginx(self, *options, keepalive_requests=1000, upstream=()):
        authority = Authority(self.folder)
        self.server = self.upstream(*upstream)
        self.front = Nginx(self._name("nginx"), self.folder, self.marker, self.unused_port(), self.server.port,
                           authority.sign("nginx"), keepalive_requests)
        self.processes.append(self.front)
        return self.start_daemon(self.front, "--ca-file", authority.path, *options)

    def calls_at_once(self, client, count, first=0):
        ids = range(first, first + count)
        client.send(*[call("echo", {"message": f"m{id}"}, id) for id in ids])
        answers = self.collect(client, count)
        self.assertEqual({id: text_of(answer) for id, answer in answers.items()}, {id: f"m{id}" for id in ids})

    def seen(self):
        return sorted(body["params"]["arguments"]["message"] for body in self.server.bodies("tools/call"))

    def test_many_requests_at_once_share_a_connection(self):
        self.behind_nginx("--http2")
        client = self.client()
        client.fence()
        self.server.streams(1)
        self.server.forget_log()
        self.calls_at_once(client, 64)
        requests = self.front.requests()
        self.assertEqual({protocol for _, protocol, _, _ in requests}, {"HTTP/2.0"})
        self.assertEqual(len({connection for connection, _, _, _ in requests}), 1)
        self.assertEqual(self.seen(), sorted(f"m{id}" for id in range(64)))

    def test_a_connection_that_ends_after_ten_requests_loses_none(self):
        self.behind_nginx("--http2", keepalive_requests=10)
        client = self.client()
        client.fence()
        self.server.forget_log()
        for id in range(100):
            self.assertEqual(text_of(client.call("echo", {"message": f"m{id}"}, id)), f"m{id}")
        self.assertEqual(self.seen(), sorted(f"m{id}" for id in range(100)))
        self.assertGreaterEqual(len({connection for connection, _, _, _ in self.front.requests()}), 10)

    def test_a_call_on_its_way_when_one_ends_is_answered_or_told_as_perhaps_delivered_and_never_sent_twice(self):
        self.behind_nginx("--http2", keepalive_requests=10)
        client = self.client()
        client.fence()
        self.server.forget_log()
        answered = set()
        for first in range(0, 256, 32):
            client.send(*[call("echo", {"message": f"m{id}"}, id) for id in range(first, first + 32)])
            for id, answer in self.collect(client, 32).items():
                if "error" in answer:
                    self.assertEqual(answer["error"]["data"]["delivered"], "unknown", answer)
                else:
                    self.assertEqual(text_of(answer), f"m{id}")
                    answered.add(f"m{id}")
        seen = self.seen()
        self.assertEqual(len(seen), len(set(seen)), "sent twice")
        self.assertLessEqual(answered, set(seen))
        self.assertTrue(answered)

    def test_what_only_reads_is_sent_again_then(self):
        self.behind_nginx("--http2", keepalive_requests=10)
        client = self.client()
        client.fence()
        # So few at once that the connection after the one that ends has room for all that are sent again: what only
        # reads is sent again twice at most.
        for first in range(0, 160, 5):
            client.send(*[request("tools/list", {}, id) for id in range(first, first + 5)])
            for answer in self.collect(client, 5).values():
                self.assertIn("result", answer)

    def test_without_the_option_it_is_http_1_1(self):
        self.behind_nginx()
        self.client().fence()
        self.assertEqual({protocol for _, protocol, _, _ in self.front.requests()}, {"HTTP/1.1"})


if __name__ == "__main__":
    main_parallel(2)
