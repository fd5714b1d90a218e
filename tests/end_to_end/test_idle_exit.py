"""--idle-exit: an unused daemon ends in order, but not while anything is under way (BEHAVIOUR, "Shutdown")."""

import time

from harness import Case, main


class IdleExit(Case):
    def ended(self, daemon):
        self.assertEqual(daemon.popen.wait(60), 0)
        daemon.logged("--idle-exit")

    def test_it_ends_in_order_once_its_last_client_has_left(self):
        server, daemon = self.bridge("--idle-exit", "300ms")
        client = self.client()
        client.call("echo", {"message": "x"}, 1)
        time.sleep(0.9)  # three times as long: a client is there
        self.assertEqual(client.call("echo", {"message": "still there"}, 2)["result"]["content"][0]["text"], "still there")
        client.close()
        self.ended(daemon)
        server.state(deletes=1)

    def test_a_job_that_has_ended_waits_to_be_collected(self):
        _, daemon = self.bridge("--idle-exit", "300ms", "--idle-keep", "1h")
        client = self.client()
        job = client.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}}, 1)["result"]["job"]
        daemon.status_when(lambda status: status["jobs"]["ended"] == 1, "the end of the job", client)
        client.close()
        time.sleep(0.9)  # three times as long: its result is there
        client = self.client()
        collected = client.request("bridge/collect", {"job": job}, 2)["result"]
        self.assertEqual(collected["state"], "completed")
        client.close()
        self.ended(daemon)
        self.assertNotIn("were not collected", daemon.stderr())

    def test_what_is_dropped_is_counted(self):
        server, daemon = self.bridge("--idle-exit", "300ms", "--idle-keep", "300ms")
        client = self.client()
        client.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}}, 1)
        daemon.status_when(lambda status: status["jobs"]["ended"] == 1, "the end of the job", client)
        server.streams(1)
        client.close()
        server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}')
        self.ended(daemon)
        daemon.logged("1 ended jobs were not collected and are lost")
        daemon.logged("1 notifications were not taken by any client and are lost")


if __name__ == "__main__":
    main()
