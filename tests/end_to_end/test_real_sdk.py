"""The SDK's client over `mcp-nc` against server-everything: peers that know nothing of the bridge."""

import os

from harness import Case, eventually, main
from harness.binaries import ROOT, binary

HERE = ROOT / "tests" / "end_to_end"
MODULES = HERE / "node_modules" / "@modelcontextprotocol"


class RealPeers(Case):
    def setUp(self):
        super().setUp()
        # A missing peer is a failure, not a skip: these are the tests that matter most.
        self.assertTrue((MODULES / "sdk").exists(), f"npm ci in {HERE} first, or bash tests/run.sh")
        self.node = os.environ.get("MCP_E2E_NODE") or "node"
        self.server = self.run_process("everything",
                                       [self.node, MODULES / "server-everything" / "dist" / "index.js", "streamableHttp"],
                                       environment={"PORT": "0", "NODE_OPTIONS": f"--require {HERE}/real/loopback_and_hurry.cjs"})
        eventually(lambda: b"bound " in self.server.stdout(), lambda: "server-everything: " + self.server.stderr())
        url = self.server.stdout().decode().split("bound ")[1].split()[0]
        self.daemon = self.start_daemon(url)

    def run_script(self, name, *arguments):
        out, _ = self.run_tool([self.node, HERE / "real" / f"{name}.mjs", binary("MCP_NC"), self.daemon.socket_path, *arguments])
        return out.strip()

    def sessions(self):
        return (self.server.stdout().decode() + self.server.stderr()).count("Session initialized with ID")

    def test_one_client_does_everything(self):
        self.run_script("one_client")
        self.assertEqual(self.sessions(), 1)

    def test_updates_while_nobody_is_connected_go_to_the_next_client(self):
        uri = self.run_script("subscribes_and_leaves")
        self.others(0)
        gathered = self.daemon.status_when(lambda status: status["ring"]["untaken"] >= 3, "three untaken")["ring"]["untaken"]
        self.run_script("collects_updates", uri, gathered - 1)
        self.assertEqual(self.daemon.status()["ring"]["dropped"], 0)
        self.assertEqual(self.sessions(), 1)

    def test_sampling_elicitation_and_roots_are_answered_by_the_client(self):
        self.run_script("answers_requests")

    def test_two_clients_at_the_same_time_with_equal_ids(self):
        self.run_script("two_clients")
        self.assertEqual(self.sessions(), 1)

    def test_ten_after_one_another_are_one_session(self):
        self.run_script("ten_clients")
        self.assertEqual(self.sessions(), 1)


if __name__ == "__main__":
    main()
