"""The socket's path: its mode, what is refused, what is replaced, what is removed (BEHAVIOUR, "Socket")."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import stat
import struct
import threading
import unittest

from harness import Case, Client, eventually, main
from harness.binaries import binary
from harness.other_user import NOBODY, become_nobody, connect_as, for_others, is_root

IN_CREATE, IN_MOVED_TO, IN_ATTRIB = 0x100, 0x80, 0x4


class Mode(Case):
    def test_it_is_never_another_than_was_asked_for_whatever_the_umask(self):
        server = self.upstream()
        for options, mode, umask in (((), 0o600, 0), (("--socket-mode", "0660"), 0o660, 0o177), (("--socket-mode", "0666"), 0o666, 0o022)):
            with self.subTest(mode):
                with Watched(self.folder, "s") as watched:
                    daemon = self.start_daemon(server, *options, before_exec=lambda: os.umask(umask))
                    self.assertEqual(stat.S_IMODE(os.stat(self.path("s")).st_mode), mode)
                    daemon.stop()
                self.assertEqual(watched.events, [IN_MOVED_TO])
                self.assertEqual(watched.modes - {mode}, set())

    @unittest.skipUnless(is_root(), "only root can give a socket away")
    def test_owner_and_group(self):
        self.bridge("--socket-owner", str(NOBODY), "--socket-group", "nogroup", "--socket-mode", "0600")
        found = os.stat(self.path("s"))
        self.assertEqual((found.st_uid, found.st_gid), (NOBODY, NOBODY))
        os.chmod(self.folder, 0o755)
        self.assertEqual(connect_as(self.path("s")), "served")
        self.assertEqual(connect_as(self.path("s"), uid=NOBODY - 1), "PermissionError")

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_a_user_who_may_not_give_it_away_is_told_so(self):
        os.chmod(self.folder, 0o777)
        program = for_others(self, binary("MCP_BRIDGED"))
        for option, advice in (("--socket-owner", "only root can use --socket-owner for another user"),
                               ("--socket-group", "the daemon's user must be in the group of --socket-group, or root")):
            said = self.start_daemon("http://127.0.0.1:9/mcp", option, "1", ready=False, before_exec=become_nobody,
                                     program=program).fails(73)
            self.assertIn("Operation not permitted; " + advice + "\n", said)


class Watched:
    """Every creation, rename and change of attributes of one name in a folder, and the modes seen by a tight loop."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.events, self.modes = [], set()
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        self.libc.inotify_add_watch(self.fd, self.folder.encode(), IN_CREATE | IN_MOVED_TO | IN_ATTRIB)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        path = os.path.join(self.folder, self.name)
        while not self.over.is_set():
            try:
                self.modes.add(stat.S_IMODE(os.stat(path).st_mode))
            except FileNotFoundError:
                pass

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        data = os.read(self.fd, 1 << 16)
        os.close(self.fd)
        while data:
            _, mask, _, length = struct.unpack("iIII", data[:16])
            name = data[16:16 + length].rstrip(b"\0").decode()
            if name == self.name:
                self.events.append(mask & (IN_CREATE | IN_MOVED_TO | IN_ATTRIB))
            data = data[16 + length:]
        # The removal at the end changes the link count.
        while self.events and self.events[-1] == IN_ATTRIB:
            self.events.pop()


