"""The installed units in a booted systemd; started by run.sh."""

import os
import pathlib
import re
import signal
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, Client, call, eventually, main  # noqa: E402
from harness.pages import block_of  # noqa: E402
from machine import Machine  # noqa: E402

SERVICE = "mcp-bridged.service"
SOCKET = "mcp-bridged.socket"


class Booted(Case):
    def setUp(self):
        super().setUp()
        self.machine = Machine()
        self.server = self.upstream()
        self.dropped_in = []
        self.configure(f"MCP_SERVER_URL={self.server.url}\nMCP_BRIDGE_GRACE=300ms\n")
        self.since = self.machine.cursor()

    def tearDown(self):
        for client in self.clients:
            client.close()
        self.machine.run("systemctl", "stop", "mcp-bridged*.socket", "mcp-bridged*.service")
        for path in self.dropped_in:
            self.machine.remove(path)
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("systemctl", "reset-failed", code=None)
        super().tearDown()

    def configure(self, text, instance="mcp-bridged"):
        self.place(f"/etc/mcp-bridged/{instance}.env", text, 0o640)

    def place(self, path, text, mode=0o644):
        self.dropped_in.append(path)
        self.machine.write(path, text, mode)

    def drop_in(self, text, unit=SERVICE):
        self.place(f"/etc/systemd/system/{unit}.d/test.conf", text)
        self.machine.run("systemctl", "daemon-reload")

    def listen(self, unit=SOCKET):
        self.machine.run("systemctl", "start", unit)

    def connect(self, name="mcp"):
        client = Client(self.machine.path(f"/run/mcp-bridged/{name}.sock"))
        self.clients.append(client)
        return client

    def served(self):
        """One call by a client that comes now; returns the daemon's pid."""
        self.assertIn("result", self.connect().call("echo", {"message": "hello"}))
        return self.pid()

    def pid(self, unit=SERVICE):
        return int(self.machine.show(unit, "MainPID"))

    def becomes(self, name, value, unit=SERVICE):
        last = []

        def there():
            last[:] = [self.machine.show(unit, name)]
            return last == [value]

        eventually(there, lambda: f"{name}={value}, it is {last}: {self.journal()}")

    def journal(self):
        return [entry["MESSAGE"] for entry in self.machine.journal(SERVICE, self.since)]

    def starts(self, unit=SERVICE):
        """How many daemons have written into the journal; each has something to say."""
        self.machine.run("journalctl", "--sync")
        return len({entry["_PID"] for entry in self.machine.journal(unit, self.since)})

    def kill(self, number):
        self.machine.run("systemctl", "kill", "--kill-whom=main", f"--signal={number}", SERVICE)


class Start(Booted):
    def test_the_first_client_starts_it(self):
        self.listen()
        self.assertEqual(self.machine.show(SERVICE, "ActiveState"), "inactive")
        self.served()
        self.assertEqual(self.machine.show(SERVICE, "ActiveState"), "active")
        self.assertTrue(any("on /run/mcp-bridged/mcp.sock" in line for line in self.journal()), self.journal())

    def test_the_status_tells_how_the_upstream_is(self):
        self.listen()
        self.served()
        self.becomes("StatusText", f"In session with {self.server.url}")

    def test_its_socket_is_for_its_group(self):
        self.listen()
        status = self.machine.run("stat", "-c", "%a %U %G", "/run/mcp-bridged/mcp.sock").strip()
        self.assertEqual(status, "660 mcp-bridged mcp-bridged")
        self.machine.run("mcp-nc", "call", "echo", "message=as root")
        self.machine.run("setpriv", "--reuid", 4711, "--regid", 4711, "--clear-groups", "mcp-nc", "status", code=3)
        group = self.machine.run("id", "-g", "mcp-bridged").strip()
        # No PrivateUsers: the daemon knows its clients.
        status = self.machine.run("setpriv", "--reuid", 4711, "--regid", 4711, "--groups", group, "mcp-nc", "status", "--json")
        self.assertIn('"uid":4711', status.replace(" ", ""))

    def test_a_token_in_the_credential_store_is_sent(self):
        self.place("/etc/credstore/mcp-bridged.token", "from-the-store\n", 0o600)
        self.listen()
        self.served()
        sent = self.server.log("tools/call", wait=1)[0]["headers"].get("authorization")
        self.assertEqual(sent, "Bearer from-the-store")
        self.assertNotIn("from-the-store", "\n".join(self.journal()))

    def test_the_running_systemd_finds_it_as_little_exposed(self):
        for unit, threshold in ((SERVICE, 12), ("mcp-bridged@one.service", 12), ("mcp-bridged-child@one.service", 15),
                                ("mcp-bridged-handler@one.service", 15)):
            self.machine.run("systemd-analyze", "security", f"--threshold={threshold}", unit)


