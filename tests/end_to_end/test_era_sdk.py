"""The real SDKs of both eras, in both directions: over `mcp-nc` and over the HTTP frontend, before servers of Streamable HTTP and children."""

import json

from harness import eventually, main, text_of
from harness.binaries import binary
from harness.eras import Eras
from harness.face import Face
from harness.modern_client import ModernFace
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


def possible(mode):
    """The clients that understand the server without a bridge (the specification's matrix)."""
    return {"legacy": ["v1", "v2 legacy", "v2 auto"], "modern": ["v2 auto", "v2 pinned"], "dual": list(CLIENTS)}[mode]


class WithoutABridge(WithNode):
    """What the scripts and the scripted peers are worth: the same peers, directly."""

    def test_the_sdk_with_itself(self):
        for mode in SERVERS:
            with self.subTest(mode):
                expected = {client: "modern" if mode != "legacy" and client in MODERN else "legacy" for client in possible(mode)}
                self.assertEqual(self.eras(possible(mode), self.sdk_server(mode)), expected)
                self.assertEqual(self.eras(possible(mode), *self.child(mode)), expected)

    def test_its_clients_with_the_scripted_server(self):
        for mode in SERVERS:
            with self.subTest(mode):
                where = [(client, self.server(mode), stdio) for client in possible(mode) for stdio in (False, True)]
                self.run_tool([NODE, REAL / "era_scripted.mjs", json.dumps(
                    [[*CLIENTS[client], *(server.command if stdio else [server.url])] for client, server, stdio in where])])

    def test_its_servers_with_the_scripted_client(self):
        for mode in ("modern", "dual"):
            with self.subTest(mode):
                client = ModernFace(Face(self.sdk_server(mode).removesuffix("/mcp")))
                self.speakers.append(client)
                self.assertIn("result", client.ask("server/discover"))
                self.assertEqual(len(client.ask("tools/list")["result"]["tools"]), 4)
                self.assertEqual(text_of(client.call_tool("echo", {"message": "é"})), "é")
                client.call_tool("slow", {"steps": 2, "delayMs": 1}, token=7, log_level="debug")
                self.assertEqual(len(client.others), 4)
                for kind in ("elicitation", "sampling", "roots"):
                    request = client.made("tools/call", {"name": "ask", "arguments": {"kind": kind, "rounds": 2}},
                                          capabilities={"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
                    response = client.exchange(request)
                    for _ in range(2):
                        request, response = client.retry(request, response, capabilities={"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
                    self.assertEqual(len(json.loads(text_of(response))["answers"]), 2)
                listen = client.listen(toolsListChanged=True)
                client.call_tool("change", {"kind": "tools"})
                listen.next()
                listen.close()


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
    def test_clients_of_both_eras_at_the_same_time_share_it(self):
        for mode in SERVERS:
            with self.subTest(mode):
                daemon = self.start_daemon(self.sdk_server(mode), socket=mode)
                running = [self.run_process("client", [NODE, REAL / "era_client.mjs", named([client]), binary("MCP_NC"), "-s", daemon.socket_path])
                           for client in CLIENTS]
                for process in running:
                    self.assertEqual(process.wait(), 0, process.stderr())
                self.assertEqual(daemon.status()["upstream"]["reopened"], 0)

    def test_a_shell_and_the_verbs_work_with_each_server(self):
        for mode in SERVERS:
            with self.subTest(mode):
                self.start_daemon(self.sdk_server(mode), socket=mode)
                bare = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}\n'
                out, _ = self.run_nc(stdin=bare)
                self.assertEqual(text_of(json.loads(out.splitlines()[-1])), "hi")
                self.assertEqual(self.run_nc("call", "echo", "message=hi")[0], "hi\n")
                self.assertIn("echo", self.run_nc("tools")[0])
                self.assertIn("text of one", self.run_nc("read", "demo://one")[0])

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


if __name__ == "__main__":
    main()
