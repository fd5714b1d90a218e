"""mcp-nc where a socket is forbidden, and over pipes (daemon/PIPES.md; TROUBLESHOOTING, "Between mcp-nc and the daemon")."""

import errno
import json
import os
import signal
import subprocess
import threading
import time
import unittest

import test_nc_verbs
from harness import Case, eventually, main
from harness.binaries import binary
from harness.other_user import NOBODY, become_nobody, for_others, is_root
from harness.sandbox import CALLS, forbidding
from test_doors import OverPipes


class Verbs(OverPipes, test_nc_verbs.Verbs):
    pass


class Waiting(OverPipes, test_nc_verbs.Waiting):
    pass


class Pipes(Case):
    def served(self, *options, **how):
        self.server = self.upstream()
        daemon = self.start_daemon(self.server, "--pipes", *options, **how)
        eventually(lambda: os.path.exists(self.pipes + "/.lock"), "the folder")
        return daemon

    @property
    def pipes(self):
        return self.path("s.pipes")

    def entries(self):
        return sorted(os.listdir(self.pipes))

    def begun(self, *arguments, **how):
        """mcp-nc, running."""
        process = subprocess.Popen([binary("MCP_NC"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **how)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def said(self, process, code, stdin=None):
        out, err = process.communicate(stdin, timeout=60)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def dead(self):
        """A folder whose daemon was killed."""
        self.served().crash()
        os.unlink(self.path("s"))


class Relay(Pipes):
    def test_all_bytes_pass_and_the_end_of_the_input_is_a_half_close(self):
        self.served()
        ids = range(40)
        lines = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call",
                                    "params": {"name": "echo", "arguments": {"message": "x" * 20_000}}}) + "\n" for n in ids)
        out, err = self.said(self.begun("-s", self.pipes), 0, lines)
        self.assertEqual(err, "")
        self.assertEqual(sorted(json.loads(line)["id"] for line in out.splitlines()), list(ids))
        self.assertEqual(self.entries(), [".lock"])

    def test_the_end_of_the_daemon_is_seen(self):
        daemon = self.served()
        relay = self.begun("-s", self.pipes)
        relay.stdin.write('{"jsonrpc":"2.0","id":1,"method":"bridge/status"}\n')
        relay.stdin.flush()
        self.assertIn('"id":1', relay.stdout.readline())
        daemon.terminate()
        self.assertIn("the daemon closed the connection", self.said(relay, 3)[1])

    def test_the_time_limit_holds(self):
        self.served()
        line = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":100000}}}\n'
        self.assertIn("timed out", self.said(self.begun("-s", self.pipes, "-w", "300ms"), 124, line)[1])

    def test_a_closed_output_ends_it(self):
        self.served()
        relay = self.begun("-s", self.pipes)
        relay.stdout.close()
        relay.stdout = open(os.devnull, encoding="utf-8")
        eventually(lambda: relay.poll() == 0, "the end")


@unittest.skipIf(CALLS is None, "the numbers of the system calls are unknown here")
class Forbidden(Pipes):
    def sandboxed(self, *arguments, call="socket", error=errno.EPERM, code=0, environment=(), path=None):
        process = self.begun("-s", path or self.path("s"), *arguments, preexec_fn=forbidding(call, error),
                             env={**os.environ, **dict(environment)})
        return self.said(process, code)

    def test_the_pipes_beside_the_socket_are_used_however_it_is_forbidden(self):
        self.served()
        for call in CALLS:
            for error in (errno.EPERM, errno.EACCES):
                with self.subTest(call, error=error):
                    self.assertEqual(self.sandboxed("call", "echo", "message=hi", call=call, error=error)[0], "hi\n")
        kinds = json.loads(self.sandboxed("status", "--json")[0])["clients"]
        self.assertIn("pipes", [one["kind"] for one in kinds])

    def test_a_variable_names_another_folder(self):
        self.start_daemon(self.upstream(), "--pipes", self.path("mine"))
        names = {"MCP_PIPES_PATH": self.path("mine")}
        self.assertEqual(self.sandboxed("call", "echo", "message=hi", environment=names)[0], "hi\n")
        names = {"MCP_PIPES_PATH": self.path("none")}
        self.assertIn(self.path("none"), self.sandboxed("status", code=3, environment=names)[1])

    def test_else_one_message_names_the_two_ways_out(self):
        self.bridge()
        for call in CALLS:
            out, err = self.sandboxed("call", "echo", "message=hi", call=call, code=3)
            self.assertEqual((out, err.count("\n")), ("", 1), err)
            for part in ("this sandbox forbids Unix sockets", "mcp-bridged --pipes", "settings"):
                self.assertIn(part, err)
            self.assertNotIn("may connect", err)
        said = self.sandboxed("status", "--json", code=3, path="@none")[0]
        self.assertIn("sandbox", json.loads(said)["error"]["message"])