class WrongConfiguration(Booted):
    # One for each exit status; {} is a port that is taken.
    WRONG = {64: "MCP_SERVER_URL=nonsense\n", 78: "MCP_BRIDGE_CONFIG=/etc/mcp-bridged/missing.json\n",
             73: "MCP_SERVER_URL=http://127.0.0.1:9/mcp\nMCP_BRIDGE_HTTP=127.0.0.1:{}\n"}

    def right(self):
        return f"MCP_SERVER_URL={self.server.url}\nMCP_BRIDGE_GRACE=300ms\n"

    def assert_refused(self, answer, id, unit, status):
        self.assert_error(answer, -32000, id, kind="shutdown", delivered="no")
        self.assertIn(f"exit status {status}", answer["error"]["message"])
        self.assertIn(f"journalctl -u {unit}", answer["error"]["message"])

    def test_without_a_client_it_is_tried_once(self):
        self.configure(self.WRONG[64])
        self.machine.run("systemctl", "start", SERVICE, code=None)
        self.becomes("ActiveState", "failed")
        self.assertEqual(self.machine.show(SERVICE, "ExecMainStatus"), "64")
        self.assertEqual(self.starts(), 1)

    def test_a_client_starts_it_once_and_is_told_and_the_next_is_served_after_the_correction(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            for status, text in self.WRONG.items():
                with self.subTest(status):
                    self.machine.run("systemctl", "reset-failed")
                    self.since = self.machine.cursor()
                    self.configure(text.format(taken.getsockname()[1]))
                    self.listen()
                    self.assert_refused(self.connect().call("echo", {"message": "x"}, id=status), status, SERVICE, status)
                    self.becomes("ActiveState", "failed")
                    self.assertEqual(self.starts(), 1)
                    self.assertEqual(self.machine.show(SOCKET, "SubState"), "listening")
                    self.configure(self.right())
                    self.served()
                    self.machine.run("systemctl", "stop", SOCKET, SERVICE)

    def test_who_calls_by_mcp_nc_is_pointed_to_the_journal_and_finds_the_reason_there(self):
        self.configure(self.WRONG[64])
        self.listen()
        self.assertIn(f"journalctl -u {SERVICE}", self.machine.run("sh", "-c", "mcp-nc call echo message=x 2>&1; true"))
        self.assertTrue(any("--url" in line for line in self.journal()), self.journal())

    def test_given_up_after_too_many_clients_the_socket_works_at_once_when_it_is_restarted(self):
        self.configure(self.WRONG[64])
        self.listen()

        def given_up():
            try:
                client = self.connect()
            except OSError:
                return self.machine.show(SOCKET, "ActiveState") == "failed"
            client.rest()
            return False

        eventually(given_up, lambda: f"systemd gives the socket up: {self.machine.show(SOCKET, 'Result')}")
        self.configure(self.right())
        self.machine.run("systemctl", "restart", SOCKET)
        self.served()

    def test_an_instance_without_its_file_is_told_too(self):
        for unit in ("mcp-bridged@none", "mcp-bridged-child@none"):
            with self.subTest(unit):
                self.listen(unit + ".socket")
                answer = self.connect("none").call("echo", {"message": "x"}, id=1)
                status = self.machine.show(unit + ".service", "ExecMainStatus")
                self.assert_refused(answer, 1, unit + ".service", status)
                self.assertIn(status, ("64", "78"))
                self.becomes("ActiveState", "failed", unit + ".service")
                self.assertEqual(self.starts(unit + ".service"), 1)
                self.machine.run("systemctl", "stop", unit + ".socket")
        log = [entry["MESSAGE"] for entry in self.machine.journal("mcp-bridged-child@none.service", self.since)]
        self.assertTrue(any("there is no /etc/mcp-bridged/INSTANCE.json" in line for line in log), log)


class Readme(Booted):
    def commands(self, heading, last):
        """The block below a heading, up to the line that begins like this."""
        block = block_of("systemd/README.md", heading).text
        self.assertIn("\n" + last, block)
        return block.replace("https://example.com/mcp", self.server.url), last

    def test_its_commands_for_a_service_work_as_they_are_printed(self):
        commands, last = self.commands("The service", "mcp-nc tools")
        self.machine.run("sh", "-ec", "id alice >/dev/null 2>&1 || useradd alice; mkdir -p /root/as-printed")
        self.machine.write("/root/as-printed/token", "as-printed\n", 0o600)
        self.dropped_in += ["/etc/credstore/mcp-bridged.token", "/root/as-printed/token"]
        self.machine.run("sh", "-ec", "cd /root/as-printed\n" + commands.split("\n" + last)[0])
        # As alice, after a new login.
        self.assertIn("echo", self.machine.run("runuser", "-l", "alice", "-c", last))
        self.assertEqual(self.server.log("tools/list", wait=1)[0]["headers"].get("authorization"), "Bearer as-printed")
        self.machine.run("systemctl", "--quiet", "disable", SOCKET)


class Failure(Booted):
    def test_killed_it_is_started_again_and_who_connects_meanwhile_waits(self):
        self.listen()
        first = self.served()
        inode = os.stat(self.machine.path("/run/mcp-bridged/mcp.sock")).st_ino
        self.kill(9)
        # Now there may be nobody: the socket holds them.
        self.assertNotEqual(self.served(), first)
        self.assertEqual(os.stat(self.machine.path("/run/mcp-bridged/mcp.sock")).st_ino, inode)
        self.becomes("NRestarts", "1")

    def test_one_that_hangs_is_ended_by_the_watchdog_and_started_again(self):
        self.drop_in("[Service]\nWatchdogSec=1s\n")
        self.listen()
        first = self.served()
        self.kill(signal.SIGSTOP)
        self.becomes("NRestarts", "1")
        self.assertNotEqual(self.served(), first)
        log = self.machine.run("journalctl", "-u", SERVICE, "--after-cursor", self.since, "-o", "cat")
        self.assertRegex(log, "(?i)watchdog")

    def test_one_that_works_is_left_alone_by_the_watchdog(self):
        self.drop_in("[Service]\nWatchdogSec=500ms\n")
        self.listen()
        first = self.served()
        # Longer than the watchdog's time, without a client's doing.
        self.assertIn("result", self.connect().call("slow", {"steps": 1, "delayMs": 1500}))
        self.assertEqual(self.pid(), first)
        self.assertEqual(self.machine.show(SERVICE, "NRestarts"), "0")


class Change(Booted):
    def test_reload_takes_the_options_again_and_keeps_the_session(self):
        options = "/etc/mcp-bridged/test.conf"
        self.place(options, "keepalive = 50s\n")
        self.configure(f"MCP_SERVER_URL={self.server.url}\nMCP_BRIDGE_OPTIONS_FILE={options}\n")
        self.listen()
        first = self.served()
        client = self.connect()
        client.call("echo", {"message": "before"})
        self.place(options, "keepalive = 40s\n")
        self.machine.run("systemctl", "reload", SERVICE)
        eventually(lambda: any("were read again" in line for line in self.journal()), lambda: str(self.journal()))
        self.becomes("SubState", "running")
        self.assertEqual(client.call("echo", {"message": "after"}, id=2)["id"], 2)
        self.assertEqual(self.pid(), first)
        self.assertEqual(self.server.state()["initializes"], 1)

    def test_restart_keeps_the_socket_and_nobody_is_refused(self):
        self.listen()
        first = self.served()
        done = threading.Event()
        restart = threading.Thread(target=lambda: (self.machine.run("systemctl", "restart", SERVICE), done.set()))
        restart.start()
        answered = 0
        while not done.is_set() or answered == 0:
            client = Client(self.machine.path("/run/mcp-bridged/mcp.sock"))  # a refusal would throw
            client.close()
            answered += 1
        restart.join()
        self.assertNotEqual(self.served(), first)

    def test_stop_answers_what_is_under_way_and_leaves_the_session_to_the_next_daemon(self):
        self.listen()
        self.served()
        client = self.connect()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, "long"))
        self.server.log("tools/call", wait=2)
        self.machine.run("systemctl", "stop", SOCKET, SERVICE)
        answer = client.answer("long")
        self.assert_error(answer, -32000, "long", kind="shutdown")
        client.rest()
        self.assertEqual(self.machine.show(SERVICE, "Result"), "success")
        state = self.server.state()
        self.assertEqual((state["sessions"], state["deletes"]), (1, 0))

    def test_stopped_it_is_started_by_the_next_client(self):
        self.listen()
        first = self.served()
        self.machine.run("systemctl", "stop", SERVICE)
        self.assertNotEqual(self.served(), first)

    def test_a_grace_longer_than_systemds_patience_is_waited_for(self):
        self.drop_in("[Service]\nTimeoutStopSec=1s\n")
        self.configure(f"MCP_SERVER_URL={self.server.url}\nMCP_BRIDGE_GRACE=20s\n")
        self.listen()
        self.served()
        client = self.connect()
        client.send(call("slow", {"steps": 1, "delayMs": 2500}, "long"))
        self.server.log("tools/call", wait=2)
        self.machine.run("systemctl", "stop", SERVICE)
        self.assertIn("result", client.answer("long"))
        self.assertEqual(self.machine.show(SERVICE, "Result"), "success")


