"""What other processes of the same user learn of the daemon from the kernel: nothing secret."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest

from harness import eventually, main
from harness.binaries import binary, is_sanitized, release_binary
from harness.local_server import LocalServer, children
from harness.other_user import NOBODY, become_nobody, for_others, is_root
from harness.upgrading import Upgrading

SECRETS = {"MCP_SERVER_TOKEN": "t0p-s3cret", "MCP_BRIDGE_HEADER": "X-Key: k3y", "MCP_INPUT_PAT": "p4t", "OTHER": "0ther"}


def shown(pid, file):
    with open(f"/proc/{pid}/{file}", "rb") as found:
        return found.read()


class Secrets(LocalServer):
    def watcher(self, daemon):
        return next(iter(eventually(lambda: children(daemon.pid), "the watcher")))

    def assert_no_secret_in(self, data):
        for secret in SECRETS.values():
            self.assertNotIn(secret.encode(), data)

    def test_neither_environment_nor_arguments_show_values(self):
        daemon = self.start_daemon(None, "--header", "Authorization: Bearer h34der", "--input=pat=1nput", "--",
                                   *self.wayward(), environment=SECRETS)
        for pid in (daemon.pid, self.watcher(daemon)):
            environment = shown(pid, "environ")
            self.assert_no_secret_in(environment)
            self.assertIn(b"MCP_SERVER_TOKEN=", environment)  # that it was set may be known
            arguments = shown(pid, "cmdline")
            self.assertNotIn(b"h34der", arguments)
            self.assertNotIn(b"1nput", arguments)
            self.assertIn(b"--header\0Authorization:***", arguments)

    def test_a_url_shows_neither_user_nor_query(self):
        daemon = self.start_daemon("http://user:passw0rd@127.0.0.1:9/mcp?key=qu3ry")
        self.assertRegex(shown(daemon.pid, "cmdline"), rb"http://\*+@127.0.0.1:9/mcp\?\*+\0")

    def test_what_was_blotted_out_is_still_known(self):
        server = self.upstream()
        daemon = self.start_daemon(server, "--header", "X-Given: given", environment=SECRETS)
        client = self.client()
        for _ in range(2):
            client.call("echo", {"message": "x"})
            headers = server.log("tools/call")[-1]["headers"]
            self.assertEqual((headers["authorization"], headers["x-given"]), ("Bearer t0p-s3cret", "given"))
            daemon.signal(signal.SIGHUP)
            daemon.logged("were read again")

    def test_a_child_is_given_the_limit_of_file_descriptors_that_the_daemon_was_given(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 1024))
        daemon = self.start_daemon(None, "--", "sh", "-c", f"ulimit -Sn > {self.path('child')}; exec cat", before_exec=few)
        eventually(lambda: os.path.exists(self.path("child")) and os.path.getsize(self.path("child")), "the child's word")
        self.assertIn(b"Max open files            336                  1024 ", shown(daemon.pid, "limits"))
        daemon.stop()
        daemon = self.start_daemon(self.upstream(), "--token-command", f"ulimit -Sn > {self.path('command')}; echo t",
                                   before_exec=few)
        self.client().call("echo", {"message": "x"})
        for name in ("child", "command"):
            with open(self.path(name), encoding="ascii") as file:
                self.assertEqual(file.read(), "128\n")


@unittest.skipUnless(is_root(), "only root can become another user, and all of this is the user's own otherwise")
class AnotherUser(LocalServer):
    """The daemon as most run it: as a user without rights, in a process that others may not look into."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)
        self.theirs = {"before_exec": become_nobody, "program": for_others(self, binary("MCP_BRIDGED"))}

    def look(self, *options):
        """What a command run by the daemon finds in its /proc folder."""
        look = "for f in environ mem fd cwd; do cat /proc/$PPID/$f 2>&1 >/dev/null; ls /proc/$PPID/$f/ 2>&1 >/dev/null; done"
        self.start_daemon(self.upstream(), "--token-command", f"({look}) > {self.path('seen')}; echo t", *options,
                          **self.theirs)
        self.client().call("echo", {"message": "x"})
        with open(self.path("seen"), encoding="utf-8") as file:
            return file.read()

    def test_its_own_processes_cannot_look_into_it(self):
        seen = self.look()
        for name in ("environ", "mem", "fd", "cwd"):
            self.assertRegex(seen, rf"/proc/\d+/{name}[/']*: Permission denied")

    def test_with_debuggable_they_can(self):
        self.assertNotIn("Permission denied", self.look("--debuggable").replace("environ/", ""))

    def test_it_knows_itself(self):
        daemon = self.start_daemon(None, "--", "cat", **self.theirs)
        metrics = daemon.metrics()
        for name in ("mcp_bridge_resident_memory_bytes", "mcp_bridge_open_fds"):
            self.assertGreater(metrics.sum(name), 0)
        self.assertEqual(os.stat(f"/proc/{daemon.pid}/environ").st_uid, 0)
        status = daemon.status()
        self.assertTrue(all(client["command"] for client in status["clients"]), status["clients"])

    def test_its_watcher_finds_what_has_left_the_childs_group(self):
        daemon = self.start_daemon(None, "--", "sh", "-c", f"setsid sleep 600 & echo $! > {self.path('pid')}; exec cat",
                                   **self.theirs)
        eventually(lambda: os.path.exists(self.path("pid")) and os.path.getsize(self.path("pid")), "the process")
        with open(self.path("pid"), encoding="ascii") as file:
            pid = int(file.read())
        daemon.crash()
        self.assert_gone(pid)


