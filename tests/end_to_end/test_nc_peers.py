"""Whom mcp-nc talks to, what it says first, and what it tells when it cannot (trusted peers, permissions, hang-ups)."""

import os
import subprocess
import unittest

from harness import Case, main
from harness.binaries import binary
from harness.other_user import NOBODY, become_nobody, for_others, is_root, listen_as_nobody


@unittest.skipUnless(is_root(), "another user is needed")
class Stranger(Case):
    """Another user serves the socket."""

    def serve(self, mode, owner=0, path=None):
        folder = self.path("shared")
        os.mkdir(folder)
        os.chown(folder, owner, owner)
        os.chmod(folder, 0o777)  # for the stranger, who is no owner
        os.chmod(self.folder, 0o755)
        path = path or folder + "/s"
        self.stranger = listen_as_nobody(path)
        os.chmod(folder, mode)
        return path

    def tearDown(self):
        self.stranger.kill()
        self.stranger.wait()
        self.stranger.stdout.close()
        super().tearDown()

    def refused(self, path, *verb):
        out, err = self.run_nc(*(verb or ("status",)), socket=path, code=3)
        self.assertEqual((out, err.count("\n")), ("", 1), err)
        self.assertIn(f"uid {NOBODY}", err)
        self.assertIn(f"--peer {NOBODY}", err)
        return err

    def served(self, path, *options, environment=None):
        self.run_nc(*options, "status", "--json", socket=path, environment=environment)
        while True:
            said = self.stranger.stdout.readline()
            if said != b"got 0\n":
                return self.assertRegex(said, rb"got [1-9]")

    def test_in_a_folder_that_others_may_write_it_is_sent_nothing(self):
        path = self.serve(0o1777)
        for verb in (("status",), ("call", "echo", "secret=x"), ("listen", "--count", "1"), ("notify", "x")):
            self.assertIn(os.path.dirname(path), self.refused(path, *verb))
            self.assertEqual(self.stranger.stdout.readline(), b"got 0\n")
        err = self.run_tool([binary("MCP_NC"), "-s", path], code=3, stdin='{"secret":1}\n')[1]  # the relay
        self.assertIn("--peer", err)
        self.assertEqual(self.stranger.stdout.readline(), b"got 0\n")
        os.chmod(os.path.dirname(path), 0o0770)  # a group is others too
        self.refused(path)

    def test_a_link_in_a_folder_of_mine_does_not_hide_it(self):
        path = self.serve(0o1777)
        os.symlink(path, self.path("link"))
        self.refused(self.path("link"))

    def test_a_link_in_the_middle_of_a_chain_that_anybody_can_put_elsewhere_is_judged(self):
        path = self.serve(0o755)  # where it lies, nobody else may write
        os.chown(os.path.dirname(path), NOBODY, NOBODY)
        shared = self.path("middle")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.symlink(path, shared + "/s")
        os.symlink("middle/s", self.path("link"))
        self.assertIn(shared, self.refused(self.path("link")))

    def test_an_abstract_name_can_be_anybodys(self):
        name = "@mcp-e2e-" + self.marker
        self.refused(self.serve(0o755, path=name))
        self.served(name, "--peer", str(NOBODY))

    def test_who_is_named_is_trusted_and_so_is_who_serves_where_others_may_not_write(self):
        path = self.serve(0o1777)
        self.served(path, "--peer", str(NOBODY))
        self.served(path, environment={"MCP_NC_PEER": "any"})
        err = self.run_nc("--peer", str(NOBODY - 1), "status", socket=path, code=3)[1]
        self.assertIn(f"uid {NOBODY}", err)
        os.chmod(os.path.dirname(path), 0o755)
        self.served(path)

    def test_the_folders_owner_is_trusted(self):
        self.served(self.serve(0o1777, owner=NOBODY))


class Trusted(Case):
    def test_ones_own_daemon_is_trusted_in_a_folder_that_others_may_write(self):
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        daemon = self.start_daemon(self.upstream(), socket=shared + "/s")
        self.assertEqual(self.run_nc("call", "echo", "message=hi", daemon=daemon)[0], "hi\n")

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_root_is_trusted_by_everybody(self):
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.chmod(self.folder, 0o755)
        daemon = self.start_daemon(self.upstream(), "--socket-mode", "0666", socket=shared + "/s")
        self.assertEqual(self.as_nobody("call", "echo", "message=hi", path=daemon.socket_path)[:2], (0, "hi\n"))

    def as_nobody(self, *arguments, path):
        done = subprocess.run([for_others(self, binary("MCP_NC")), "-s", path, *arguments], preexec_fn=become_nobody,
                              timeout=60, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_without_permission_it_says_what_would_give_it(self):
        os.chmod(self.folder, 0o755)
        self.bridge()
        for group, mode, hint in ((100, 0o660, "adduser nobody users"), (54321, 0o660, "--group-add 54321"),
                                  (100, 0o600, "--socket-mode 0660")):
            os.chown(self.path("s"), 0, group)
            os.chmod(self.path("s"), mode)
            code, out, err = self.as_nobody("status", path=self.path("s"))
            self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)
            self.assertIn(hint, err)
        os.chmod(self.folder, 0o700)
        self.assertIn("folder", self.as_nobody("status", path=self.path("s"))[2])


class FirstWords(Case):
    """What the daemon is told before a request."""

    def test_what_is_no_socket_is_called_that(self):
        self.assertIn("not a socket", self.run_nc("tools", socket=self.write("file", "x"), code=3)[1])

    def said(self, *arguments, terminal):
        """The messages that the daemon is sent, as one that watches it sees them."""
        watcher = self.client()
        watcher.request("bridge/monitor", {}, "m")
        if terminal:
            self.terminal(*arguments).wait()
        else:
            self.run_nc(*arguments)
        self.client().request("bridge/jobs", {}, "end")
        said = []
        while True:
            passed = watcher.line()["params"]
            if passed["passage"] == "from_client":
                if passed["message"].get("id") == "end":
                    return said
                said.append(passed["message"])

    def test_at_a_terminal_it_declares_that_questions_are_answered_and_else_it_does_not(self):
        self.bridge()
        for verb in (["call", "echo", "message=x"], ["read", "demo://readme"]):
            first, *others = self.said(*verb, terminal=True)
            self.assertEqual((first["method"], first["params"]), ("bridge/answers", {"methods": ["elicitation/create"]}))
            self.assertNotIn("id", first)
            self.assertNotIn("bridge/answers", [one["method"] for one in others])
        for verb, terminal, methods in ((["call", "--raw", "echo", "message=x"], False, ["tools/call"]),
                                        (["status"], True, ["bridge/peek", "bridge/status"]), (["notify", "x/y"], True, ["x/y"])):
            self.assertEqual([one["method"] for one in self.said(*verb, terminal=terminal)], methods)

    def test_a_daemon_that_hangs_up_has_a_log(self):
        self.bridge("--allow-uid", str(os.getuid() + 1))
        out, err = self.run_nc("call", "echo", code=3)
        self.assertEqual((out, err.count("\n")), ("", 1), err)
        self.assertIn("its log", err)
        self.assertIn(self.path("s"), err)


if __name__ == "__main__":
    main()