class Upgrade(Booted):
    """Another package, as far as the daemons know: dpkg replaces the program."""

    def install(self):
        return self.machine.run("dpkg", "-i", "--force-confold", "/root/bridge.deb")

    def test_daemons_and_instances_are_upgraded_in_place_and_keep_their_clients(self):
        self.configure(f"MCP_SERVER_URL={self.server.url}\n", "one")
        units = {"mcp": SERVICE, "one": "mcp-bridged@one.service"}
        clients, pids = {}, {}
        for name, unit in units.items():
            self.listen(unit.replace(".service", ".socket"))
            clients[name] = self.connect(name)
            self.assertIn("result", clients[name].call("echo", {"message": "before"}))
            pids[name] = self.pid(unit)
        for turn in (2, 3):
            out = self.install()
            for name, unit in units.items():
                self.assertIn(f"{unit}: upgraded in place", out)
                self.assertIn("result", clients[name].call("echo", {"message": "after"}, id=turn))
                self.assertEqual(self.pid(unit), pids[name])
                self.becomes("StatusText", f"In session with {self.server.url}", unit)
        self.assertEqual(self.server.state()["initializes"], 2)
        self.assertTrue(any("continues serving" in line for line in self.journal()), self.journal())

    def test_one_that_refuses_is_restarted(self):
        self.listen()
        first = self.served()
        # Not a folder in PATH: with that perl, and so adduser, does nothing.
        self.machine.run("chmod", "o+w", "/usr")
        try:
            out = self.install()
        finally:
            self.machine.run("chmod", "o-w", "/usr")
        self.assertIn(f"{SERVICE}: restarted, it could not be upgraded in place", out)
        self.assertNotEqual(self.served(), first)
        self.assertTrue(any("another user can replace it, at /usr" in line for line in self.journal()), self.journal())


