"""The SDK's own clients, old and new, over the HTTP frontend."""

import os

from harness import eventually, main
from harness.binaries import ROOT
from harness.facing import Facing

HERE = ROOT / "tests" / "end_to_end"


class WithNode(Facing):
    def setUp(self):
        super().setUp()
        self.assertTrue((HERE / "node_modules" / "@modelcontextprotocol" / "client").exists(),
                        f"npm ci in {HERE} first, or bash tests/run.sh")
        self.node = os.environ.get("MCP_E2E_NODE") or "node"


class SdkClients(WithNode):
    def run_client(self, version, transport, path, *options, upstream=()):
        server, face = self.face(*options, upstream=upstream)
        self.run_tool([self.node, HERE / "real" / "over_http.mjs", version, transport, face.url + path])
        self.assertEqual(server.state()["initializes"], 1)
        self.clients_of_kind("http", 0)

    def test_version_1_over_streamable_http(self):
        self.run_client("v1", "http", "/mcp")

    def test_version_2_over_streamable_http(self):
        self.run_client("v2", "http", "/mcp")

    def test_version_1_over_http_and_sse(self):
        self.run_client("v1", "sse", "/sse")

    def test_version_2_over_http_and_sse(self):
        self.run_client("v2", "sse", "/sse")

    def test_the_alias_serves_as_well(self):
        self.run_client("v1", "http", "/messages")

    def test_an_upstream_that_answers_by_streams_only(self):
        self.run_client("v1", "http", "/mcp", upstream=("--answers", "sse", "--event-ids"))

    def test_the_description_of_the_api_is_valid(self):
        _, face = self.face()
        document = self.write("openapi.json", face.get("/openapi.json").body.decode())
        out, _ = self.run_tool([self.node, HERE / "real" / "validate_openapi.mjs", document])
        self.assertEqual(out.strip(), "3.1")


class Everything(WithNode):
    """The same scripts as over `mcp-nc`, before a server that knows nothing of the bridge."""

    def start(self):
        everything = HERE / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
        server = self.run_process("everything", [self.node, everything, "streamableHttp"],
                                  environment={"PORT": "0", "NODE_OPTIONS": f"--require {HERE}/real/loopback_and_hurry.cjs"})
        eventually(lambda: b"bound " in server.stdout(), lambda: "server-everything: " + server.stderr())
        return self.face_before(server.stdout().decode().split("bound ")[1].split()[0])

    def run_script(self, name):
        self.run_tool([self.node, HERE / "real" / f"{name}.mjs", self.start().url + "/mcp"])

    def test_one_client_does_everything(self):
        self.run_script("one_client")

    def test_sampling_elicitation_and_roots_are_answered_by_the_client(self):
        self.run_script("answers_requests")

    def test_two_clients_at_the_same_time_with_equal_ids(self):
        self.run_script("two_clients")


if __name__ == "__main__":
    main()
