"""The SDK's own clients, old and new, over the HTTP face."""

import os

from harness import main
from harness.binaries import ROOT
from harness.facing import Facing

HERE = ROOT / "tests" / "end_to_end"


class SdkClients(Facing):
    def setUp(self):
        super().setUp()
        self.assertTrue((HERE / "node_modules" / "@modelcontextprotocol" / "client").exists(),
                        f"npm ci in {HERE} first, or bash tests/run.sh")
        self.node = os.environ.get("MCP_E2E_NODE") or "node"

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


if __name__ == "__main__":
    main()