# Opens whatever it can of the process and of what that starts, as often as it can, and says what it got.
_ATTACK = r"""
import ctypes, os, sys
pid, uid, stop = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.setgroups([]); os.setgid(uid); os.setuid(uid)
libc = ctypes.CDLL(None, use_errno=True)
def got(what, pid):
    print(what, pid, open(f"/proc/{pid}/comm").read().strip(), flush=True)
def attack(pid):
    for name in os.listdir(f"/proc/{pid}/fd"):
        got("fd " + name + " " + os.readlink(f"/proc/{pid}/fd/{name}"), pid)
while not os.path.exists(stop):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            attacked = [pid, *map(int, file.read().split())]
    except OSError:
        attacked = [pid]
    for one in attacked:
        for attempt in (lambda: attack(one), lambda: (open(f"/proc/{one}/mem", "rb").close(), got("mem", one)),
                        lambda: (open(f"/proc/{one}/environ", "rb").read(), got("environ", one))):
            try:
                attempt()
            except OSError:
                pass
        if libc.ptrace(0x4206, one, None, None) == 0:  # PTRACE_SEIZE
            got("ptrace", one)
        pidfd = libc.syscall(434, one, 0)
        if pidfd >= 0:
            for number in range(3, 24):
                if libc.syscall(438, pidfd, number, 0) >= 0:
                    got("pidfd_getfd", one)
            os.close(pidfd)
"""


@unittest.skipUnless(is_root(), "only root can become another user")
class UpgradeUnderAttack(Upgrading):
    """A process of the daemon's user that tries all the time to look into what an upgrade starts."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("own"))
        os.chown(self.path("own"), NOBODY, NOBODY)
        os.remove(self.program)
        # Looking for leaks, a sanitizer lets its process be inspected.
        program = release_binary("MCP_BRIDGED")
        if is_sanitized(program):
            self.skipTest("there is no program without sanitizers")
        shutil.copy(program, self.program)

    def test_nothing_can_be_opened_at_any_moment(self):
        server = self.upstream()
        daemon = self.start_daemon(server, "--token-command", "echo t0p-s3cret", socket=self.path("own/s"),
                                   before_exec=become_nobody)
        client = self.client()
        self.assert_still_serves(client)
        stop = self.path("own/stop")
        attacker = subprocess.Popen([sys.executable, "-c", _ATTACK, str(daemon.pid), str(NOBODY), stop],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(attacker.kill)
        self.upgrade(12)
        self.assert_still_serves(client)
        open(stop, "w", encoding="ascii").close()
        self.assertEqual(attacker.communicate()[0][:1500], "")
        self.assertEqual(attacker.returncode, 0)


if __name__ == "__main__":
    main()