class Journal(Booted):
    def test_lines_have_their_priorities(self):
        options = "/etc/mcp-bridged/test.conf"
        self.place(options, "keepalive = 50s\n")
        self.configure(f"MCP_SERVER_URL={self.server.url}\nMCP_BRIDGE_OPTIONS_FILE={options}\n")
        self.listen()
        self.served()
        if any(re.match(r"\d{4}-\d\d-\d\dT", line) for line in self.journal()):
            self.skipTest("this daemon's log does not know the journal")
        self.place(options, "ring = 7\n")
        self.machine.run("systemctl", "reload", SERVICE)
        self.place(options, "ring = many\n")
        self.machine.run("systemctl", "reload", SERVICE)
        eventually(lambda: any("nothing was changed" in line for line in self.journal()), lambda: str(self.journal()))
        priorities = {entry["MESSAGE"]: entry["PRIORITY"] for entry in self.machine.journal(SERVICE, self.since)}
        for words, priority in (("serves", "6"), ("changes only with a restart", "4"), ("nothing was changed", "3")):
            with self.subTest(words):
                self.assertEqual({p for line, p in priorities.items() if words in line}, {priority}, priorities)
        self.assertFalse([line for line in priorities if line.startswith("<")])


class Instances(Booted):
    def test_each_instance_has_a_daemon_and_a_socket_of_its_own(self):
        other = self.upstream()
        self.configure(f"MCP_SERVER_URL={self.server.url}\n", "one")
        self.configure(f"MCP_SERVER_URL={other.url}\n", "two")
        for name in ("one", "two"):
            self.listen(f"mcp-bridged@{name}.socket")
            self.assertIn("result", self.connect(name).call("echo", {"message": name}))
        for name, server in (("one", self.server), ("two", other)):
            self.assertIn(f'"{name}"', server.log("tools/call", wait=1)[0]["body"])
            self.assertEqual(server.state()["initializes"], 1)

    def test_the_token_of_an_instance_is_its_own(self):
        self.configure(f"MCP_SERVER_URL={self.server.url}\n", "one")
        self.place("/etc/credstore/mcp-bridged-one.token", "of-one\n", 0o600)
        self.listen("mcp-bridged@one.socket")
        self.connect("one").call("echo", {"message": "hello"})
        self.assertEqual(self.server.log("tools/call", wait=1)[0]["headers"].get("authorization"), "Bearer of-one")


