"""daemon/TROUBLESHOOTING.md: each symptom in its tables is provoked here, and is printed as it stands there."""

import os
import pathlib
import re
import resource
import socket
import subprocess
import unittest

from harness import Case, main, patient
from harness.binaries import ROOT, binary
from harness.document import shown_as
from harness.frames import initialize
from harness.old_sse_server import OldSseServer
from harness.other_user import become_nobody, for_others, is_root, listen_as_nobody
from harness.pages import text_of_page
from harness.sandbox import CALLS, forbidding
from harness.scripted_server import Last, ScriptedServer


def symptoms():
    """The first piece of code of each row of the tables; a row without one describes what is not printed."""
    first = re.findall(r"(?m)^\| `([^`]+)`.*? \| .* \| .* \|$", text_of_page("daemon/TROUBLESHOOTING.md"))
    assert len(first) > 15
    return first


class Symptoms(Case):
    def shows(self, symptom, text):
        self.assertIn(symptom, symptoms())
        self.assertRegex(text, shown_as(symptom).removesuffix("$"))

    def test_each_is_provoked_in_this_file(self):
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        for symptom in symptoms():
            self.assertIn(f'"{symptom}"', source)

    def nc_says(self, symptom, *words, code, socket=None):
        self.shows(symptom, self.run_nc(*words, code=code, socket=socket)[1])

    def daemon_says(self, symptom, *words, code):
        self.shows(symptom, self.run_tool([binary("MCP_BRIDGED"), *words], code=code)[1])

    def test_a_message_of_mcp_nc_without_a_connection_has_its_row(self):
        source = (pathlib.Path(ROOT) / "client/connection/connect.cpp").read_text(encoding="utf-8")
        table = re.search(r"(?s)explanations\[\] = \{\n(.*?)\n\};", source)[1]
        texts = [re.sub(r"\{.*?\}", "x", "".join(re.findall('"([^"]*)"', row)[1:])) for row in table.split("\n    {")[:-1]]
        texts = [text for text in texts if text]  # the last row is any other error; a full queue is only waited for
        self.assertGreater(len(texts), 7)
        page = text_of_page("daemon/TROUBLESHOOTING.md").split("## Between mcp-nc and the daemon")[1].split("\n## ")[0]
        rows = [row for row in symptoms() if f"`{row}`" in page]
        for text in texts:
            with self.subTest(text):
                self.assertEqual(len([row for row in rows if re.search(shown_as(row).removesuffix("$"), text)]), 1)
        self.assertEqual(len(rows), len(texts))  # two texts have one row; one row is about who serves

    def test_no_socket(self):
        self.nc_says("cannot connect to …: no such file", "status", code=3, socket=self.path("none"))

    def test_a_dead_socket(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(self.path("dead"))
        self.nc_says("cannot connect to …: connection refused", "status", code=3, socket=self.path("dead"))

    def test_what_is_no_daemon_s_socket(self):
        self.nc_says("cannot connect to …: not a …socket", "status", code=3, socket=self.write("file", "x"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
            one.bind(self.path("datagrams"))
            self.nc_says("cannot connect to …: not a …socket", "status", code=3, socket=self.path("datagrams"))

    @unittest.skipIf(CALLS is None, "the numbers of the system calls are unknown here")
    def test_where_sockets_are_forbidden(self):
        done = subprocess.run([binary("MCP_NC"), "-s", self.path("s"), "status"], preexec_fn=forbidding("socket"), timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.shows("cannot connect to …: this sandbox forbids Unix sockets", done.stderr)

    def test_folders_of_pipes(self):
        self.nc_says("cannot connect to …: mcp-bridged --pipes has not made this folder", "status", code=3, socket=self.folder)
        self.start_daemon(self.upstream(), "--pipes", self.path("pipes")).crash()
        self.nc_says("cannot connect to …: no daemon has opened the pipes", "status", code=3, socket=self.path("pipes"))
        if is_root():
            os.chmod(self.folder, 0o755)
            done = subprocess.run([for_others(self, binary("MCP_NC")), "-s", self.path("pipes"), "status"],
                                  preexec_fn=become_nobody, timeout=60, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False)
            self.shows("cannot make pipes in …", done.stderr)
        else:
            os.chmod(self.path("pipes"), 0o500)
            self.nc_says("cannot make pipes in …", "status", code=3, socket=self.path("pipes"))

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_not_allowed(self):
        self.bridge()
        os.chmod(self.folder, 0o755)

        done = subprocess.run([for_others(self, binary("MCP_NC")), "-s", self.path("s"), "status"], preexec_fn=become_nobody,
                              timeout=60, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.shows("cannot connect to …: permission denied", done.stderr)

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_another_user_serves_it(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o1777)
        with listen_as_nobody(self.path("open/s")) as stranger:
            try:
                self.nc_says("is served by …: neither root, nor you, nor the owner of …", "status", code=3, socket=self.path("open/s"))
            finally:
                stranger.kill()

    def test_the_way_to_the_server(self):
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
        for name, symptom, url in (("connect", "cannot reach …: Failed to connect", f"http://127.0.0.1:{port}/mcp"),
                                  ("dns", "Could not resolve host", "http://no-such-host.invalid/mcp")):
            with self.subTest(symptom):
                self.start_daemon(url, "--connect-wait", patient(1000), socket=name)
                self.nc_says(symptom, "call", "echo", "message=x", code=4)

    def test_an_address_that_is_wrong(self):
        plain = ScriptedServer()
        self.addCleanup(plain.close)
        for name, symptom, url in (("tls", "cannot reach https://…", plain.url.replace("http:", "https:")), ("http", "HTTP 404", self.upstream().url + "x")):
            with self.subTest(symptom):
                self.start_daemon(url, socket=name)
                self.nc_says(symptom, "call", "echo", "message=x", code=4)

    def test_no_token(self):
        _, daemon = self.bridge(upstream=("--token", "secret"))
        self.nc_says("HTTP 401", "call", "echo", "message=x", code=4)
        daemon.logged("to which no token was sent")

    def test_a_server_of_another_kind_than_the_url_says(self):
        old = OldSseServer()
        self.addCleanup(old.stop)
        old.endpoint = "http://127.0.0.2:1/message"
        servers = [("old", "HTTP+SSE, but names an endpoint of another origin", old.url)]
        for said in (b"\x15\x03\x01\x00\x02\x02\x46", b""):  # an alert; many TLS servers just close
            tls = ScriptedServer(lambda _, said=said: Last(said))
            self.addCleanup(tls.close)
            servers.append((f"tls{len(said)}", "does this port speak TLS", tls.url))
        for name, symptom, url in servers:
            with self.subTest(name):
                self.start_daemon(url, "--connect-wait", patient(1000), socket=name)
                self.nc_says(symptom, "call", "echo", "message=x", code=4)

    def test_what_becomes_of_a_request(self):
        server, _ = self.bridge("--request-timeout", "500ms", "--max-frame", "100K")
        self.run_nc("call", "echo", "message=x")
        server.fault({"closeBeforeAnswer": True}, method="tools/call")
        self.nc_says("broke before the answer was complete", "call", "echo", "message=x", code=4)
        server.fault({"hang": True}, method="tools/call")
        self.nc_says("the upstream sent nothing for longer than --request-timeout", "call", "echo", "message=x", code=124)
        self.nc_says("is over the limit of … bytes (--max-frame)", "call", "big", "bytes:=200000", code=4)
        self.nc_says("timed out after … (-w); the request was cancelled", "-w", "100ms", "call", "slow", code=124)
        out, _ = self.run_nc("call", "ask", code=1)
        self.shows("Method not found: no client of the bridge answers it", out)

    def test_a_local_server_that_ends_at_its_start(self):
        self.start_daemon(None, "--", "sh", "-c", "echo no such account >&2; exit 3")
        self.nc_says("ended with exit code … before it answered anything; its stderr ends with: …", "tools", code=4)

    def test_a_client_that_declares_more_than_the_first_one(self):
        _, daemon = self.bridge()
        self.client().send(initialize(0)).answer(0)
        self.client().send(initialize(1, {"sampling": {}})).answer(1)
        self.shows("but the session was opened without", daemon.logged("a client declares sampling"))

    def test_nobody_has_initialized(self):
        self.bridge("--handshake", "client")
        self.nc_says("session not initialized", "call", "echo", "message=x", code=1)

    def test_dropped_notifications(self):
        server, _ = self.bridge("--ring", "2")
        self.run_nc("call", "echo", "message=x")
        server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, count=5)
        self.newest(5)
        self.shows("dropped", self.run_nc("status")[0])
        self.assertRegex(self.run_nc("status")[0], r"(?m)^  dropped +\[.*\]  3 of 5")

    def test_a_start_that_fails(self):
        server, _ = self.bridge()
        to_server = ("--url", server.url)
        self.daemon_says("no upstream: set MCP_SERVER_URL or --url", code=64)
        self.daemon_says("cannot run …: there is no such program", "--", "no-such-program", code=69)
        self.daemon_says("is already served by process …", *to_server, "--socket", self.path("s"), code=73)
        self.daemon_says("cannot open …: No such file or directory; name another socket", *to_server, "--socket", self.path("none/s"), code=73)
        self.daemon_says("not a duration", *to_server, "--ring-ttl", "soon", code=64)

    def test_a_folder_of_the_state_that_cannot_be_had(self):
        server = self.upstream()
        self.start_daemon(server, "--state-dir", self.path("state"))
        words = ("--url", server.url, "--socket", self.path("other"), "--state-dir")
        self.daemon_says("is used by process …", *words, self.path("state"), code=73)
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        self.daemon_says("other users can write to it", *words, self.path("open"), code=73)
        os.symlink(self.path("state"), self.path("link"))
        self.daemon_says("is not a folder (symbolic links are not followed)", *words, self.path("link"), code=73)

    def test_a_state_that_is_not_gone_on_with(self):
        log = os.path.join(self.path("state"), "state")
        daemon = self.start_daemon(self.upstream(), "--state-dir", self.path("state"), socket="1")
        daemon.stop()
        daemon = self.start_daemon(self.upstream(), "--state-dir", self.path("state"), socket="2")
        self.shows("is not used: it belongs to another upstream", daemon.stderr())
        for number, (at, byte, symptom) in enumerate(
                [(30, b"\xee", "is not used: it is damaged"),
                 (8, b"\xee", "is not used: a newer mcp-bridged wrote it"),
                 (8, b"\x01", "is not used: an older mcp-bridged wrote it")]):
            daemon.stop()
            with open(log, "r+b") as file:
                file.seek(at)
                file.write(byte)
            daemon = self.start_daemon(self.upstream(), "--state-dir", self.path("state"), socket=f"3{number}")
            self.shows(symptom, daemon.stderr())

    def test_a_state_that_cannot_be_written(self):
        server, daemon = self.bridge("--handshake", "eager", "--state-dir", self.path("state"))
        message = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}'
        server.emit(message % ("x" * 100_000))
        self.newest(1)
        resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (64 << 10, resource.RLIM_INFINITY))
        server.emit(message % "y")
        daemon.status_when(lambda status: not status["state"]["durable"], "a state that is not written")
        self.shows("state not saved: …; changes from now on are lost", daemon.stderr())


if __name__ == "__main__":
    main()
