"""Who may connect (BEHAVIOUR, "Socket: path and permissions")."""

import os
import unittest

from harness import Case, main
from harness.other_user import NOBODY, connect_as, is_root

OTHER = NOBODY - 1


@unittest.skipUnless(is_root(), "another user is needed")
class Peers(Case):
    def open_to_all(self, *options):
        os.chmod(self.folder, 0o755)
        return self.bridge("--socket-mode", "0666", *options)

    def test_without_a_list_the_file_decides(self):
        self.open_to_all()
        self.assertEqual(connect_as(self.path("s")), "served")

    def test_allow_uid(self):
        _, daemon = self.open_to_all("--allow-uid", NOBODY)
        self.assertEqual(connect_as(self.path("s")), "served")
        self.assertEqual(connect_as(self.path("s"), uid=OTHER, gid=OTHER), "closed")
        self.assertIn(str(OTHER), daemon.logged(str(OTHER)))

    def test_allow_gid_is_the_primary_or_a_supplementary_group(self):
        self.open_to_all("--allow-gid", 12345)
        self.assertEqual(connect_as(self.path("s"), gid=12345), "served")
        self.assertEqual(connect_as(self.path("s"), groups=(7, 12345)), "served")
        self.assertEqual(connect_as(self.path("s"), groups=(7,)), "closed")


class Abstract(Case):
    def name(self):
        return "@mcp-e2e-" + self.marker

    def test_it_serves_and_leaves_no_file(self):
        server = self.upstream()
        daemon = self.start_daemon(server, socket=self.name())
        self.assertEqual(self.client(daemon).call("echo", {"message": "x"})["id"], 1)
        self.assertFalse(os.path.exists(self.name()))
        self.run_nc("call", "echo", "message=hi")

    def test_a_live_one_is_refused(self):
        server = self.upstream()
        first = self.start_daemon(server, socket=self.name())
        said = self.start_daemon(server, socket=self.name(), ready=False).fails(73)
        self.assertIn(str(first.pid), said)

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_another_user_is_closed_unless_allowed(self):
        for options, outcome in (((), "closed"), (("--allow-uid", NOBODY), "served"), (("--allow-gid", NOBODY), "served")):
            with self.subTest(options):
                daemon = self.start_daemon(self.upstream(), *options, socket=self.name())
                self.assertEqual(connect_as(self.name()), outcome)
                daemon.stop()


if __name__ == "__main__":
    main()