CHILD = '''
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "child", "version": "1"}}
    else:
        with open(os.path.join(os.environ["HOME"], "kept"), "a") as file:
            file.write("x")
        result = {"pid": os.getpid(), "uid": os.getuid(), "home": os.environ["HOME"],
                  "secrets": [name for name in os.environ if name.startswith(("NOTIFY", "LISTEN", "WATCHDOG", "CRED"))]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


class Child(Booted):
    UNIT = "mcp-bridged-child@kid"

    def setUp(self):
        super().setUp()
        if "--config" not in self.machine.run("mcp-bridged", "--help"):
            self.skipTest("this daemon runs no programs yet")

    def test_a_program_is_served_with_a_user_and_a_home_of_its_own(self):
        self.place("/usr/local/lib/kid.py", CHILD)
        self.place("/etc/mcp-bridged/kid.json",
                   '{"mcpServers": {"kid": {"command": "python3", "args": ["/usr/local/lib/kid.py"]}}}', 0o600)
        self.listen(self.UNIT + ".socket")
        client = self.connect("kid")
        answer = client.request("tools/list")
        log = [entry["MESSAGE"] for entry in self.machine.journal(self.UNIT + ".service", self.since)]
        self.assertIn("result", answer, log)
        result = answer["result"]
        self.assertNotIn(result["uid"], (0, int(self.machine.run("id", "-u", "mcp-bridged"))))
        self.assertEqual((result["home"], result["secrets"]), ("/var/lib/mcp-bridged/kid", []))
        self.assertIn(f"{self.UNIT}.service: upgraded in place",
                      self.machine.run("dpkg", "-i", "--force-confold", "/root/bridge.deb"))
        self.assertEqual(client.request("tools/list", id=2)["result"]["pid"], result["pid"], "an upgrade keeps the program")
        self.machine.run("systemctl", "stop", self.UNIT + ".socket", self.UNIT + ".service")
        self.assertEqual(self.machine.show(self.UNIT + ".service", "Result"), "success")
        self.assertFalse(os.path.exists(self.machine.path(f"/proc/{result['pid']}")), "the program runs on")
        self.assertTrue(os.path.exists(self.machine.path("/var/lib/private/mcp-bridged/kid/kept")))


class Handler(Booted):
    UNIT = "mcp-bridged-handler@mcp.service"

    def test_it_handles_what_comes_with_a_user_of_its_own_and_ends_after_the_running_command(self):
        self.configure("HANDLER_COMMAND='echo \"$MCP_SEQ $MCP_URI $(id -u)\" >>handled; [ ! -e slow ] || { rm slow; sleep 2; echo late >>handled; }'\n"
                       "HANDLER_OPTIONS=demo://ticker --method notifications/resources/updated --retries 1 --dead dead\n",
                       "handler-mcp")
        self.listen()
        self.machine.run("systemctl", "start", self.UNIT)
        self.server.log("resources/subscribe", wait=1)
        update = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "demo://ticker"}}
        self.server.emit(update)
        home = "/var/lib/private/mcp-bridged/handler-mcp"
        handled = lambda: self.machine.run("cat", f"{home}/handled", code=None).splitlines()
        eventually(lambda: len(handled()) == 1, "it is handled")
        number, uri, user = handled()[0].split()
        self.assertEqual((number, uri), ("1", "demo://ticker"))
        self.assertNotIn(int(user), (0, int(self.machine.run("id", "-u", "mcp-bridged"))))
        self.machine.run("touch", f"{home}/slow")
        self.machine.run("systemctl", "restart", SERVICE)
        self.server.log("resources/subscribe", wait=2)
        self.server.emit(update)
        eventually(lambda: len(handled()) == 2, "the next one is begun")
        self.machine.run("systemctl", "stop", self.UNIT)
        self.assertEqual(handled()[2:], ["late"])
        self.assertEqual(self.machine.show(self.UNIT, "Result"), "success")


if __name__ == "__main__":
    main()
