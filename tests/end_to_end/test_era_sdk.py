"""The real SDKs of both eras, in both directions: over `mcp-nc` and over the HTTP frontend, before servers of Streamable HTTP and children."""

import json

from harness import eventually, main
from harness.binaries import binary
from harness.eras import Eras
from harness.facing import Facing
from harness.node import HERE, NODE, Node

REAL = HERE / "real"
SERVERS = {"legacy": ("era_server_v1.mjs",), "modern": ("era_server.mjs", "modern"), "dual": ("era_server.mjs", "dual")}
# (SDK, mode of versionNegotiation)
CLIENTS = {"v1": ("v1", "legacy"), "v2 legacy": ("v2", "legacy"), "v2 auto": ("v2", "auto"), "v2 pinned": ("v2", "pinned")}
MODERN = ("v2 auto", "v2 pinned")


class WithNode(Node, Eras):
    def sdk_server(self, mode):
        """Its address."""
        script, *rest = SERVERS[mode]
        process = self.run_process(f"{mode}-server", [NODE, REAL / script, *rest, "http"])
        return process.stdout_line()

    def child(self, mode):
        script, *rest = SERVERS[mode]
        return [NODE, str(REAL / script), *rest, "stdio"]

    def eras(self, clients, *where):
        """Which era each says of itself at its end, where it got all it asked for: one process, since to load the SDKs is most of the work."""
        out, _ = self.run_tool([NODE, REAL / "era_client.mjs", named(clients), *where])
        eras = [json.loads(line)["era"] for line in out.splitlines() if line.startswith('{"era"')]
        self.assertEqual(len(eras), len(clients), out)
        return dict(zip(clients, eras))


def named(clients):
    return ",".join(":".join(CLIENTS[client]) for client in clients)


class ThroughTheBridge(WithNode):
    """Every client with every server: it does not see which it is, and era is what the client asked for."""

    def runs(self, mode, *where):
        self.assertEqual(self.eras(CLIENTS, *where), {client: "modern" if client in MODERN else "legacy" for client in CLIENTS})
        upstream = self.default_daemon.status()["upstream"]
        # A child speaks one era: that of the first client, which is a legacy one.
        of_both = "legacy" if upstream["kind"] == "stdio" else "both"
        self.assertEqual(upstream["eras"], of_both if mode == "dual" else mode)

    def on_the_socket(self, mode, upstream, *options):
        self.start_daemon(upstream, "--connect-wait", "60s", *options)
        self.runs(mode, binary("MCP_NC"), "-s", self.default_daemon.socket_path)

    def over_the_face(self, mode, upstream, *options):
        self.runs(mode, self.face_before(upstream, "--connect-wait", "60s", *options).url + "/mcp")


def add(mode, way, to_child):
    def test(self):
        upstream, options = (None, ["--", *self.child(mode)]) if to_child else (self.sdk_server(mode), [])
        getattr(self, way)(mode, upstream, *options)
    setattr(ThroughTheBridge, f"test_a_{mode}_server_{'that_is_a_child_' if to_child else ''}{way}", test)


for each in SERVERS:
    for carrier in ("on_the_socket", "over_the_face"):
        for local in (False, True):
            add(each, carrier, local)


class OneSession(WithNode):
    def test_a_server_that_is_started_anew_as_another_one(self):
        """The address stays, the revision does not: the same client process goes on."""
        url = self.sdk_server("legacy")
        port = url.rsplit(":", 1)[1].partition("/")[0]
        self.start_daemon(url)
        self.assertEqual(self.run_nc("call", "echo", "message=old")[0], "old\n")
        self.processes[0].kill()
        script, *rest = SERVERS["modern"]
        process = self.run_process("modern-server", [NODE, REAL / script, *rest, "http"], environment={"PORT": port})
        eventually(lambda: process.stdout(), "the other server")
        self.assertEqual(self.run_nc("call", "echo", "message=new")[0], "new\n")
        self.assertEqual(self.era_of_upstream(), "modern")


class OverTheHttpFrontend(Node, Facing):
    def test_each_version_over_each_transport(self):
        for version in ("v1", "v2"):
            for transport, path in (("http", "/mcp"), ("sse", "/sse")):
                with self.subTest(version, transport=transport):
                    server, face = self.face()
                    self.run_script("over_http", version, transport, face.url + path)
                    self.assertEqual(server.state()["initializes"], 1)
                    self.clients_of_kind("http", 0)
                    self.default_daemon.stop()

    def test_the_description_of_the_api_is_valid(self):
        _, face = self.face()
        document = self.write("openapi.json", face.get("/openapi.json").body.decode())
        self.assertEqual(self.run_script("validate_openapi", document), "3.1")


if __name__ == "__main__":
    main()