class Taken(Case):
    """BEHAVIOUR, "Socket: a served socket is never stolen"."""

    def refused(self, code, *options, socket="s", url="http://127.0.0.1:9/mcp"):
        return self.start_daemon(url, *options, socket=socket, ready=False).fails(code)

    def test_a_live_socket_is_never_stolen_and_the_probe_takes_no_delivery(self):
        server, daemon = self.bridge("--handshake", "eager")
        server.emit({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
        self.untaken(1)
        self.assertIn(str(daemon.pid), self.refused(73))
        self.untaken(1)
        self.assertEqual(self.client(daemon).call("echo", {"message": "mine"})["id"], 1)

    def test_a_live_socket_of_another_program_is_not_stolen_either(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("s"))
            listener.listen()
            self.assertIn(str(os.getpid()), self.refused(73))
            self.assertTrue(os.path.exists(self.path("s")))

    def test_one_whose_accept_queue_is_full_is_alive(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("s"))
            listener.listen(0)
            waiting = []
            while True:
                client = socket.socket(socket.AF_UNIX)
                client.setblocking(False)
                waiting.append(client)
                try:
                    client.connect(self.path("s"))
                except BlockingIOError:
                    break
            self.refused(73)
            for client in waiting:
                client.close()

    def test_a_stale_socket_is_replaced(self):
        server, daemon = self.bridge()
        inode = os.stat(self.path("s")).st_ino
        daemon.crash()
        self.assertTrue(os.path.exists(self.path("s")))
        self.start_daemon(server, old_inode=inode)
        self.assertEqual(self.client().call("echo", {"message": "x"})["id"], 1)

    def test_what_is_no_socket_is_never_removed(self):
        for make in (lambda path: pathlib.Path(path).write_text("precious", encoding="ascii"), os.mkdir, os.mkfifo,
                     lambda path: os.symlink("elsewhere", path)):
            path = self.path("s")
            make(path)
            before = os.lstat(path)
            self.refused(73)
            self.assertEqual(os.lstat(path).st_ino, before.st_ino)
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_what_another_user_left_in_a_shared_folder_is_73_and_names_a_way_out(self):
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.chmod(self.folder, 0o755)

        def left(name):
            pathlib.Path(shared, name).touch(mode=0o600)

        for make in (lambda: left("s.lock"), lambda: socket.socket(socket.AF_UNIX).bind(shared + "/s"),
                     lambda: os.mkdir(shared + "/s.lock", 0o700)):
            make()
            said = self.start_daemon("http://127.0.0.1:9/mcp", socket=shared + "/s", ready=False, before_exec=become_nobody,
                                       program=for_others(self, binary("MCP_BRIDGED"))).fails(73)
            self.assertIn("--socket", said)
            self.assertIn("it belongs to uid 0", said)
            for name in os.listdir(shared):
                path = os.path.join(shared, name)
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_a_lock_file_that_another_user_left_does_not_keep_root_from_starting(self):
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        pathlib.Path(shared, "s.lock").touch(mode=0o600)
        os.chown(shared + "/s.lock", NOBODY, NOBODY)
        daemon = self.start_daemon(self.upstream(), socket=shared + "/s")
        self.assertEqual(self.client(daemon).call("echo", {"message": "x"})["id"], 1)

    def test_two_started_at_once_one_serves(self):
        server = self.upstream()
        daemons = [self.start_daemon(server, ready=False) for _ in range(5)]
        for daemon in daemons:
            daemon.exit_codes = (0, 73)
        eventually(lambda: sum(daemon.running() for daemon in daemons) == 1 and os.path.exists(self.path("s")), "one left")
        winner = next(daemon for daemon in daemons if daemon.running())
        self.assertEqual(winner.status()["pid"], winner.pid)
        for daemon in daemons:
            if daemon is not winner:
                self.assertEqual(daemon.wait(), 73, daemon.stderr())


class Removed(Case):
    def test_its_own_socket_is_removed_at_the_end(self):
        _, daemon = self.bridge()
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("s")], [])

    def test_anothers_socket_is_not(self):
        _, daemon = self.bridge()
        os.unlink(self.path("s"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("s"))
            listener.listen()
            self.assertEqual(daemon.terminate(), 0)
            self.assertTrue(os.path.exists(self.path("s")))


class Lost(Case):
    """The path that is not the daemon's any more while it runs."""

    def reached(self, path, old_inode=None):
        """That the daemon serves there, on another socket than before."""
        eventually(lambda: os.path.exists(path) and os.stat(path).st_ino != old_inode, f"{path} again")
        client = Client(path)
        self.assertEqual(client.call("echo", {"message": "x"})["id"], 1)
        client.close()

    def in_folder(self, name):
        os.makedirs(self.path(os.path.dirname(name)))
        return self.start_daemon(self.upstream(), socket=self.path(name))

    def test_a_socket_that_is_removed_is_published_again(self):
        _, daemon = self.bridge("--socket-mode", "0660")
        before = self.client()
        for times in (1, 2):
            inode = os.stat(self.path("s")).st_ino
            os.unlink(self.path("s"))
            self.reached(self.path("s"), inode)
            self.assertEqual(stat.S_IMODE(os.stat(self.path("s")).st_mode), 0o660)
            daemon.logged("clients cannot connect", times)
        os.chmod(self.path("s"), 0o600)
        self.assertEqual(before.call("echo", {"message": "x"})["id"], 1)
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("s")], [])
        self.assertEqual(daemon.stderr().count("clients cannot connect"), 2)

    def test_a_folder_that_is_moved_is_noticed_however_far_above(self):
        daemon = self.in_folder("a/b/c/s")
        before = self.client()
        for times, (moved, rest) in enumerate((("a/b/c", ""), ("a/b", "/c"), ("a", "/b/c")), 1):
            os.rename(self.path(moved), self.path(f"moved-{times}"))
            daemon.logged("clients cannot connect", times)
            self.reached(self.path(f"moved-{times}{rest}/s"))  # who knows where it went still reaches it
            os.makedirs(self.path("a/b/c"))
            self.reached(self.path("a/b/c/s"))
            daemon.logged("is published again", times)
        self.assertEqual(before.call("echo", {"message": "x"})["id"], 1)
        # One that is put in its place at once.
        os.makedirs(self.path("other/b/c"))
        os.rename(self.path("a"), self.path("moved"))
        os.rename(self.path("other"), self.path("a"))
        self.reached(self.path("a/b/c/s"))

    def test_a_folder_that_is_removed_is_awaited_and_so_is_one_above_that_goes_meanwhile(self):
        daemon = self.in_folder("a/b/c/s")
        shutil.rmtree(self.path("a/b/c"))
        daemon.logged("not published again: ")
        os.rename(self.path("a"), self.path("moved"))
        os.makedirs(self.path("a/b/c"))
        self.reached(self.path("a/b/c/s"))

    def test_what_has_taken_its_place_stays_and_is_waited_for(self):
        _, daemon = self.bridge()
        inode = os.stat(self.path("s")).st_ino
        precious = self.write("precious", "precious")
        os.replace(precious, self.path("s"))
        daemon.logged("exists and is not a socket")
        self.assertEqual(pathlib.Path(self.path("s")).read_text(encoding="ascii"), "precious")
        self.assertFalse(os.path.exists(self.path("s.lock")))
        os.unlink(self.path("s"))
        self.reached(self.path("s"), inode)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("other"))
            listener.listen()
            inode = os.stat(self.path("other")).st_ino
            os.rename(self.path("other"), self.path("s"))
            daemon.logged(f"is already served by process {os.getpid()}")
            self.assertEqual(os.stat(self.path("s")).st_ino, inode)
            os.unlink(self.path("s"))
        self.reached(self.path("s"))

    def test_nothing_is_done_while_it_cannot_be_published(self):
        daemon = self.in_folder("a/s")
        shutil.rmtree(self.path("a"))
        daemon.logged("not published again: ")
        used = daemon.cpu_seconds()
        for n in range(300):  # none of them is what is waited for
            self.write(f"other-{n}", "")
            os.unlink(self.path(f"other-{n}"))
        os.mkdir(self.path("a"))
        self.reached(self.path("a/s"))
        self.assertLess(daemon.cpu_seconds() - used, 1)
        self.assertEqual(daemon.stderr().count("not published again: "), 1)

    def test_a_daemon_that_has_lost_its_path_leaves_the_next_ones_lock(self):
        server, first = self.bridge()
        # Stopped, it does not notice: as if the second one had been quicker.
        os.kill(first.pid, signal.SIGSTOP)
        os.unlink(self.path("s"))
        os.unlink(self.path("s.lock"))
        second = self.start_daemon(server)
        os.kill(first.pid, signal.SIGCONT)
        first.logged("is already served by process")
        self.assertEqual(first.terminate(), 0)
        self.assertTrue(os.path.exists(self.path("s.lock")))
        self.assertTrue(os.path.exists(self.path("s")))
        os.unlink(self.path("s"))  # now only the lock says that it is served
        self.start_daemon(server, ready=False).fails(73)
        eventually(lambda: os.path.exists(self.path("s")), "the socket, published again")
        self.assertEqual(second.status()["pid"], second.pid)