class Unserved(Pipes):
    def test_a_folder_without_a_daemon_is_called_that_and_nothing_stays_in_it(self):
        self.dead()
        slow = self.begun("-s", self.pipes, "status")
        waiting = self.begun("-s", self.pipes, "--wait", "50s", "call", "echo", "message=hi")
        err = self.said(self.begun("-s", self.pipes, "-w", "200ms", "status"), 124)[1]
        self.assertIn("no daemon has opened the pipes", err)
        err = self.said(slow, 3)[1]
        self.assertIn("no daemon has opened the pipes; is mcp-bridged --pipes running", err)
        self.start_daemon(self.server, "--pipes", self.pipes, socket="other")
        self.assertEqual(self.said(waiting, 0)[0], "hi\n")
        self.assertEqual(self.entries(), [".lock"])

    def test_a_signal_leaves_no_names(self):
        self.dead()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process = self.begun("-s", self.pipes, "status")
            eventually(lambda: any(name.endswith(".in") and name[0] != "." for name in self.entries()), "its pipes")
            process.send_signal(number)
            self.said(process, -number)
            self.assertEqual(self.entries(), [".lock"])

    def test_a_folder_of_no_daemon_is_not_written_to(self):
        os.mkdir(self.path("folder"))
        err = self.said(self.begun("-s", self.path("folder"), "status"), 3)[1]
        self.assertIn("mcp-bridged --pipes has not made this folder", err)
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_wait_for_jobs_comes_back_after_a_restart(self):
        daemon = self.served("--state-dir", self.path("state"))
        job = self.said(self.begun("-s", self.pipes, "call", "--detach", "slow", "steps=1000"), 0)[0].strip()
        waiting = self.begun("-s", self.pipes, "wait", job)
        eventually(lambda: any(one["kind"] == "pipes" for one in daemon.status()["clients"]), "the waiting one")
        daemon.crash()
        waiting.stderr.readline()
        self.start_daemon(self.server, "--pipes", "--state-dir", self.path("state"))
        waiting.communicate(timeout=60)
        self.assertNotEqual(waiting.returncode, 3)  # the rest is what became of the call


@unittest.skipUnless(is_root(), "other users are needed")
class OtherUsers(Pipes):
    def as_nobody(self, *arguments, path, code=0):
        return self.said(subprocess.Popen([for_others(self, binary("MCP_NC")), "-s", path, *arguments], text=True,
                                          preexec_fn=become_nobody, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE), code)

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)

    def test_they_need_a_folder_that_is_open_to_them(self):
        self.served()
        err = self.as_nobody("status", path=self.pipes, code=3)[1]
        self.assertIn("cannot make pipes in", err)
        self.assertIn("--pipes-mode 1733", err)
        err = self.as_nobody("status", path=self.path("s"), code=3)[1]
        self.assertIn("may connect", err)  # the socket's mode says it, not a sandbox

    def test_each_comes_as_itself(self):
        daemon = self.served("--pipes-mode", "1733")
        self.assertEqual(self.as_nobody("call", "echo", "message=hi", path=self.pipes)[0], "hi\n")
        self.assertEqual(json.loads(self.as_nobody("whoami", "--json", path=self.pipes)[0])["uid"], NOBODY)
        # Where the socket is another's, the pipes beside it are used.
        self.assertEqual(self.as_nobody("call", "echo", "message=hi", path=self.path("s"))[0], "hi\n")
        self.assertEqual(self.entries(), [".lock"])
        self.assertEqual([one for one in daemon.status()["clients"] if one["kind"] == "pipes"], [])

    def test_a_stranger_s_folder_is_sent_nothing(self):
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        folder = shared + "/pipes"
        os.mkdir(folder)
        with open(folder + "/.lock", "w", encoding="utf-8"):
            pass
        for path in (folder, folder + "/.lock"):
            os.chown(path, NOBODY, NOBODY)
        os.chmod(folder, 0o1733)
        got = []

        def serve():
            ends = []
            while not ends:
                ends = [name for name in os.listdir(folder) if name.endswith(".in") and name[0] != "."]
                time.sleep(0.001)
            name = folder + "/" + ends[0].removesuffix(".in")
            reading, writing = os.open(name + ".in", os.O_RDONLY), os.open(name + ".out", os.O_WRONLY)
            os.unlink(name + ".in")
            os.unlink(name + ".out")
            got.append(os.read(reading, 100))
            os.close(reading)
            os.close(writing)

        server = threading.Thread(target=serve)
        server.start()
        err = self.said(self.begun("-s", folder, "call", "echo", "secret=x"), 3)[1]
        server.join()
        self.assertEqual(got, [b""])
        self.assertIn(f"--peer {NOBODY}", err)


if __name__ == "__main__":
    main()
