"""The SDK's own clients, old and new, over the HTTP frontend."""


from harness import main
from harness.facing import Facing
from harness.node import Node


class SdkClients(Node, Facing):
    def run_client(self, version, transport, path, *options, upstream=()):
        server, face = self.face(*options, upstream=upstream)
        self.run_script("over_http", version, transport, face.url + path)
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
        self.assertEqual(self.run_script("validate_openapi", document), "3.1")


if __name__ == "__main__":
    main()