class Elsewhere(Case):
    """The path that leads to another place than it did: what it leads through was moved or replaced."""

    reached, in_folder = Lost.reached, Lost.in_folder

    def linked(self, link, target, *folders):
        """A daemon whose socket's path leads through a link."""
        for folder in folders:
            os.makedirs(self.path(folder))
        os.symlink(target, self.path(link))
        return self.start_daemon(self.upstream(), socket=self.path(link + "/s"))

    def switch(self, link, target):
        os.symlink(target, self.path("new link"))
        os.replace(self.path("new link"), self.path(link))

    def test_a_link_that_a_link_leads_through_counts_too(self):
        for folder in ("one/x", "two/x", "links"):
            os.makedirs(self.path(folder))
        os.symlink("../one", self.path("links/inner"))
        daemon = self.linked("outer", "links/inner/../one/./x")
        self.switch("links/inner", "../two")  # the parts behind it lead where they did
        self.switch("outer", "links/inner/x")
        self.reached(self.path("two/x/s"))
        daemon.logged("is published again")
        self.assertEqual(daemon.stderr().count("clients cannot connect"), 1)
        inode = os.stat(self.path("one/x/s")).st_ino
        self.switch("links/inner", "../one")
        self.reached(self.path("one/x/s"), inode)
        os.rename(self.path("one"), self.path("moved"))
        os.makedirs(self.path("one/x"))
        self.reached(self.path("one/x/s"))

    def test_a_link_to_the_same_place_changes_nothing_and_is_watched_from_then_on(self):
        daemon = self.linked("current", "one", "one", "two")
        inode = os.stat(self.path("one/s")).st_ino
        self.switch("current", self.path("one"))
        self.reached(self.path("current/s"))
        self.assertEqual(os.stat(self.path("one/s")).st_ino, inode)
        eventually(lambda: self.link_is_watched(daemon, "current"), "the new link watched")
        self.switch("current", "two")
        self.reached(self.path("two/s"))
        self.assertEqual(daemon.stderr().count("clients cannot connect"), 1)

    def link_is_watched(self, daemon, name):
        sought = f"ino:{os.lstat(self.path(name)).st_ino:x} "
        for descriptor in os.listdir(f"/proc/{daemon.pid}/fdinfo"):
            try:
                if sought in pathlib.Path(f"/proc/{daemon.pid}/fdinfo/{descriptor}").read_text(encoding="ascii"):
                    return True
            except OSError:
                pass  # closed meanwhile
        return False

    def test_what_a_link_leads_to_is_awaited(self):
        daemon = self.linked("current", "one", "one", "far")
        inode = os.stat(self.path("one/s")).st_ino
        self.switch("current", "far/two/three")
        daemon.logged("not published again: ")
        os.makedirs(self.path("far/two/three"))
        self.reached(self.path("current/s"))
        self.switch("current", "current")  # leads nowhere at all
        daemon.logged("not published again: ", 2)
        self.switch("current", "one")
        self.reached(self.path("current/s"), inode)

    def test_what_else_happens_in_the_folders_around_it_wakes_nobody(self):
        daemon = self.in_folder("a/b/s")
        self.reached(self.path("a/b/s"))
        switches = "voluntary_ctxt_switches"
        before = daemon.status_field(switches)
        for _ in range(500):
            for folder in ("", "a/", "a/b/"):
                other = self.write(f"{folder}other", "")
                os.rename(other, other + "-moved")
                os.unlink(other + "-moved")
        self.assertLess(daemon.status_field(switches) - before, 20)

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_a_folder_that_the_daemon_may_not_read_is_noticed_too(self):
        os.chmod(self.folder, 0o755)

        def make():
            os.makedirs(self.path("unread/a"))
            os.chown(self.path("unread/a"), NOBODY, NOBODY)
            os.chmod(self.path("unread"), 0o711)

        make()
        daemon = self.start_daemon(self.upstream(), socket=self.path("unread/a/s"), before_exec=become_nobody,
                                   program=for_others(self, binary("MCP_BRIDGED")))
        os.rename(self.path("unread"), self.path("moved"))
        daemon.logged("clients cannot connect")
        make()
        self.assertNotIn("cannot be watched", daemon.stderr())


class Activation(Case):
    def test_the_passed_socket_is_served_and_never_unlinked(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("s"))
            listener.listen(16)
            inode = os.stat(self.path("s")).st_ino
            process = self.start_activated(listener, "--url", self.upstream().url)
        client = Client(self.path("s"))
        self.assertEqual(client.call("echo", {"message": "x"})["id"], 1)
        client.close()
        self.assertIn(f"on {self.path('s')};", process.logged("serves"))
        process.signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0, process.stderr())
        self.assertEqual(os.stat(self.path("s")).st_ino, inode)
        self.assertEqual(sum("lock" in name for name in os.listdir(self.folder)), 0)


if __name__ == "__main__":
    main()
