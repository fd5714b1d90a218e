"""A short exchange cut, or reset, at each of its bytes: the call is carried out once at most, and the next one is well."""

from faults import FaultCase, main_parallel, text_of

ANSWER = 220  # bytes: longer than the answer to a short call, so that the last ones are whole
REQUEST = 420  # likewise


class Truncated(FaultCase):
    def setUp(self):
        super().setUp()
        self.server = self.upstream()
        self.proxy_ = self.proxy(self.server.port)
        self.start_daemon(self.proxy_, "--no-server-stream", "--keepalive", "0")
        self.asker = self.client()
        self.asker.fence()
        self.server.forget_log()

    def each(self, length, spoil, mend):
        """At each byte: an error that says it is not known what became of it, or the answer. Returns who got it."""
        whole = []
        for at in range(length):
            with self.subTest(at):
                spoil(at)
                answer = self.asker.call("echo", {"message": f"m{at}"}, at)
                if "result" in answer:
                    self.assertEqual(text_of(answer), f"m{at}")
                    whole.append(at)
                else:
                    error = self.assert_error(answer, -32000, at, None, "unknown")
                    self.assertIn(error["data"]["kind"], ("closed", "malformed"))
                mend()
        return whole

    def seen(self):
        """By argument, how often."""
        return [body["params"]["arguments"]["message"] for body in self.server.bodies("tools/call")]

    def of_the_answer(self, reset):
        whole = self.each(ANSWER, lambda at: self.server.fault({"truncateAt": at, "thenReset": reset}, method="tools/call"),
                          lambda: None)
        # The end may meet the next request on its way (a reset may also overtake what was whole): then that one was
        # perhaps not seen, which its error says. Nothing is seen twice.
        seen = self.seen()
        self.assertGreater(whole[0], 100)
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual({f"m{at}" for at in whole}, set(seen))
        if not reset:
            self.assertGreater(len(seen), ANSWER * 0.9)
            self.assertGreater(len(whole), (ANSWER - whole[0]) * 0.9)
        self.assertEqual(self.asker.fence(), [])

    def test_the_answer_ends_at_each_byte(self):
        self.of_the_answer(reset=False)

    def test_the_answer_is_reset_at_each_byte(self):
        self.of_the_answer(reset=True)

    def of_the_request(self, command):
        whole = self.each(REQUEST, lambda at: self.proxy_.command(f"{command}-after-up {at} once"),
                          lambda: self.proxy_.command("pass"))
        # The upstream sees those alone that came through.
        self.assertEqual(self.seen(), [f"m{at}" for at in whole])
        self.assertEqual(whole, list(range(whole[0], REQUEST)))
        self.assertEqual(self.asker.fence(), [])

    def test_the_request_ends_at_each_byte(self):
        self.of_the_request("cut")

    def test_the_request_is_reset_at_each_byte(self):
        self.of_the_request("reset")

    def test_a_resumable_stream_ends_at_each_byte(self):
        server = self.upstream("--event-ids", "--answers", "sse", "--retry", "20")
        self.start_daemon(server, "--keepalive", "0", socket="s2")
        client = self.client()
        client.fence()
        server.forget_log()
        for at in range(330):
            with self.subTest(at):
                server.fault({"truncateAt": at}, method="tools/call")
                answer = client.call("echo", {"message": f"m{at}"}, at)
                if "result" in answer:
                    self.assertEqual(text_of(answer), f"m{at}")
                else:
                    # Before the first event id there is nothing to continue by.
                    self.assert_error(answer, -32000, at, "closed", "unknown")
        seen = [body["params"]["arguments"]["message"] for body in server.bodies("tools/call")]
        self.assertEqual(seen, [f"m{at}" for at in range(330)])
        self.assertEqual(client.fence(), [])


if __name__ == "__main__":
    main_parallel(4)
